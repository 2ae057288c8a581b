//! The first part of a run, frame by frame: what moving pictures and trajectories are made of.
//!
//! Samples spread over a long run say nothing about the motion between them. A film begins with every
//! step and drops every second frame whenever it is full, as long as what remains is still smooth to the
//! eye; where that is no longer so, it ends. A short run is filmed to its end, a long one for as long as
//! a few hundred frames can show.

use super::touch::TouchRecord;

/// Most frames that a film keeps, the start not counted; fewer where each holds many numbers.
pub const FRAMES: usize = 600;

/// Largest change of a position between two frames, as a share of the largest range of its kind so far.
const SMOOTH: f64 = 0.1;

/// One picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Frame {
    /// In the columns of the samples.
    pub(crate) row: Vec<f64>,
    /// Contacts that acted in the step that ends here, where they are asked for.
    pub(crate) touches: Vec<TouchRecord>,
}

/// Records a film.
#[derive(Debug)]
pub(crate) struct Camera {
    /// Columns that must look smooth, of each kind: places with places, rotations with rotations.
    watched: Vec<Vec<usize>>,
    /// Most frames that are kept, the start not counted.
    most: usize,
    stride: usize,
    rolling: bool,
    frames: Vec<Frame>,
}

impl Camera {
    pub(crate) fn new(watched: Vec<Vec<usize>>, most: usize) -> Self {
        Self { watched, most, stride: 1, rolling: most > 0, frames: Vec::new() }
    }

    /// Whether step `step` is to be filmed.
    pub(crate) fn wants(&self, step: usize) -> bool {
        self.rolling && step.is_multiple_of(self.stride)
    }

    pub(crate) fn take(&mut self, frame: Frame) {
        self.frames.push(frame);
        if self.frames.len() > 2 * self.most {
            if self.thin() {
                self.stride *= 2;
            } else {
                self.rolling = false;
            }
        }
    }

    /// The film: at most so many frames after the start.
    pub(crate) fn develop(mut self) -> Vec<Frame> {
        if self.frames.len() > self.most + 1 && !self.thin() {
            self.frames.truncate(self.most + 1);
        }
        self.frames
    }

    /// Drops every second frame if the rest is smooth.
    fn thin(&mut self) -> bool {
        let kept = |c: usize| self.frames.iter().step_by(2).map(move |frame| frame.row[c]);
        let range = |&c: &usize| {
            let ends = (f64::INFINITY, f64::NEG_INFINITY);
            let (low, high) = kept(c).fold(ends, |(a, b), x| (a.min(x), b.max(x)));
            high - low
        };
        let smooth = self.watched.iter().all(|kind| {
            let largest = kind.iter().map(range).fold(0.0, f64::max);
            let moves = |c: usize| kept(c).zip(kept(c).skip(1)).map(|(a, b)| (b - a).abs());
            kind.iter().all(|&c| moves(c).all(|d| d <= SMOOTH * largest))
        });
        if smooth {
            let mut index = 0;
            self.frames.retain(|_| {
                index += 1;
                index % 2 == 1
            });
        }
        smooth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn film(steps: usize, rate: f64) -> Vec<Vec<f64>> {
        let mut camera = Camera::new(vec![vec![1]], FRAMES);
        for step in 0..=steps {
            if camera.wants(step) {
                let t = step as f64;
                camera.take(Frame { row: vec![t, (rate * t).sin()], ..Frame::default() });
            }
        }
        camera.develop().into_iter().map(|frame| frame.row).collect()
    }

    #[test]
    fn a_slow_motion_is_filmed_to_its_end_and_a_fast_one_frame_by_frame() {
        let slow = film(100_000, 1e-4);
        assert!(slow.len() <= FRAMES + 1 && slow.len() > FRAMES / 2);
        assert!(slow.last().unwrap()[0] > 99_000.0);
        // 0.15 of the range a frame is as coarse as it may get: the film is of the first 600 steps.
        let fast = film(100_000, 0.15);
        assert_eq!(fast.len(), FRAMES + 1);
        assert!(fast.windows(2).all(|w| w[1][0] - w[0][0] == 1.0));
        assert_eq!(film(10, 1.0).len(), 11);
    }
}

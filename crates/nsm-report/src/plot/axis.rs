//! An axis: its range, its ticks, their labels.

/// Linear or decadic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Linear,
    Log,
    /// From one power of ten to another.
    Decades,
}

/// An axis over the range of its values; on a decadic one, `low` and `high` are exponents.
#[derive(Debug)]
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    scale: Scale,
}

impl Axis {
    /// The axis that holds all values; on a decadic axis, all positive ones.
    pub(super) fn new(values: impl Iterator<Item = f64>, scale: Scale) -> Self {
        let range = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)))
        };
        if scale != Scale::Linear {
            let (low, high) = range(&mut values.filter(|v| *v > 0.0));
            if low > high {
                return Self { low: -1.0, high: 0.0, scale };
            }
            let (a, b) = (low.log10(), high.log10());
            // Short ranges keep their own bounds; long ones end on decades.
            if b - a < 1.5 && scale == Scale::Log {
                let margin = (0.05 * (b - a)).max(0.05);
                return Self { low: a - margin, high: b + margin, scale };
            }
            return Self { low: (a - 0.02).floor(), high: (b + 0.02).ceil(), scale };
        }
        let (low, high) = range(&mut { values });
        if low > high {
            return Self { low: 0.0, high: 1.0, scale };
        }
        // A band narrower than round-off would be stretched to the full height: show it flat.
        let size = low.abs().max(high.abs());
        let flat = high - low <= 1e-9 * size || high == low;
        let margin = match (flat, size == 0.0) {
            (true, true) => 1.0,
            (true, false) => 0.05 * size,
            (false, _) => 0.04 * (high - low),
        };
        Self { low: low - margin, high: high + margin, scale }
    }

    /// How many decades positive values span; 0 if one is not positive.
    pub(super) fn decades(values: impl Iterator<Item = f64>) -> f64 {
        let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(a, b), v| (a.min(v), b.max(v)));
        if low > 0.0 && high > 0.0 { (high / low).log10() } else { 0.0 }
    }

    /// Widens the range about its middle.
    pub(super) fn widen(&mut self, range: f64) {
        let more = 0.5 * (range - self.range()).max(0.0);
        self.low -= more;
        self.high += more;
    }

    pub(super) fn range(&self) -> f64 {
        self.high - self.low
    }

    /// Whether a value can be drawn.
    pub(super) fn shows(&self, v: f64) -> bool {
        v.is_finite() && (self.scale == Scale::Linear || v > 0.0)
    }

    /// Where a value lies between the ends, 0 to 1.
    pub(super) fn share(&self, v: f64) -> f64 {
        let v = if self.scale == Scale::Linear { v } else { v.log10() };
        (v - self.low) / self.range()
    }

    /// Round values inside the range, `most` at the most, with their labels (as SVG text).
    pub(super) fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        if self.scale == Scale::Linear { self.linear(most) } else { self.decadic(most) }
    }

    fn decadic(&self, most: usize) -> Vec<(f64, String)> {
        #[allow(clippy::cast_possible_truncation)] // exponents of f64
        let (a, b) = (self.low.ceil() as i32, self.high.floor() as i32);
        let power =
            |k: i32| (10f64.powi(k), format!("10<tspan dy=\"-5\" font-size=\"9\">{k}</tspan>"));
        if b - a >= 2 || self.scale == Scale::Decades {
            #[allow(clippy::cast_possible_wrap, clippy::cast_possible_truncation)] // a handful
            let every = (b - a + 1).div_euclid(most.max(1) as i32) + 1;
            // Counted from zero, so that panels of one page agree.
            return (a..=b).filter(|k| k.rem_euclid(every) == 0).map(power).collect();
        }
        // Less than two decades: 1, 2 and 5 of each.
        let mut ticks = Vec::new();
        for k in a - 1..=b {
            for m in [1.0, 2.0, 5.0] {
                let v = m * 10f64.powi(k);
                if (self.low..=self.high).contains(&v.log10()) {
                    ticks.push((v, short(v)));
                }
            }
        }
        ticks
    }

    fn linear(&self, most: usize) -> Vec<(f64, String)> {
        let step = nice(self.range() / most.max(1) as f64);
        let (first, last) = ((self.low / step).ceil(), (self.high / step).floor());
        let size = self.low.abs().max(self.high.abs());
        // Large and tiny values share a factor that every label repeats.
        let exponent = if (1e-3..1e6).contains(&size) { 0.0 } else { size.log10().floor() };
        let decimals = (exponent - step.log10().floor() + if has_half(step) { 1.0 } else { 0.0 })
            .clamp(0.0, 12.0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a handful; clamped
        let (count, decimals) = ((last - first).max(0.0) as usize, decimals as usize);
        let label = |v: f64| {
            let text = format!("{:.decimals$}", v / 10f64.powf(exponent));
            if text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.') {
                "0".to_owned()
            } else if exponent == 0.0 {
                text.replace('-', "−")
            } else {
                format!("{text}e{exponent}").replace('-', "−")
            }
        };
        (0..=count).map(|i| (first + i as f64) * step).map(|v| (v, label(v))).collect()
    }
}

/// The smallest of 1, 2, 2.5, 5 times a power of ten that is not much below `raw`.
fn nice(raw: f64) -> f64 {
    let power = 10f64.powf(raw.log10().floor());
    let m = [1.0, 2.0, 2.5, 5.0].into_iter().find(|m| m * power >= 0.85 * raw);
    m.unwrap_or(10.0) * power
}

/// Whether a step of [`nice`] is 2.5 times a power of ten, which takes one digit more.
fn has_half(step: f64) -> bool {
    let m = step / 10f64.powf(step.log10().floor());
    (m - 2.5).abs() < 1e-9
}

/// A number in as few characters as say it.
fn short(v: f64) -> String {
    if (1e-3..1e5).contains(&v) { format!("{v}") } else { format!("{v:.0e}").replace('-', "−") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: [f64; 2], scale: Scale) -> Vec<String> {
        Axis::new(values.into_iter(), scale).ticks(6).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(labels([0.0, 1000.0], Scale::Linear), ["0", "200", "400", "600", "800", "1000"]);
        assert_eq!(
            labels([125.32, 128.44], Scale::Linear),
            ["125.5", "126.0", "126.5", "127.0", "127.5", "128.0", "128.5"]
        );
        assert_eq!(
            labels([0.0, 0.1], Scale::Linear),
            ["0", "0.02", "0.04", "0.06", "0.08", "0.10"]
        );
        assert_eq!(
            labels([-1.0, 0.4], Scale::Linear),
            ["−1.00", "−0.75", "−0.50", "−0.25", "0", "0.25"]
        );
        assert_eq!(labels([0.0, 1e5], Scale::Linear)[1], "20000");
        assert_eq!(labels([0.0, 4e6], Scale::Linear)[1], "1e6");
        assert_eq!(labels([-3e-14, 5e-14], Scale::Linear)[0], "−2e−14");
        assert_eq!(labels([7.0, 7.0], Scale::Linear).len(), 7);
        assert_eq!(labels([0.0, 0.0], Scale::Linear), ["−1.0", "−0.5", "0", "0.5", "1.0"]);
    }

    #[test]
    fn decades_are_labelled_once() {
        let long = labels([1e-15, 2e-3], Scale::Log);
        assert!(long.len() >= 4 && long.iter().all(|t| t.starts_with("10<tspan")), "{long:?}");
        assert_eq!(labels([0.01, 0.08], Scale::Log), ["0.01", "0.02", "0.05"]);
        assert!(Axis::new([0.0, 1.0].into_iter(), Scale::Log).share(1.0).is_finite());
        assert!(Axis::decades([1e-3, 10.0].into_iter()) > 3.9);
        assert!(Axis::decades([0.0, 10.0].into_iter()) == 0.0);
    }
}

//! Line plots as SVG that take their colours from the page, so that they follow its dark mode.

use std::fmt::Write;

use nsm_bench::Curve;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
/// Left, right, top and bottom margins.
const MARGIN: [f64; 4] = [74.0, 14.0, 12.0, 44.0];
/// Colour-blind safe (Okabe and Ito).
const COLOURS: [&str; 7] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999933"];

/// One panel: curves with the same labels.
pub(crate) fn panel(curves: &[&Curve]) -> Option<String> {
    let points =
        || curves.iter().flat_map(|c| &c.points).filter(|p| p[0].is_finite() && p[1].is_finite());
    let first = curves.first()?;
    points().next()?;
    let x = Axis::new(points().map(|p| p[0]), false);
    let y = Axis::new(points().map(|p| p[1]), false);
    // Positive quantities over many decades read better on a logarithmic axis.
    let y = if y.decades() > 3.5 { Axis::new(points().map(|p| p[1]), true) } else { y };
    let [left, right, top, bottom] = MARGIN;
    let px = |v: f64| left + x.share(v) * (WIDTH - left - right);
    let py = |v: f64| HEIGHT - bottom - y.share(v) * (HEIGHT - top - bottom);
    let legend_rows = if curves.len() > 1 { curves.len().div_ceil(3) } else { 0 };
    let full = HEIGHT + 18.0 * legend_rows as f64;
    let mut svg = format!(
        r#"<svg class="plot" viewBox="0 0 {WIDTH} {full}" role="img" aria-label="{} against {}">"#,
        escape(&first.y),
        escape(&first.x)
    );
    for tick in x.ticks() {
        let at = px(tick);
        let _ = write!(
            svg,
            r#"<line class="grid" x1="{at:.1}" x2="{at:.1}" y1="{top}" y2="{:.1}"/><text x="{at:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
            HEIGHT - bottom,
            HEIGHT - bottom + 16.0,
            x.label(tick)
        );
    }
    for tick in y.ticks() {
        let at = py(tick);
        let _ = write!(
            svg,
            r#"<line class="grid" x1="{left}" x2="{:.1}" y1="{at:.1}" y2="{at:.1}"/><text x="{:.1}" y="{:.1}" text-anchor="end">{}</text>"#,
            WIDTH - right,
            left - 6.0,
            at + 4.0,
            y.label(tick)
        );
    }
    let _ = write!(
        svg,
        r#"<text x="{:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
        (left + WIDTH - right) / 2.0,
        HEIGHT - 6.0,
        escape(&first.x)
    );
    let _ = write!(
        svg,
        r#"<text transform="translate(13 {:.1}) rotate(-90)" text-anchor="middle">{}</text>"#,
        (top + HEIGHT - bottom) / 2.0,
        escape(&first.y)
    );
    for (i, curve) in curves.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let mut path = String::new();
        let mut pen_down = false;
        for p in &curve.points {
            let drawable = p[0].is_finite() && p[1].is_finite() && (!y.log || p[1] > 0.0);
            if drawable {
                let _ = write!(
                    path,
                    "{}{:.2} {:.2}",
                    if pen_down { "L" } else { "M" },
                    px(p[0]),
                    py(p[1])
                );
            }
            pen_down = drawable;
        }
        let _ = write!(
            svg,
            r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.5" stroke-linejoin="round"/>"#
        );
        if curve.points.len() <= 12 {
            for p in curve
                .points
                .iter()
                .filter(|p| p[0].is_finite() && p[1].is_finite() && (!y.log || p[1] > 0.0))
            {
                let _ = write!(
                    svg,
                    r#"<circle cx="{:.2}" cy="{:.2}" r="3" fill="{colour}"/>"#,
                    px(p[0]),
                    py(p[1])
                );
            }
        }
        if curves.len() > 1 {
            let (row, column) = (i / 3, i % 3);
            let at = (left - 40.0 + 185.0 * column as f64, HEIGHT + 12.0 + 18.0 * row as f64);
            let _ = write!(
                svg,
                r#"<rect x="{:.1}" y="{:.1}" width="14" height="3" fill="{colour}"/><text x="{:.1}" y="{:.1}">{}</text>"#,
                at.0,
                at.1 - 5.0,
                at.0 + 19.0,
                at.1,
                escape(&shortened(&curve.name))
            );
        }
    }
    svg.push_str("</svg>");
    Some(svg)
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= 24 {
        name.to_owned()
    } else {
        name.chars().take(23).chain(['…']).collect()
    }
}

/// A linear or decadic axis over the range of its values.
struct Axis {
    low: f64,
    high: f64,
    log: bool,
    /// Smallest positive and largest value.
    positive: Option<(f64, f64)>,
}

impl Axis {
    fn new(values: impl Iterator<Item = f64>, log: bool) -> Self {
        let (mut low, mut high, mut least) = (f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY);
        for v in values {
            low = low.min(v);
            high = high.max(v);
            if v > 0.0 {
                least = least.min(v);
            }
        }
        let positive = (low > 0.0).then_some((least, high));
        if log {
            let (a, b) = (least.log10().floor(), high.log10().ceil());
            return Self { low: a, high: if b > a { b } else { a + 1.0 }, log, positive };
        }
        // A band narrower than round-off would be stretched to the full height: show it flat.
        let size = low.abs().max(high.abs());
        let flat = high - low <= 1e-9 * size || high == low;
        let margin = if flat { (0.05 * size).max(1e-12) } else { 0.04 * (high - low) };
        Self { low: low - margin, high: high + margin, log, positive }
    }

    fn decades(&self) -> f64 {
        self.positive.map_or(0.0, |(a, b)| (b / a).log10())
    }

    fn share(&self, v: f64) -> f64 {
        let v = if self.log { v.log10() } else { v };
        (v - self.low) / (self.high - self.low)
    }

    fn ticks(&self) -> Vec<f64> {
        if self.log {
            #[allow(clippy::cast_possible_truncation)] // decades of f64
            let (a, b) = (self.low as i32, self.high as i32);
            let every = ((b - a) / 8).max(1);
            return (a..=b).filter(|k| (k - a) % every == 0).map(|k| 10f64.powi(k)).collect();
        }
        let step = self.step();
        let first = (self.low / step).ceil();
        let last = (self.high / step).floor();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a handful
        (0..=(last - first).max(0.0) as usize).map(|i| (first + i as f64) * step).collect()
    }

    /// A round step that gives about five ticks.
    fn step(&self) -> f64 {
        let raw = (self.high - self.low) / 5.0;
        let power = 10f64.powf(raw.log10().floor());
        let nice = [1.0, 2.0, 5.0, 10.0].into_iter().find(|m| m * power >= raw).unwrap_or(10.0);
        nice * power
    }

    fn label(&self, tick: f64) -> String {
        if self.log {
            return format!("10<tspan dy=\"-5\" font-size=\"9\">{:.0}</tspan>", tick.log10());
        }
        let size = self.low.abs().max(self.high.abs());
        if !(1e-3..1e5).contains(&size) {
            return format!("{tick:.1e}");
        }
        let decimals = (-self.step().log10().floor()).clamp(0.0, 9.0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped
        let text = format!("{tick:.*}", decimals as usize);
        if text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.') {
            "0".into()
        } else {
            text
        }
    }
}

/// Text for HTML and SVG.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[[f64; 2]]) -> Curve {
        Curve { name: "a<b".into(), x: "t".into(), y: "E".into(), points: points.to_vec() }
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let axis = Axis::new([0.0, 1000.0].into_iter(), false);
        assert_eq!(axis.ticks(), [0.0, 500.0, 1000.0]);
        let axis = Axis::new([125.32, 128.44].into_iter(), false);
        assert_eq!(
            axis.ticks().iter().map(|t| axis.label(*t)).collect::<Vec<_>>(),
            ["126", "127", "128"]
        );
        let axis = Axis::new([1e-15, 2e-3].into_iter(), true);
        assert!(axis.ticks().len() >= 5 && axis.label(1e-3).contains("-3"));
    }

    #[test]
    fn gaps_in_the_data_lift_the_pen_and_names_are_escaped() {
        let a = curve(&[[0.0, 1.0], [1.0, f64::NAN], [2.0, 3.0]]);
        let b = curve(&[[0.0, 2.0]]);
        let svg = panel(&[&a, &b]).unwrap();
        assert_eq!(svg.matches('M').count(), 3);
        assert!(svg.contains("a&lt;b") && !svg.contains("NaN"));
        assert!(panel(&[&curve(&[])]).is_none());
    }
}

//! Line plots as SVG that take their colours from the page, so that they follow its dark mode.

mod axis;
mod path;
pub mod runs;

use std::fmt::Write;

use nsm_problem::{Axes, Curve};

use axis::{Axis, Scale};

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
/// Least and largest height of a trajectory, which has the shape of its data.
const TO_SCALE: [f64; 2] = [200.0, 440.0];
/// Right, top and bottom margins; the left one holds the labels.
const MARGIN: [f64; 3] = [16.0, 12.0, 44.0];
/// Width of a letter, about.
const LETTER: f64 = 7.4;
/// Height of a line of the legend.
const LINE: f64 = 18.0;
/// Colour-blind safe (Okabe and Ito).
pub const COLOURS: [&str; 7] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999933"];

/// Curves with the same labels share a panel, in the order of their first appearance.
pub fn panels(curves: &[Curve], axes: &[((String, String), Axes)]) -> Vec<String> {
    let mut groups: Vec<Vec<&Curve>> = Vec::new();
    for curve in curves {
        match groups.iter_mut().find(|g| g[0].x == curve.x && g[0].y == curve.y) {
            Some(group) => group.push(curve),
            None => groups.push(vec![curve]),
        }
    }
    groups
        .iter()
        .filter_map(|group| {
            let labels =
                |((x, y), _): &&((String, String), Axes)| *x == group[0].x && *y == group[0].y;
            // A path in the plane is drawn to scale unless it is said otherwise.
            let is = |label: &str, axis: &str| label.split([' ', '[']).next() == Some(axis);
            let plane = is(&group[0].x, "x") && is(&group[0].y, "y");
            let default = if plane { Axes::Equal } else { Axes::Auto };
            panel(group, axes.iter().find(labels).map_or(default, |(_, kind)| *kind))
        })
        .collect()
}

/// One panel: curves with the same labels. Nothing if no point can be drawn.
pub fn panel(curves: &[&Curve], axes: Axes) -> Option<String> {
    let points =
        || curves.iter().flat_map(|c| &c.points).filter(|p| p[0].is_finite() && p[1].is_finite());
    let first = curves.first()?;
    points().next()?;
    let [right, top, bottom] = MARGIN;
    let log_y = match axes {
        Axes::Logarithmic | Axes::DoubleLogarithmic => true,
        // Positive quantities over many decades read better on a logarithmic axis.
        Axes::Auto => Axis::decades(points().map(|p| p[1])) > 3.5,
        Axes::Linear | Axes::Equal => false,
    };
    let x_scale = if axes == Axes::DoubleLogarithmic { Scale::Log } else { Scale::Linear };
    let y_scale = if log_y { Scale::Decades } else { Scale::Linear };
    let mut x = Axis::new(points().map(|p| p[0]), x_scale);
    let mut y = Axis::new(points().map(|p| p[1]), y_scale);
    let most = if axes == Axes::Equal { 8 } else { 6 };
    let longest = y.ticks(most).iter().map(|(_, label)| letters(label)).max().unwrap_or(0);
    let left = (LETTER * longest as f64 + 34.0).max(58.0);
    let wide = WIDTH - left - right;
    let height = if axes == Axes::Equal {
        (wide * y.range() / x.range() + top + bottom).clamp(TO_SCALE[0], TO_SCALE[1]).round()
    } else {
        HEIGHT
    };
    let high = height - top - bottom;
    if axes == Axes::Equal {
        let unit = (x.range() / wide).max(y.range() / high);
        x.widen(unit * wide);
        y.widen(unit * high);
    }
    let px = |v: f64| left + x.share(v) * wide;
    let py = |v: f64| top + high - y.share(v) * high;
    let legend = legend(curves);
    let rows = legend.last().map_or(0.0, |(row, ..)| row + 1.0);
    let mut svg = format!(
        r#"<svg class="plot" viewBox="0 0 {WIDTH} {:.0}" role="img" aria-label="{} against {}">"#,
        height + LINE * rows,
        escape(&first.y),
        escape(&first.x)
    );
    for (tick, label) in x.ticks(7) {
        let at = px(tick);
        let _ = write!(
            svg,
            r#"<path class="grid" d="M{at:.1} {top}v{high}"/><text x="{at:.1}" y="{:.1}" text-anchor="middle">{label}</text>"#,
            top + high + 16.0,
        );
    }
    for (tick, label) in y.ticks(most) {
        let at = py(tick);
        let _ = write!(
            svg,
            r#"<path class="grid" d="M{left} {at:.1}h{wide}"/><text x="{:.1}" y="{:.1}" text-anchor="end">{label}</text>"#,
            left - 6.0,
            at + 4.0,
        );
    }
    let _ = write!(
        svg,
        r#"<text x="{:.1}" y="{:.1}" text-anchor="middle">{}</text><text transform="translate(14 {:.1}) rotate(-90)" text-anchor="middle">{}</text>"#,
        left + wide / 2.0,
        height - 8.0,
        escape(&first.x),
        top + high / 2.0,
        escape(&first.y)
    );
    for (i, curve) in curves.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let drawn = |p: &[f64; 2]| (x.shows(p[0]) && y.shows(p[1])).then(|| [px(p[0]), py(p[1])]);
        let dots = curve.points.len() <= 12;
        // Later curves are thinner, so that one that lies on another does not hide it.
        let width = if curves.len() > 1 { (2.4 - 0.5 * i as f64).max(1.2) } else { 1.5 };
        let _ = write!(
            svg,
            r#"<path d="{}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"/>"#,
            path::path(curve.points.iter().map(drawn))
        );
        for [cx, cy] in curve.points.iter().filter(|_| dots).filter_map(drawn) {
            let _ = write!(svg, r#"<circle cx="{cx:.1}" cy="{cy:.1}" r="3" fill="{colour}"/>"#);
        }
    }
    for (i, (row, at, name)) in legend.iter().enumerate() {
        let base = height + 12.0 + LINE * row;
        let _ = write!(
            svg,
            r#"<rect x="{at:.1}" y="{:.1}" width="14" height="3" fill="{}"/><text x="{:.1}" y="{base:.1}">{}</text>"#,
            base - 5.0,
            COLOURS[i % COLOURS.len()],
            at + 19.0,
            escape(name)
        );
    }
    svg.push_str("</svg>");
    Some(svg)
}

/// Letters of a label, without its markup.
fn letters(label: &str) -> usize {
    let mut inside = false;
    let mut visible = |c: char| {
        inside = inside && c != '>' || c == '<';
        !inside && c != '>'
    };
    label.chars().filter(|c| visible(*c)).count()
}

/// Row, place and text of each entry; none for a single curve.
fn legend(curves: &[&Curve]) -> Vec<(f64, f64, String)> {
    if curves.len() < 2 {
        return Vec::new();
    }
    let (start, mut row, mut at) = (36.0, 0.0, 36.0);
    curves
        .iter()
        .map(|curve| {
            let name = shortened(&curve.name);
            // The text, the swatch, and room before the next.
            let width = LETTER * name.chars().count() as f64 + 36.0;
            if at > start && at + width > WIDTH {
                row += 1.0;
                at = start;
            }
            let place = (row, at, name);
            at += width;
            place
        })
        .collect()
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= 40 {
        name.to_owned()
    } else {
        name.chars().take(39).chain(['…']).collect()
    }
}

/// A panel as a file of its own, with its colours for light and dark.
pub fn standalone(svg: &str) -> String {
    svg.replacen(
        "<svg ",
        concat!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" "#,
            r#"style="background:var(--paper)" "#
        ),
        1,
    )
    .replacen(
        '>',
        "><style>\
         svg{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--line:#d0d7de}\
         @media (prefers-color-scheme:dark){svg{--ink:#e6edf3;--paper:#0d1117;--line:#30363d}}\
         text{fill:var(--ink);font:12px system-ui,sans-serif}\
         .grid{stroke:var(--line);stroke-width:1;fill:none}\
         </style>",
        1,
    ) + "\n"
}

/// Numbers whose exponents are not torn off at the end of a line.
pub fn unbroken(text: &str) -> String {
    text.replace("e-", "e\u{2011}")
}

/// Text for HTML and SVG.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(name: &str, points: &[[f64; 2]]) -> Curve {
        Curve { name: name.into(), x: "t".into(), y: "E".into(), points: points.to_vec() }
    }

    #[test]
    fn gaps_in_the_data_lift_the_pen_and_names_are_escaped() {
        let a = curve("a<b", &[[0.0, 1.0], [1.0, f64::NAN], [2.0, 3.0]]);
        let b = curve("c", &[[0.0, 2.0]]);
        let svg = panel(&[&a, &b], Axes::Auto).unwrap();
        let curves = svg.split("<path d=").skip(1).map(|p| p.split('/').next().unwrap());
        assert_eq!(curves.map(|p| p.matches('M').count()).sum::<usize>(), 3);
        assert!(svg.contains("a&lt;b") && !svg.contains("NaN"));
        assert!(panel(&[&curve("", &[])], Axes::Auto).is_none());
    }

    #[test]
    fn panels_join_curves_with_the_same_labels_and_files_stand_alone() {
        let curves = [curve("a", &[[0.0, 1.0], [1.0, 2.0]]), curve("b", &[[0.0, 1.0], [1.0, 3.0]])];
        let panels = panels(&curves, &[(("t".into(), "E".into()), Axes::Equal)]);
        assert_eq!(panels.len(), 1);
        // Twice as high as wide: the largest height and one line of legend.
        assert!(panels[0].contains("viewBox=\"0 0 560 458\""), "{}", &panels[0][..80]);
        let file = standalone(&panels[0]);
        assert!(file.starts_with("<svg xmlns=") && file.contains("prefers-color-scheme"));
    }

    #[test]
    fn markup_takes_no_room() {
        assert_eq!(letters("10<tspan dy=\"-5\">-3</tspan>"), 4);
        assert_eq!(letters("−0.25"), 5);
    }

    #[test]
    fn long_legends_take_several_rows() {
        let curves: Vec<Curve> =
            (0..6).map(|i| curve(&format!("a rather long name {i}"), &[[0.0, 1.0]])).collect();
        let legend = legend(&curves.iter().collect::<Vec<_>>());
        assert_eq!(legend.last().unwrap().0, 2.0);
        assert!(legend.iter().all(|(_, at, name)| at + LETTER * name.len() as f64 <= WIDTH));
    }
}

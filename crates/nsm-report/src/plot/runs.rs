//! The plots of runs: energy and invariants, coordinates, trajectories, gaps, what joints carry, residuals.
//!
//! Energy, invariants and residuals are drawn over the whole run, from the samples; coordinates,
//! trajectories and gaps from the film, because samples of a long run lie too far apart.

use nsm_problem::{Axes, Curve, Dimension, Recording, RunResult, Subject, Units, WIDE};

/// A kind of plot: the name of its file and its curves.
pub struct Plot {
    /// What its file is named after.
    pub name: String,
    /// How it is drawn.
    pub axes: Axes,
    /// What is drawn.
    pub curves: Vec<Curve>,
}

/// Most coordinates in one panel.
const CROWD: usize = 7;

/// Most members of a family in a plot, and the number of curves beyond which there are fewer.
const DRAWN: [usize; 2] = [5, 9];
/// Most members of a family that are filmed.
pub const FILMED: usize = 2;

/// The runs that are shown: all, but of large families only some members, evenly spread.
pub fn shown(results: &[RunResult], most: usize) -> Vec<&RunResult> {
    let family = |a: &RunResult, b: &RunResult| a.family.is_some() && a.family == b.family;
    let some = |group: &[RunResult]| -> Vec<usize> {
        let n = group.len();
        if n <= most {
            (0..n).collect()
        } else {
            (0..most).map(|k| k * (n - 1) / (most - 1)).collect()
        }
    };
    let groups = results.chunk_by(family);
    groups.flat_map(|group| some(group).into_iter().map(|k| &group[k])).collect()
}

/// The runs that are drawn over each other.
pub fn drawn(results: &[RunResult]) -> Vec<&RunResult> {
    let [members, curves] = DRAWN;
    let some = shown(results, members);
    if some.len() > curves { shown(results, FILMED) } else { some }
}

/// The plots of one run, or of several runs of one problem, overlaid.
pub fn plots(subject: &Subject, units: &Units, results: &[&RunResult]) -> Vec<Plot> {
    let axes = Labels { subject, units };
    let mut plots = vec![conserved("energy", "E", &axes, results)];
    let Some(first) = results.first() else { return Vec::new() };
    plots.extend(trajectories(&first.recording.columns, &axes, results));
    plots.extend(coordinates(&axes, results));
    plots.push(gaps(&axes, results));
    plots.extend(reactions(&axes, results));
    for (name, _) in &first.ledger.invariants {
        plots.push(conserved(&file_name(name), name, &axes, results));
    }
    plots.extend(residuals(&axes, results));
    plots.retain(|plot| plot.curves.iter().any(|c| c.points.len() > 1));
    // What never moves is a line of the table, and no picture; the energy is looked for.
    let moves = |plot: &Plot| {
        let values = || plot.curves.iter().flat_map(|c| &c.points).map(|p| p[1]);
        plot.name == "energy" || values().zip(values().skip(1)).any(|(a, b)| a != b)
    };
    plots.retain(moves);
    plots
}

/// Labels of axes, with the units that the file gives them.
struct Labels<'a> {
    subject: &'a Subject,
    units: &'a Units,
}

impl Labels<'_> {
    fn of(&self, label: &str, dimension: Dimension) -> String {
        self.units.axis(label, label, dimension)
    }

    fn time(&self) -> String {
        self.of("t", Dimension::Time)
    }

    /// Coordinates named after axes are places; what others are only the file can tell.
    fn coordinate(&self, name: &str) -> String {
        let place = ['x', 'y', 'z'].iter().any(|&axis| is_along(name, axis));
        self.of(name, if place { Dimension::Length } else { Dimension::Unknown })
    }

    /// The momenta of bodies are known; what a formula tracks only the file can tell.
    fn invariant(&self, label: &str, name: &str) -> String {
        let bodies = !matches!(self.subject, Subject::Coordinates { .. });
        let dimension = match name {
            "E" => Dimension::Energy,
            "px" | "py" | "pz" if bodies => Dimension::Momentum,
            "Lx" | "Ly" | "Lz" if bodies => Dimension::AngularMomentum,
            _ => Dimension::Unknown,
        };
        self.units.axis(label, name, dimension)
    }

    /// Gaps are lengths, but for stops of hinges and for those to which the file gives other units.
    fn gaps(&self, label: &str, names: &[&str]) -> String {
        let mut labels = names.iter().map(|name| self.units.axis(label, name, Dimension::Length));
        let first = labels.next().unwrap_or_else(|| label.to_owned());
        if labels.all(|other| other == first) { first } else { label.to_owned() }
    }
}

/// A quantity that should stay what it is: itself, or its change where that is small.
fn conserved(file: &str, column: &str, axes: &Labels<'_>, results: &[&RunResult]) -> Plot {
    let bands = results.iter().filter_map(|r| {
        if column == "E" { Some(&r.ledger.energy) } else { r.ledger.invariant(column) }
    });
    let tiny = bands.clone().count() > 0
        && bands.into_iter().all(|b| b.deviation() <= 1e-5 * b.start.abs().max(1e-12));
    let label = match (column, tiny) {
        ("E", false) => "energy".to_owned(),
        ("E", true) => "change of energy".to_owned(),
        (name, false) => name.to_owned(),
        (name, true) => format!("change of {name}"),
    };
    let label = axes.invariant(&label, column);
    let curve = |r: &&RunResult| {
        let values = r.recording.column(column)?;
        let zero = if tiny { *values.first()? } else { 0.0 };
        let points = pairs(&r.recording.column("t")?, values.iter().map(|v| v - zero));
        Some(Curve { name: r.name.clone(), x: axes.time(), y: label.clone(), points })
    };
    Plot {
        name: file.into(),
        axes: Axes::Linear,
        curves: results.iter().filter_map(curve).collect(),
    }
}

/// What joints carry against time: the sizes of their forces and of their torques, and what motors, rods and stops carry, a panel each.
fn reactions(axes: &Labels<'_>, results: &[&RunResult]) -> Vec<Plot> {
    let mut plots: Vec<Plot> = ["forces", "torques", "carried"]
        .map(|name| Plot { name: name.into(), axes: Axes::Linear, curves: Vec::new() })
        .into();
    for r in results {
        let (heads, rows) = (&r.recording.reaction_columns, &r.recording.reactions);
        let named = |name: &str| {
            if results.len() == 1 { name.to_owned() } else { format!("{name}, {}", r.name) }
        };
        for (k, head) in heads.iter().enumerate().skip(1) {
            let (kind, name, size) = match (head.strip_suffix(".Fn"), head.strip_suffix(".Tn")) {
                (Some(name), _) => (0, name, 3),
                (_, Some(name)) => (1, name, 3),
                _ if [".Fa", ".Fb", ".Ta", ".Tb"].iter().any(|end| head.ends_with(end)) => continue,
                _ => (2, head.as_str(), 1),
            };
            let label = match kind {
                0 => axes.of("force of joints", Dimension::Force),
                1 => axes.of("torque of joints", Dimension::Torque),
                _ => axes.of("carried by motors, rods and stops", Dimension::Unknown),
            };
            let value = |row: &Vec<f64>| {
                let part = &row[k..k + size];
                if size == 1 { part[0] } else { part.iter().map(|x| x * x).sum::<f64>().sqrt() }
            };
            let points: Vec<[f64; 2]> = rows.iter().map(|row| [row[0], value(row)]).collect();
            if plots[kind].curves.len() < CROWD {
                let (name, x) = (named(name), axes.time());
                plots[kind].curves.push(Curve { name, x, y: label, points });
            }
        }
    }
    plots
}

/// Coordinates against time: together for one run, each in its panel for several; none of hundreds of bodies, which nobody could read.
fn coordinates(axes: &Labels<'_>, results: &[&RunResult]) -> Vec<Plot> {
    let Some(first) = results.first() else { return Vec::new() };
    if first.recording.state_columns.len() > WIDE {
        return Vec::new();
    }
    let names: Vec<String> = if let Subject::Coordinates { system, .. } = axes.subject {
        system.names().to_vec()
    } else {
        places(&first.recording.columns).concat()
    };
    let curve = |r: &RunResult, column: &str, name: &str, label: &str| {
        let points = pairs(&r.recording.filmed("t")?, r.recording.filmed(column)?);
        Some(Curve { name: name.into(), x: axes.time(), y: label.into(), points })
    };
    if results.len() == 1 {
        // What has the same unit shares a panel.
        let unit = |name: &String| axes.coordinate(name)[name.len()..].to_owned();
        let alike = names.chunk_by(|a, b| unit(a) == unit(b));
        let crowds = alike.flat_map(|some| some.chunks(CROWD)).enumerate();
        return crowds
            .map(|(i, crowd)| Plot {
                name: if i == 0 { "coordinates".into() } else { format!("coordinates-{}", i + 1) },
                axes: Axes::Linear,
                curves: crowd
                    .iter()
                    .filter_map(|n| curve(first, n, n, &(crowd.join(", ") + &unit(&crowd[0]))))
                    .collect(),
            })
            .collect();
    }
    let panel = |name: &String| Plot {
        name: file_name(name),
        axes: Axes::Linear,
        curves: results
            .iter()
            .filter_map(|r| curve(r, name, &r.name, &axes.coordinate(name)))
            .collect(),
    };
    names.iter().take(CROWD).map(panel).collect()
}

/// Columns that are places, such as `x1`, `y1` or `body_x`, `body_y`, `body_z`, together.
fn places(columns: &[String]) -> Vec<Vec<String>> {
    let named = |first: &str, to: char| {
        let other = swap_axis(first, to)?;
        columns.contains(&other).then_some(other)
    };
    columns
        .iter()
        .filter(|c| swap_axis(c, 'x').as_ref() == Some(*c))
        .filter(|c| !c.starts_with("v_") && !c.starts_with("p_"))
        .map(|x| std::iter::once(x.clone()).chain(named(x, 'y')).chain(named(x, 'z')).collect())
        .collect()
}

/// Whether a name is that of a place along an axis: `y`, `y1`, `ball_y`, `rod.y`.
fn is_along(name: &str, axis: char) -> bool {
    let x = if axis == 'x' { Some(name.to_owned()) } else { along_x(name, axis) };
    x.and_then(|x| swap_axis(&x, axis)).is_some_and(|back| back == name)
}

/// The name along x of a name along another axis.
fn along_x(name: &str, axis: char) -> Option<String> {
    let rest = name.strip_suffix(axis).filter(|stem| stem.ends_with(['_', '.']));
    if let Some(stem) = rest {
        return Some(format!("{stem}x"));
    }
    name.strip_prefix(axis).map(|rest| format!("x{rest}"))
}

/// `x1` → `y1`, `ball_x` → `ball_y`, `rod.x` → `rod.y`: the name along another axis.
fn swap_axis(name: &str, to: char) -> Option<String> {
    // Inner nodes of beams are too many to be told apart in a plot.
    let body =
        name.strip_suffix("_x").or_else(|| name.strip_suffix(".x").filter(|b| !b.ends_with(']')));
    if let Some(stem) = body {
        return Some(format!("{stem}{}{to}", &name[stem.len()..=stem.len()]));
    }
    name.strip_prefix('x')
        .filter(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '_'))
        .map(|rest| format!("{to}{rest}"))
}

/// Paths in the plane: (x, y), and (x, z) where there is a height.
fn trajectories(columns: &[String], axes: &Labels<'_>, results: &[&RunResult]) -> Vec<Plot> {
    if results.iter().any(|r| r.recording.state_columns.len() > WIDE) {
        return Vec::new();
    }
    let path = |r: &RunResult, [x, y]: [&str; 2], labels: [&str; 2], name: &str| {
        let points = pairs(&r.recording.filmed(x)?, r.recording.filmed(y)?);
        let [x, y] = labels.map(|label| axes.of(label, Dimension::Length));
        Some(Curve { name: name.into(), x, y, points })
    };
    let places = places(columns);
    let mut plots = Vec::new();
    for (pick, name) in [(1, "trajectory"), (2, "trajectory-xz")] {
        let pairs: Vec<[&str; 2]> = places
            .iter()
            .filter_map(|place| Some([place[0].as_str(), place.get(pick)?.as_str()]))
            .collect();
        let labels = match pairs[..] {
            [] => continue,
            [pair] => pair,
            _ => ["x", ["y", "z"][pick - 1]],
        };
        let several = pairs.len() > 1;
        let curves = results.iter().flat_map(|r| {
            pairs.iter().filter_map(move |pair| {
                let legend = match (results.len() > 1, several) {
                    (true, true) => format!("{}: {}, {}", r.name, pair[0], pair[1]),
                    (true, false) => r.name.clone(),
                    _ => format!("{}, {}", pair[0], pair[1]),
                };
                path(r, *pair, labels, &legend)
            })
        });
        let curves: Vec<Curve> = curves.collect();
        if curves.len() <= 2 * CROWD {
            plots.push(Plot { name: name.into(), axes: Axes::Equal, curves });
        }
    }
    plots
}

/// The gaps of one run, or the smallest gap of each of several.
fn gaps(axes: &Labels<'_>, results: &[&RunResult]) -> Plot {
    let mut curves = Vec::new();
    for r in results {
        let recording = &r.recording;
        let gaps: Vec<&String> =
            recording.columns.iter().filter(|c| c.starts_with("gap_")).collect();
        let Some(t) = recording.filmed("t") else { continue };
        let names: Vec<&str> = gaps.iter().map(|gap| gap.trim_start_matches("gap_")).collect();
        if results.len() == 1 && gaps.len() <= CROWD {
            for (gap, name) in gaps.iter().zip(&names) {
                let points = pairs(&t, recording.filmed(gap).unwrap_or_default());
                let (name, y) = ((*name).to_owned(), axes.gaps("gap", &names));
                curves.push(Curve { name, x: axes.time(), y, points });
            }
        } else if !gaps.is_empty() {
            let smallest = smallest(recording, &gaps);
            let points = pairs(&t, smallest);
            curves.push(Curve {
                name: r.name.clone(),
                x: axes.time(),
                y: axes.gaps("smallest gap", &names),
                points,
            });
        }
    }
    Plot { name: "gaps".into(), axes: Axes::Linear, curves }
}

fn smallest(recording: &Recording, gaps: &[&String]) -> Vec<f64> {
    let columns: Vec<Vec<f64>> = gaps.iter().filter_map(|g| recording.filmed(g)).collect();
    (0..recording.film.len())
        .map(|i| columns.iter().map(|c| c[i]).fold(f64::INFINITY, f64::min))
        .collect()
}

/// Residuals of the constraints on a logarithmic axis; nothing where there are none.
fn residuals(axes: &Labels<'_>, results: &[&RunResult]) -> Vec<Plot> {
    let levels = [("residual_position", "position"), ("residual_velocity", "velocity")];
    let curve = |r: &RunResult, column: &str, name: String, label: &str| {
        let values = r.recording.column(column)?;
        if values.iter().all(|v| *v == 0.0) {
            return None;
        }
        let points = pairs(&r.recording.column("t")?, values);
        let y = axes.of(label, Dimension::Unknown);
        Some(Curve { name, x: axes.time(), y, points })
    };
    let one = |curves: Vec<Curve>, name: &str| Plot {
        name: name.into(),
        axes: Axes::Logarithmic,
        curves,
    };
    if let [r] = results {
        let level =
            |(column, level): (&str, &str)| curve(r, column, level.into(), "constraint residual");
        return vec![one(levels.into_iter().filter_map(level).collect(), "residuals")];
    }
    let panel = |(column, level): (&str, &str)| {
        let label = format!("constraint residual, {level}");
        let curves = results.iter().filter_map(|r| curve(r, column, r.name.clone(), &label));
        one(curves.collect(), &format!("residuals-{level}"))
    };
    levels.map(panel).into()
}

fn pairs(t: &[f64], values: impl IntoIterator<Item = f64>) -> Vec<[f64; 2]> {
    t.iter().zip(values).map(|(&t, v)| [t, v]).collect()
}

/// What can name a file.
fn file_name(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '-' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_by_their_names() {
        let columns = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let found = places(&columns(&["t", "x1", "y1", "x2", "y2", "v_x1", "p_x1", "xi"]));
        assert_eq!(found, [["x1", "y1"], ["x2", "y2"]]);
        let found = places(&columns(&["t", "ball_x", "ball_y", "ball_z", "ball_px"]));
        assert_eq!(found, [["ball_x", "ball_y", "ball_z"]]);
        assert_eq!(places(&columns(&["t", "x", "y"])), [["x", "y"]]);
        let found =
            places(&columns(&["t", "rod.x", "rod.y", "rod.z", "rod.d1x", "beam[0].x", "v_rod.x"]));
        assert_eq!(found, [["rod.x", "rod.y", "rod.z"]]);
    }
}

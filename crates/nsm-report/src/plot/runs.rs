//! The plots of runs: energy and invariants, coordinates, trajectories, gaps, what joints carry, residuals.
//!
//! Energy, invariants and residuals are drawn over the whole run, from the samples; coordinates,
//! trajectories and gaps from the film, because samples of a long run lie too far apart.

use nsm_problem::{Axes, Curve};
use nsm_problem::{Recording, RunResult, Subject};

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
pub fn plots(subject: &Subject, results: &[&RunResult]) -> Vec<Plot> {
    let mut plots = vec![conserved("energy", "E", results)];
    let Some(first) = results.first() else { return Vec::new() };
    plots.extend(trajectories(&first.recording.columns, results));
    plots.extend(coordinates(subject, results));
    plots.push(gaps(results));
    plots.extend(reactions(results));
    for (name, _) in &first.ledger.invariants {
        plots.push(conserved(&file_name(name), name, results));
    }
    plots.extend(residuals(results));
    plots.retain(|plot| plot.curves.iter().any(|c| c.points.len() > 1));
    // What never moves is a line of the table, and no picture; the energy is looked for.
    let moves = |plot: &Plot| {
        let values = || plot.curves.iter().flat_map(|c| &c.points).map(|p| p[1]);
        plot.name == "energy" || values().zip(values().skip(1)).any(|(a, b)| a != b)
    };
    plots.retain(moves);
    plots
}

/// A quantity that should stay what it is: itself, or its change where that is small.
fn conserved(file: &str, column: &str, results: &[&RunResult]) -> Plot {
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
    let curve = |r: &&RunResult| {
        let values = r.recording.column(column)?;
        let zero = if tiny { *values.first()? } else { 0.0 };
        let points = pairs(&r.recording.column("t")?, values.iter().map(|v| v - zero));
        Some(Curve { name: r.name.clone(), x: "t".into(), y: label.clone(), points })
    };
    Plot {
        name: file.into(),
        axes: Axes::Linear,
        curves: results.iter().filter_map(curve).collect(),
    }
}

/// What joints carry against time: the sizes of their forces and of their torques, and what motors, rods and stops carry, a panel each.
fn reactions(results: &[&RunResult]) -> Vec<Plot> {
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
            let label =
                ["force of joints", "torque of joints", "carried by motors, rods and stops"][kind];
            let value = |row: &Vec<f64>| {
                let part = &row[k..k + size];
                if size == 1 { part[0] } else { part.iter().map(|x| x * x).sum::<f64>().sqrt() }
            };
            let points: Vec<[f64; 2]> = rows.iter().map(|row| [row[0], value(row)]).collect();
            if plots[kind].curves.len() < CROWD {
                let (name, y) = (named(name), label.to_owned());
                plots[kind].curves.push(Curve { name, x: "t".into(), y, points });
            }
        }
    }
    plots
}

/// Coordinates against time: together for one run, each in its panel for several.
fn coordinates(subject: &Subject, results: &[&RunResult]) -> Vec<Plot> {
    let Some(first) = results.first() else { return Vec::new() };
    let names: Vec<String> = if let Subject::Coordinates { system, .. } = subject {
        system.names().to_vec()
    } else {
        places(&first.recording.columns).concat()
    };
    let curve = |r: &RunResult, column: &str, name: &str, label: &str| {
        let points = pairs(&r.recording.filmed("t")?, r.recording.filmed(column)?);
        Some(Curve { name: name.into(), x: "t".into(), y: label.into(), points })
    };
    if results.len() == 1 {
        let crowds = names.chunks(CROWD).enumerate();
        return crowds
            .map(|(i, crowd)| Plot {
                name: if i == 0 { "coordinates".into() } else { format!("coordinates-{}", i + 1) },
                axes: Axes::Linear,
                curves: crowd
                    .iter()
                    .filter_map(|n| curve(first, n, n, &crowd.join(", ")))
                    .collect(),
            })
            .collect();
    }
    let panel = |name: &String| Plot {
        name: file_name(name),
        axes: Axes::Linear,
        curves: results.iter().filter_map(|r| curve(r, name, &r.name, name)).collect(),
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
fn trajectories(columns: &[String], results: &[&RunResult]) -> Vec<Plot> {
    let path = |r: &RunResult, [x, y]: [&str; 2], labels: [&str; 2], name: &str| {
        let points = pairs(&r.recording.filmed(x)?, r.recording.filmed(y)?);
        Some(Curve { name: name.into(), x: labels[0].into(), y: labels[1].into(), points })
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
fn gaps(results: &[&RunResult]) -> Plot {
    let mut curves = Vec::new();
    for r in results {
        let recording = &r.recording;
        let gaps: Vec<&String> =
            recording.columns.iter().filter(|c| c.starts_with("gap_")).collect();
        let Some(t) = recording.filmed("t") else { continue };
        if results.len() == 1 && gaps.len() <= CROWD {
            for gap in gaps {
                let name = gap.trim_start_matches("gap_").to_owned();
                let points = pairs(&t, recording.filmed(gap).unwrap_or_default());
                curves.push(Curve { name, x: "t".into(), y: "gap".into(), points });
            }
        } else if !gaps.is_empty() {
            let smallest = smallest(recording, &gaps);
            let points = pairs(&t, smallest);
            curves.push(Curve {
                name: r.name.clone(),
                x: "t".into(),
                y: "smallest gap".into(),
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
fn residuals(results: &[&RunResult]) -> Vec<Plot> {
    let levels = [("residual_position", "position"), ("residual_velocity", "velocity")];
    let curve = |r: &RunResult, column: &str, name: String, label: &str| {
        let values = r.recording.column(column)?;
        if values.iter().all(|v| *v == 0.0) {
            return None;
        }
        let points = pairs(&r.recording.column("t")?, values);
        Some(Curve { name, x: "t".into(), y: label.into(), points })
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

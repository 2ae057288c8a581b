//! `cargo xtask scaling`: the cost of a step by the number of elements, for every method whose equations couple neighbours, with
//! exponents by log-log fit, as a Markdown page.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use nsm_bench::scaling::{Cost, Family, Method, exponent, measure};

use crate::bench_table::{machine, markdown};
use crate::error::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// No systems of more elements
    #[arg(long, default_value_t = usize::MAX, hide_default_value = true)]
    most: usize,
    /// Where to write [default: benchmarks/scaling.md]
    #[arg(long)]
    out: Option<PathBuf>,
}

pub(crate) fn run(root: &Path, args: &Args) -> Result<(), Error> {
    let out = args.out.clone().unwrap_or_else(|| root.join("benchmarks/scaling.md"));
    let old = std::fs::read_to_string(&out).ok();
    let mut page = format!(
        "# Cost by size\n\n\
         Written by `cargo xtask scaling` on {}; what stands under *Notes* at the end is kept. What the systems are says \
         `crates/nsm-bench/src/scaling.rs`: elements that stay the same while their number grows, h = 1e-3. A step is the mean of \
         forty, each the best of several runs, or all by the least processor time. Exponents are fitted in logarithms over all sizes of a column.\n",
        machine()
    );
    for (family, sizes) in Family::ALL {
        let sizes: Vec<usize> = sizes.iter().copied().filter(|&size| size <= args.most).collect();
        let mut columns = Vec::new();
        for method in Method::ALL {
            let mut costs = Vec::new();
            for &size in &sizes {
                costs.push(measure(family, method, size).map_err(|source| {
                    let (method, family) = (method.name(), family.name());
                    Error::Scaling { method, family, size, source }
                })?);
            }
            println!("{}, {}: {:.2}", family.name(), method.name(), fit(&costs, step));
            columns.push((method, costs));
        }
        page.push_str(&section(family, &columns));
    }
    if let Some(notes) = old.as_deref().and_then(markdown::notes) {
        let _ = write!(page, "\n{notes}\n");
    }
    std::fs::write(&out, page).map_err(|e| Error::file(&out, e))?;
    println!("written to {}", out.display());
    Ok(())
}

/// A family of systems as a table: a row for each method, a column for each size.
fn section(family: Family, columns: &[(Method, Vec<Cost>)]) -> String {
    let Some((_, first)) = columns.first() else { return String::new() };
    let mut text = format!("\n## A step of a {}\n\n| method |", family.name());
    for cost in first {
        let _ = write!(text, " {} |", cost.size);
    }
    text.push_str(" exponent | iterations | setup of the largest | its exponent |\n|---|");
    text.push_str(&"---:|".repeat(first.len() + 4));
    for (method, costs) in columns {
        let _ = write!(text, "\n| {} |", method.name());
        for cost in costs {
            let _ = write!(text, " {} |", time(step(cost)));
        }
        let iterations = |cost: Option<&Cost>| cost.map_or(0.0, |cost| cost.iterations);
        let _ = write!(
            text,
            " **{:.2}** | {:.1} to {:.1} | {} | {:.2} |",
            fit(costs, step),
            iterations(costs.first()),
            iterations(costs.last()),
            costs.last().map_or(String::new(), |cost| time(cost.setup.as_secs_f64())),
            // What is the same for every size says nothing of growth.
            fit(&costs[costs.len() / 2..], |cost| cost.setup.as_secs_f64()),
        );
    }
    text.push_str(
        "\n\nThe setup makes the stepper and takes its first step; its exponent is that of the larger half of the sizes.\n",
    );
    text
}

fn step(cost: &Cost) -> f64 {
    cost.step.as_secs_f64()
}

fn fit(costs: &[Cost], of: impl Fn(&Cost) -> f64) -> f64 {
    exponent(costs.iter().map(|cost| (cost.size as f64, of(cost))))
}

/// Three digits with a unit.
fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-6 => (1e9 * s, "ns"),
        s if s < 1e-3 => (1e6 * s, "µs"),
        s if s < 1.0 => (1e3 * s, "ms"),
        s => (s, "s"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

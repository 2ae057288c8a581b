//! Every scenario passes at quick effort, or says loudly which data it lacks.

use nsm_bench::{Effort, Findings, scenarios};

#[test]
fn every_figure_comes_out_as_stated() {
    let mut failures = Vec::new();
    for scenario in scenarios() {
        match scenario.run(Effort::Quick) {
            Ok(Findings { missing: Some(what), .. }) => {
                eprintln!("SKIPPED: {}: {what}", scenario.id);
            }
            Ok(findings) => {
                let failing = findings.checks.iter().filter(|check| !check.passes());
                failures.extend(failing.map(|check| format!("{}: {check}", scenario.id)));
                assert!(!findings.checks.is_empty(), "{} checks nothing", scenario.id);
                for curve in &findings.curves {
                    assert!(curve.points.len() < 1000, "{}: {}", scenario.id, curve.name);
                }
            }
            Err(error) => failures.push(format!("{}: {error}", scenario.id)),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

//! Every scenario of Tran and Leok passes.

use nsm_bench::{Effort, tran_leok};

#[test]
fn all_scenarios_pass() {
    let mut failures = Vec::new();
    for scenario in tran_leok::scenarios() {
        let findings =
            scenario.run(Effort::Quick).unwrap_or_else(|e| panic!("{}: {e}", scenario.id));
        assert!(!findings.checks.is_empty(), "{} checks nothing", scenario.id);
        for check in &findings.checks {
            if !check.passes() {
                failures.push(format!("{}: {check}", scenario.id));
            }
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

//! Ledgers that must warn, and ledgers that must not, made up by hand.

use nsm_model::{Events, Ledger, Measurement, StepReport, Warning};

/// An instant with these energies and one gap.
fn instant(kinetic: f64, potential: f64, gap: f64) -> Measurement {
    Measurement { kinetic, potential, gaps: vec![gap], ..Measurement::default() }
}

/// The ledger of instants, with impacts where the flag is set.
fn ledger(instants: impl IntoIterator<Item = (Measurement, bool)>) -> Ledger {
    let mut instants = instants.into_iter();
    let (first, _) = instants.next().unwrap();
    let mut ledger = Ledger::open(&first, Vec::new(), vec!["floor".into()]);
    let mut events = Events::default();
    for (m, hit) in instants {
        events.clear();
        if hit {
            events.push(m.t, 0.0, 1, [(0, 1.0)]);
        }
        ledger.step(&StepReport::default(), &events);
        ledger.measurement(&m);
    }
    ledger
}

fn kinds(ledger: &Ledger) -> Vec<&'static str> {
    ledger.warnings().iter().map(Warning::kind).collect()
}

#[test]
fn a_band_is_no_warning_and_a_rise_is_one_whatever_the_unit() {
    for unit in [1e-9, 1.0, 1e9] {
        // A swing of 20 % about its start, as a coarse symplectic step has it.
        let swing = |k: i32| 1.0 + 0.2 * (0.7 * f64::from(k)).sin();
        let sound = ledger((0..1000).map(|k| (instant(unit * swing(k), 0.0, 1.0), false)));
        assert_eq!(kinds(&sound), [] as [&str; 0]);
        let growing = |k: i32| unit * (1.0 + 0.0004 * f64::from(k));
        let unsound = ledger((0..1000).map(|k| (instant(growing(k), 0.0, 1.0), false)));
        let warnings = unsound.warnings();
        assert!(matches!(warnings[..], [Warning::Energy { .. }]), "{warnings:?}");
        assert!((warnings[0].value() - 0.4).abs() < 1e-2, "{warnings:?}");
        // What does work may do so.
        let mut driven = unsound;
        driven.driven = true;
        assert_eq!(driven.warnings(), []);
    }
}

#[test]
fn an_impact_that_adds_energy_is_one_whatever_the_unit() {
    for unit in [1e-9, 1.0, 1e9] {
        for (gain, expected) in [(0.1, &["energy"][..]), (0.01, &[]), (-0.3, &[])] {
            let mut run = Ledger::open(&instant(unit, 0.0, 1.0), Vec::new(), vec!["floor".into()]);
            let mut events = Events::default();
            events.push(0.0, gain * unit, 1, [(0, 1.0)]);
            run.step(&StepReport::default(), &events);
            run.measurement(&instant(unit * (1.0 + gain), 0.0, 1.0));
            assert_eq!(kinds(&run), expected, "{gain}");
        }
    }
}

#[test]
fn a_rise_from_where_impacts_have_left_the_energy_is_seen() {
    let energy = |k: i32| if k < 500 { 0.995_f64.powi(k) } else { 0.9 };
    let run = ledger((0..600).map(|k| (instant(energy(k), 0.0, 1.0), false)));
    assert_eq!(kinds(&run), ["energy"]);
}

#[test]
fn the_rounding_of_a_body_at_rest_is_no_warning() {
    let noise = |k: i32| f64::from(k * 7 % 11 - 5) * 1e-17;
    let rest = (0..1000).map(|k| (instant(0.0, -5.0 + 4.0 * noise(k), 1e-3 * noise(k)), false));
    let rest = std::iter::once((instant(0.0, -5.0, 0.3), false)).chain(rest);
    assert_eq!(kinds(&ledger(rest)), [] as [&str; 0]);
}

/// An orbit that dips into a deep potential now and then, where a long step throws it out: bound at -1 in the beginning, free at 0.2 in the end.
#[test]
fn a_drift_is_seen_beside_a_potential_that_is_deep_and_rarely_visited() {
    for unit in [1e-9, 1.0, 1e9] {
        let orbit = |drift: f64| {
            ledger((0..1000).map(move |k| {
                let energy = -1.0 + drift * f64::from(k / 100) / 9.0;
                let potential = if k % 100 == 50 { -30.0 } else { -1.5 };
                (instant(unit * (energy - potential), unit * potential, 1.0), false)
            }))
        };
        let thrown = orbit(1.2).warnings();
        assert!(matches!(thrown[..], [Warning::Drift { .. }]), "{thrown:?}");
        assert_eq!(kinds(&orbit(0.05)), [] as [&str; 0]);
    }
}

#[test]
fn a_late_impact_is_no_warning_and_a_crossed_contact_is_one_whatever_the_unit_of_the_gap() {
    for unit in [1e-6, 1.0, 1e6] {
        let bounce = |k: i32| unit * (0.35 * f64::from(k % 20 - 10)).abs() - 0.3 * unit;
        let late = (0..200).map(|k| (instant(1.0, 0.0, bounce(k)), k % 20 == 10));
        assert_eq!(kinds(&ledger(late)), [] as [&str; 0]);
        let fall = |k: i32| unit * (1.0 - 0.01 * f64::from(k * k));
        let through =
            |hits: bool| (0..40).map(move |k| (instant(1.0, 0.0, fall(k)), hits && k == 11));
        let warnings = ledger(through(false)).warnings();
        assert!(
            matches!(&warnings[..], [Warning::Crossed { contact, depth }] if contact == "floor" && *depth > 14.0 * unit),
            "{warnings:?}"
        );
        assert!(warnings[0].to_string().contains("`floor` was crossed"));
        assert_eq!(kinds(&ledger(through(true))), ["penetration"]);
    }
}

#[test]
fn a_contact_crossed_from_side_to_side_in_one_step_is_seen_whatever_its_speed() {
    // A light body between a wall and a heavy one: each step carries it through one of them and back, ever faster.
    for unit in [1e-6, 1.0, 1e6] {
        let gap = |k: i32| {
            let jump = unit * 0.02 * f64::from(k - 20);
            if k < 20 {
                unit * (1.0 - 0.045 * f64::from(k))
            } else if k % 2 == 0 {
                0.08 * unit
            } else {
                -jump
            }
        };
        let run = |steps: i32| ledger((0..steps).map(|k| (instant(1.0, 0.0, gap(k)), k > 19)));
        assert_eq!(kinds(&run(25)), [] as [&str; 0]);
        let warnings = run(90).warnings();
        assert!(matches!(&warnings[..], [Warning::Coarse { .. }]), "{warnings:?}");
        assert_eq!(warnings[0].kind(), "penetration");
    }
}

#[test]
fn a_contact_that_sinks_slowly_is_seen() {
    let gap = |k: i32| if k < 10 { 1.0 - 0.1 * f64::from(k) } else { -1e-4 * f64::from(k - 9) };
    let run = ledger((0..400).map(|k| (instant(1.0, 0.0, gap(k)), k >= 9)));
    let warnings = run.warnings();
    assert!(matches!(&warnings[..], [Warning::Sinking { steps: 390, .. }]), "{warnings:?}");
    // Held at a depth that does not change it rests.
    let held = |k: i32| if k < 10 { 1.0 - 0.1 * f64::from(k) } else { -1e-4 };
    let run = ledger((0..400).map(|k| (instant(1.0, 0.0, held(k)), k == 9)));
    assert_eq!(kinds(&run), [] as [&str; 0]);
}

#[test]
fn velocities_off_their_constraints_are_seen() {
    let with = |velocity_residual: f64, velocity_scale: f64| {
        let m = Measurement { velocity_residual, velocity_scale, ..instant(1.0, 0.0, 1.0) };
        kinds(&ledger([(instant(1.0, 0.0, 1.0), false), (m, false)]))
    };
    assert_eq!(with(1e-3, 1.0), [] as [&str; 0]);
    assert_eq!(with(0.0, 0.0), [] as [&str; 0]);
    assert_eq!(with(300.0, 1e3), ["velocity"]);
}

#[test]
fn positions_off_their_constraints_are_seen() {
    let with = |position_residual: f64, position_scale: f64| {
        let m = Measurement { position_residual, position_scale, ..instant(1.0, 0.0, 1.0) };
        kinds(&ledger([(instant(1.0, 0.0, 1.0), false), (m, false)]))
    };
    assert_eq!(with(1e-3, 1.0), [] as [&str; 0]);
    assert_eq!(with(0.0, 0.0), [] as [&str; 0]);
    assert_eq!(with(0.1, 1.0), ["position"]);
}

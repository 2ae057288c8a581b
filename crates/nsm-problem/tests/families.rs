//! Runs that vary, files that are like others, and conditions across runs; and each kind of mistake with its message.

use std::path::PathBuf;

use nsm_problem::{Cell, Members, Problem, RunResult, Watch};
use rayon::prelude::*;

const POGO: &str = r#"
title = "Pogo stick"
[system]
coordinates = ["y1", "y2"]
mass        = [1, 1]
parameters  = { g = 9.8213, k = 10, l = 5 }
potential   = "g*(y1 + y2) + k/2*(y1 - y2 - l)^2"
inequality  = { floor = "y2" }
[start]
q = [8.88, 3.88]
[[run]]
name = "heights"
method = "gvi"
quadrature = "verlet"
step = 0.1
end = 100.0
vary = { "start.q[0]" = { from = 6.0, to = 9.0, count = 4 }, "start.q[1]" = [1, 2, 3, 4] }
[[run]]
name = "h-0.05"
method = "gvi"
quadrature = "verlet"
end = 50.0
vary = { step = [0.1, 0.05], end = [100, 50.0] }
[[run]]
name = "one"
method = "gvi"
quadrature = "verlet"
step = 0.1
end = 100.0
at = [0.0, 50.04, 100.0]
windows = 4
"#;

fn run_all(problem: &Problem) -> Vec<RunResult> {
    let make = |run| problem.execute(run, None, Watch::default());
    problem.runs.iter().map(make).collect::<Result<_, _>>().unwrap()
}

fn with(expectations: &str) -> Problem {
    Problem::parse(&format!("{POGO}{expectations}")).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_run_that_varies_is_a_family() {
    let problem = with("");
    let names: Vec<&str> = problem.runs.iter().map(|r| r.name.as_str()).collect();
    let members =
        ["heights[0]", "heights[1]", "heights[2]", "heights[3]", "h-0.05[0]", "h-0.05[1]"];
    assert_eq!(names, [&members[..], &["one"]].concat());
    let results = run_all(&problem);
    let energy = |r: &RunResult| r.ledger.energy.start;
    for (k, result) in results[..4].iter().enumerate() {
        let (y, family) = (1.0 + k as f64, result.family.as_deref());
        // Unstretched: the potential energy of two unit masses.
        assert!((energy(result) - 9.8213 * (2.0 * y + 5.0)).abs() < 1e-12, "{k}");
        assert_eq!(family, Some("heights"));
    }
    assert_eq!((results[4].step, results[4].ledger.steps), (0.1, 1000));
    assert_eq!((results[5].step, results[5].ledger.steps), (0.05, 1000));
    // A member is the run that it would be if its values stood in the file.
    let alone = POGO.replace("[8.88, 3.88]", "[9.0, 4]");
    let alone = Problem::parse(&alone).unwrap();
    let single = alone.execute(alone.runs.last().unwrap(), None, Watch::default()).unwrap();
    assert_eq!(single.ledger, results[3].ledger);
}

#[test]
fn members_are_the_same_whatever_the_number_of_threads() {
    let problem = with("");
    let one_by_one = run_all(&problem);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let make = |run| problem.execute(run, None, Watch::default()).unwrap();
    let together: Vec<RunResult> = pool.install(|| problem.runs.par_iter().map(make).collect());
    for (a, b) in one_by_one.iter().zip(&together) {
        assert_eq!((&a.ledger, &a.recording), (&b.ledger, &b.recording), "{}", a.name);
    }
}

#[test]
fn conditions_name_results_of_several_runs() {
    let problem = with(
        r#"
        [[expect]]
        what  = "judged once: it names its runs itself"
        check = "count(runs.heights[*].penetration > 0) == 0 && largest(runs.heights[*].energy.drift) < 6 && least(runs.heights[1..].final.q[0]) > 0"
        [[expect]]
        what  = "names of runs may have dashes and points"
        check = "runs.h-0.05[0].step == 0.1 && distance(runs.h-0.05[0].final.q, runs.one.final.q) == 0 && abs(runs.h-0.05[1].final.t - 50) < 1e-9"
        [[expect]]
        run   = "heights"
        what  = "judged for each member"
        check = "energy.max < 1.1*runs.one.energy.max"
        [[expect]]
        run   = "heights[2]"
        check = "abs(energy.start - 9.8213*11) < 1e-9"
        [[expect]]
        run   = "one"
        what  = "windows and instants"
        check = "windows == 4 && largest(windows[*].energy.max) == energy.max && windows[3].energy.end == energy.end && abs(windows[1].t - 25) < 1e-9 && at[0].energy == energy.start && abs(at[1].t - 50) < 1e-9 && distance(at[2].q, final.q) == 0"
        [[expect]]
        run   = "one"
        what  = "gaps and counts"
        check = "gaps.floor.min >= 0 && gaps.floor.start == 3.88 && penetrating_steps == 0 && events_per_step.most == 1 && events_per_step.several == 0 && sum(windows[*].events) == events && failed == 0"
        "#,
    );
    let results = run_all(&problem);
    let verdicts = problem.judge(&results).unwrap_or_else(|e| panic!("{e}"));
    for verdict in &verdicts {
        assert!(verdict.holds, "{:?}: {} {:?}", verdict.run, verdict.check, verdict.figures);
    }
    assert_eq!(verdicts.len(), 2 + 4 + 1 + 2);
    assert_eq!(verdicts[0].run, None);
    assert_eq!(verdicts[2].run.as_deref(), Some("heights[0]"));
    let (name, value) = &verdicts[0].figures[0];
    assert_eq!((name.as_str(), *value), ("count(runs.heights[*].penetration > 0)", 0.0));
    // What names a run that was not made is left out: there remain those about heights alone.
    let some = problem.judge(&results[..4]).unwrap();
    assert_eq!(some.len(), 2);
}

#[test]
fn mistakes_in_what_varies_name_the_line_the_key_and_the_nearest_path() {
    for (piece, replacement, expected) in [
        (
            "\"start.q[1]\" =",
            "\"start.q[2]\" =",
            "line 17: `run[0].vary.start.q[2]`: there is no `start.q[2]` in the file; did you mean `start.q[0]`?",
        ),
        (
            "\"start.q[1]\" =",
            "\"strat.q[1]\" =",
            "there is no `strat` in the file; did you mean `start.q[1]`?",
        ),
        (
            "\"start.q[1]\" =",
            "\"system.parameters.kk\" =",
            "there is no `system.parameters.kk` in the file; did you mean `system.parameters.k`?",
        ),
        ("\"start.q[1]\" =", "\"start.qq\" =", "did you mean `start.q`?"),
        (
            "\"start.q[1]\" =",
            "stepp =",
            "line 17: `run[0].stepp`: unknown key `stepp`; did you mean `step`?",
        ),
        ("\"start.q[1]\" =", "name =", "`name` cannot vary"),
        (
            "[1, 2, 3, 4]",
            "[1, 2, 3]",
            "line 17: `run[0].vary.start.q[1]`: 3 values, but `start.q[0]` has 4: lists of one family are of equal length",
        ),
        ("[1, 2, 3, 4]", "[]", "the list is empty"),
        ("[1, 2, 3, 4]", "3", "give a list of values, or `{ from"),
        ("[1, 2, 3, 4]", "[1, 2, \"x\", 4]", "expected a number, found the text \"x\""),
        ("[1, 2, 3, 4]", "[1, 2, -3, 4]", "the start violates `floor`: it is -3"),
        ("count = 4", "count = 0", "`count` of the range is 0"),
        ("count = 4", "cuont = 4", "unknown key `cuont`; a range has from, to, count"),
        ("to = 9.0", "to = \"9\"", "`to` of the range is not a number"),
        (
            "step = [0.1, 0.05]",
            "step = [0.1, -1]",
            "line 23: `run[1].step`: -1 is not a positive number",
        ),
        ("end = [100, 50.0]", "end = [[1], 2]", "`run[1].end`: expected a number, found a list"),
        ("name = \"one\"", "name = \"heights\"", "there are two runs named `heights`"),
        ("vary = { step = [0.1, 0.05], end = [100, 50.0] }", "vary = { }", "nothing varies"),
        ("at = [0.0,", "at = [-1,", "the run goes from 0 to 100: it has no instant -1"),
        ("windows = 4", "windows = 4000", "4000 windows in 1000 steps"),
    ] {
        assert!(POGO.contains(piece), "{piece}");
        let found = Problem::parse(&POGO.replacen(piece, replacement, 1)).unwrap_err().to_string();
        assert!(found.contains(expected), "{replacement}:\n{found}\ninstead of\n{expected}");
    }
}

#[test]
fn mistakes_in_conditions_across_runs_name_what_would_be_right() {
    for (check, expected) in [
        ("runs.hights[*].events > 0", "is a list: say what of it"),
        (
            "largest(runs.hights[*].events) > 0",
            "line 32: `expect[0].check`: there is no run `hights`, did you mean `heights`?",
        ),
        (
            "largest(runs.heights.events) > 0",
            "the runs of `heights`: which of them? `[0]`, `[*]`, `[1..3]`",
        ),
        ("runs.heights[4].events > 0", "the runs of `heights`: there are 4 of them, from 0 to 3"),
        (
            "largest(runs.heights[*].event) > 0",
            "`heights`: the run has no result `event`, did you mean `events`?",
        ),
        (
            "runs.one.energy.mx > 0",
            "`one`: the run has no result `energy.mx`, did you mean `energy.max`?",
        ),
        ("runs.one.energy > 0", "`energy` is not a number: say which of start, min, max"),
        ("distance(runs.one.final.q, runs.one.final.q[0]) < 1", "lists of 2 and 1 numbers"),
        ("windows[9].energy.max > 0", "has no result `windows`"),
    ] {
        let text = format!("{POGO}[[expect]]\ncheck = '{check}'\n");
        let text = text.replace("windows = 4\n", "");
        let found = match Problem::parse(&text) {
            Err(error) => error.to_string(),
            Ok(problem) => problem.judge(&run_all(&problem)).unwrap_err().to_string(),
        };
        assert!(found.contains(expected), "{check}:\n{found}\ninstead of\n{expected}");
    }
}

#[test]
fn figures_draw_results_of_several_runs() {
    let figures = r#"
        [[figure]]
        x = "runs.heights[*].varied[1].value"
        y = { drift = "runs.heights[*].energy.drift", events = "runs.heights[*].events + 0*runs.one.events" }
        x_label = "height"
        y_label = "what"
        axes = "logarithmic"
        [[figure]]
        x = "runs.h-0.05[*].step"
        y = "runs.h-0.05[*].energy.width"
        "#;
    let problem = with(figures);
    let results = run_all(&problem);
    let drawn = problem.draw(&results).unwrap();
    assert_eq!(drawn.len(), 2);
    let (axes, curves) = &drawn[0];
    assert_eq!(*axes, nsm_problem::Axes::Logarithmic);
    assert_eq!((curves.len(), curves[1].name.as_str()), (2, "events"));
    assert_eq!((curves[0].x.as_str(), curves[0].y.as_str()), ("height", "what"));
    let heights: Vec<f64> = curves[0].points.iter().map(|p| p[0]).collect();
    assert_eq!(heights, [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(curves[1].points[2][1], results[2].ledger.events as f64);
    // Without one of its runs a figure is not drawn.
    assert!(problem.draw(&results[..3]).unwrap().iter().all(|(_, curves)| curves.is_empty()));
    for (piece, replacement, expected) in [
        ("runs.h-0.05[*].step", "runs.h_05[*].step", "there is no run `h_05`"),
        (
            "x = \"runs.h-0.05[*].step\"",
            "x = \"step\"",
            "of which run is `step`? Say `runs.NAME.step`",
        ),
        ("x = \"runs.h-0.05[*].step\"", "", "`x` is missing"),
        ("y = \"runs.h-0.05[*].energy.width\"", "", "`y` is missing"),
        ("x_label", "xlabel", "unknown key `xlabel`; did you mean `x_label`?"),
        ("\"logarithmic\"", "\"log\"", "`log` is none of"),
        ("runs.h-0.05[*].energy.width", "runs.heights[*].energy.width", "4 numbers against 2"),
        (
            "runs.h-0.05[*].energy.width",
            "runs.h-0.05[*].energy.wide",
            "did you mean `energy.width`?",
        ),
    ] {
        let text = format!("{POGO}{}", figures.replacen(piece, replacement, 1));
        let found = match Problem::parse(&text) {
            Err(error) => error.to_string(),
            Ok(problem) => problem.draw(&results).unwrap_err().to_string(),
        };
        assert!(found.contains(expected), "{replacement}:\n{found}\ninstead of\n{expected}");
    }
}

#[test]
fn a_failure_that_is_expected_is_a_result() {
    let text = POGO.replace("g*(y1 + y2) + k/2*(y1 - y2 - l)^2", "-exp(y1^2)");
    let text = text.replace("[8.88, 3.88]", "[1, 3]").replace("6.0, to = 9.0", "1.0, to = 1.5");
    let unforeseen = Problem::parse(&text).unwrap();
    let results = run_all(&unforeseen);
    assert!(results.iter().all(|r| r.failure.is_some() && !unforeseen.foresees_failure(r)));
    let text = text
        + "[[expect]]\nrun = \"one\"\ncheck = \"failed == 1 && final.t < 1\"\n\
           [[expect]]\ncheck = \"count(runs.heights[*].failed == 1) == 4\"\n\
           [[expect]]\ncheck = \"runs.h-0.05[0].events > 1000\"\n";
    let foreseen = Problem::parse(&text).unwrap();
    assert!(foreseen.foresees_failure(&results[0]) && foreseen.foresees_failure(&results[6]));
    assert!(!foreseen.foresees_failure(&results[4]));
    // The third is about a run whose failure nobody foresees: there is nothing to judge.
    let verdicts = foreseen.judge(&results).unwrap();
    assert_eq!(verdicts.len(), 2);
    assert!(verdicts.iter().all(|v| v.holds), "{verdicts:?}");
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("nsm-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_file_may_be_like_another() {
    let folder = Folder::new("like");
    folder.file("pogo.toml", POGO);
    let like = "like = \"pogo.toml\"\ntitle = \"Higher\"\n[start]\nq = [9, 4]\n\
                [[run]]\nmethod = \"gvi\"\nquadrature = \"verlet\"\nstep = 0.1\nend = 100.0\n";
    let problem = Problem::read(&folder.file("higher.toml", like)).unwrap();
    assert_eq!((problem.title.as_str(), problem.runs.len()), ("Higher", 1));
    let family = Problem::parse(POGO).unwrap();
    let member = family.execute(&family.runs[3], None, Watch::default()).unwrap();
    assert_eq!(run_all(&problem)[0].ledger, member.ledger);
    let vary = format!("{like}vary = {{ \"system.parameters.k\" = [9, 10] }}\n");
    let problem = Problem::read(&folder.file("varies.toml", &vary)).unwrap();
    assert_eq!(run_all(&problem)[1].ledger, member.ledger);
    let read = |name: &str, text: &str| {
        let error = Problem::read(&folder.file(name, text)).unwrap_err().to_string();
        error.replace(&folder.0.display().to_string(), "")
    };
    for (text, expected) in [
        (like.replace("pogo", "pgo"), "`like`: `pgo.toml` cannot be read"),
        (like.replace("pogo", "higher"), "`higher.toml` is itself like `pogo.toml`: name that one"),
        // What is wrong with the two together is said of the line that joins them.
        (like.replace("[start]\nq = [9, 4]", "[[body]]\nmass = 1"), "give `euler` or `inertia`"),
        (vary.replace("[9, 10]", "[9, \"x\"]"), "toml:1: `system.parameters.k`: there is no `x`"),
    ] {
        let found = read("mistake.toml", &text);
        assert!(found.contains("mistake.toml") && found.contains(expected), "{found}");
    }
    assert!(Problem::parse(like).unwrap_err().to_string().contains("has no neighbours"));
}

#[test]
fn bodies_are_reached_by_name_and_joints_are_tracked() {
    let text = r#"
        gravity = [0, 0, -9.81]
        track = ["left hinge"]
        [[body]]
        name = "rod"
        mass = 1
        inertia = [1, 1, 0.1]
        position = [1, 0, 0]
        [[joint]]
        name = "left hinge"
        type = "revolute"
        bodies = ["ground", "rod"]
        at = [0, 0, 0]
        axis = [0, 1, 0]
        [[run]]
        name = "masses"
        method = "vi"
        step = 0.01
        end = 0.5
        vary = { "body.rod.mass" = [1, 2], "joint[0].rate" = [1, 1] }
        "#;
    let mistake = Problem::parse(text).unwrap_err().to_string();
    assert!(mistake.contains("there is no `joint[0].rate` in the file"), "{mistake}");
    let text = text.replace("axis = [0, 1, 0]", "axis = [0, 1, 0]\nrate = 0");
    let problem = Problem::parse(&text).unwrap();
    let results = run_all(&problem);
    let turned = |k: usize| results[k].ledger.invariant("left_hinge").unwrap().end;
    // Released a quarter of a turn before the lowest place, falling about +y.
    assert!(turned(0) > 0.5 && turned(1) > turned(0), "{} {}", turned(0), turned(1));
    let unknown = text.replace("track = [\"left hinge\"]", "track = [\"left hing\"]");
    let found = Problem::parse(&unknown).unwrap_err().to_string();
    assert!(found.contains("`track`: there is no joint `left hing`, did you mean `left hinge`?"));
    let unknown = text.replace("body.rod.mass", "body.rood.mass");
    let found = Problem::parse(&unknown).unwrap_err().to_string();
    assert!(found.contains("did you mean `body.rod.mass`?"), "{found}");
}

#[test]
fn a_member_built_alone_is_the_one_among_all() {
    let problem = with("[[expect]]\ncheck = \"energy.max < 1e9\"\n");
    let members = Members::parse(POGO).unwrap();
    assert_eq!(members.len(), problem.runs.len());
    let names: Vec<&str> = members.groups().iter().map(|g| g.name.as_str()).collect();
    assert_eq!(names, ["heights", "h-0.05", "one"]);
    assert_eq!(members.groups()[0].varied, ["start.q[0]", "start.q[1]"]);
    for (i, run) in problem.runs.iter().enumerate() {
        let alone = members.problem(i).unwrap();
        assert_eq!((alone.runs.len(), &alone.runs[0].name), (1, &run.name));
        assert_eq!((&alone.runs[0].varied, &alone.runs[0].family), (&run.varied, &run.family));
        let one = alone.execute(&alone.runs[0], None, Watch::default()).unwrap();
        let other = problem.execute(run, None, Watch::default()).unwrap();
        assert_eq!(
            (&one.ledger, &one.recording),
            (&other.ledger, &other.recording),
            "{}",
            run.name
        );
    }
    assert_eq!(
        members.inputs(3),
        [("start.q[0]".into(), Cell::Number(9.0)), ("start.q[1]".into(), Cell::Number(4.0))]
    );
    assert!(members.problem(7).unwrap_err().to_string().contains("7 runs"));
    assert_ne!(
        members.fingerprint(),
        Members::parse(&POGO.replace("9.8213", "9.81")).unwrap().fingerprint()
    );
}

#[test]
fn what_is_wrong_with_a_member_is_said_of_its_own_line() {
    let text = POGO.replace("[1, 2, 3, 4]", "[\n1, # a comment, with a comma\n\"two\",\n\n3, -4]");
    let members = Members::parse(&text).unwrap();
    assert!(members.problem(0).is_ok() && members.problem(2).is_ok());
    let whole = Problem::parse(&text).unwrap_err();
    let alone = members.problem(1).unwrap_err();
    assert_eq!((alone.line, &alone.message), (whole.line, &whole.message));
    // A mistake behind the list stands where it stood.
    let broken = text.replace("windows = 4", "widows = 4");
    let members = Members::parse(&broken).unwrap();
    let line = broken.lines().position(|l| l.starts_with("widows")).unwrap() + 1;
    assert_eq!(members.problem(6).unwrap_err().line, Some(line));
    // What concerns the family as a whole is said at once.
    let unequal = POGO.replace("[1, 2, 3, 4]", "[1, 2, 3]");
    assert!(Members::parse(&unequal).unwrap_err().to_string().contains("equal length"));
}

#[test]
fn figures_take_columns_of_tables_and_an_abscissa_for_each_curve() {
    let text = "[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"x^2/2\"\n[start]\nq = [1]\n\
        [[run]]\nname = \"fine\"\nmethod = \"vi\"\nstep = 0.01\nend = 1\n\
        [[run]]\nname = \"coarse\"\nmethod = \"vi\"\nstep = 0.1\nend = 1\n[[figure]]\n";
    let both = "x = { fine = \"runs.fine.samples.t\", coarse = \"runs.coarse.samples.t\" }\n\
        y = { fine = \"runs.fine.samples.x\", coarse = \"runs.coarse.samples.x\" }\n";
    let problem = Problem::parse(&format!("{text}{both}")).unwrap();
    let results: Vec<_> = problem
        .runs
        .iter()
        .map(|run| problem.execute(run, None, Watch::default()).unwrap())
        .collect();
    let (_, curves) = problem.draw(&results).unwrap().swap_remove(0);
    assert_eq!([curves[0].points.len(), curves[1].points.len()], [101, 11]);
    // cos t, to the order of either step.
    for (curve, bound) in curves.iter().zip([1e-5, 1e-3]) {
        assert!(curve.points.iter().all(|[t, x]| (x - t.cos()).abs() < bound), "{}", curve.name);
    }
    let wrong = |text: String| match Problem::parse(&text) {
        Err(error) => error.to_string(),
        Ok(problem) => problem.draw(&results).unwrap_err().to_string(),
    };
    let lacking = wrong(format!("{text}{}", both.replacen("coarse = ", "course = ", 1)));
    assert!(lacking.contains("`y` has no curve `course`"), "{lacking}");
    let misspelt = wrong(format!("{text}{}", both.replace("samples.x", "samples.gap")));
    assert!(misspelt.contains("no column `gap`") && misspelt.contains("known: t, x"), "{misspelt}");
}

//! Formulas against closed forms, against automatic differentiation, and against mistakes.

use nsm_constraints::{AutoDiff, Expr, Field, Scalar};
use nsm_model::Force;

use super::*;

fn scope() -> Scope {
    let coordinates = ["x", "y", "z"].map(String::from);
    Scope::new(&coordinates, &[("k".into(), 10.0), ("l".into(), 0.5)]).unwrap()
}

fn value(text: &str, q: [f64; 3]) -> f64 {
    FormulaField::new(text, &scope()).unwrap().value(&q, 2.0)
}

#[test]
fn precedence_is_that_of_mathematics() {
    let q = [3.0, 2.0, 0.0];
    for (text, expected) in [
        ("-x^2", -9.0),
        ("2^-1", 0.5),
        ("2^3^2", 512.0),
        ("-2^-2", -0.25),
        ("x - y - 1", 0.0),
        ("x / y / 2", 0.75),
        ("x * -y", -6.0),
        ("1 - -x", 4.0),
        ("2 + x*y^2", 14.0),
        ("(2 + x)*y", 10.0),
        ("+x - (y)", 1.0),
        ("1e1 + 2.5E-1 + .5 + 2.", 12.75),
        ("x \u{2212} 1", 2.0),
        ("2e", f64::NAN),
    ] {
        let field = FormulaField::new(text, &scope());
        match field {
            Ok(field) => assert_eq!(field.value(&q, 0.0), expected, "{text}"),
            Err(_) => assert!(expected.is_nan(), "{text}"),
        }
    }
    assert_eq!(value("atan2(y, x)", q), 2.0_f64.atan2(3.0));
    assert_eq!(value("min(x, y, 1) + max(x, y)", q), 4.0);
    assert_eq!(value("floor(2.7) + abs(-t) + pi", q), 2.0 + 2.0 + std::f64::consts::PI);
}

/// The same function as a formula and as an expression over dual numbers.
struct Twin;
impl Expr for Twin {
    const RHEONOMIC: bool = true;
    fn value<T: Scalar>(&self, q: &[T], t: T) -> T {
        let (x, y, z) = (q[0], q[1], q[2]);
        (x * y).sin() / (z * z + 1.0)
            + (x * x + y * y + 0.1).sqrt() * (z * t).exp()
            + (y + 3.0).ln() * x.atan()
            + (x * x + 1.0).powf(1.5)
            + (z * 0.3).asin() * (x * 0.2).acos()
            + (y * 0.4).tan()
            + x.atan2(z + 2.0)
            + z.powi(3) * y
            + ((y + 3.0).ln() * x).exp()
    }
}
const TWIN: &str = "sin(x*y)/(z^2 + 1) + sqrt(x^2 + y^2 + 0.1)*exp(z*t) + log(y + 3)*atan(x) + (x^2 + 1)^1.5 \
     + asin(0.3*z)*acos(0.2*x) + tan(0.4*y) + atan2(x, z + 2) + z^3*y + (y + 3)^x";

#[test]
fn all_derivatives_agree_with_automatic_differentiation() {
    let formula = FormulaField::new(TWIN, &scope()).unwrap();
    let twin = AutoDiff::new(Twin, &[0, 1, 2]).unwrap();
    assert!(formula.is_rheonomic() && !formula.is_affine());
    assert_eq!(formula.coordinates(), [0, 1, 2]);
    let close =
        |a: f64, b: f64| assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a} against {b}");
    for q in [[0.7, -0.3, 0.5], [-1.1, 0.4, -0.9], [2.0, 1.5, 0.01]] {
        let t = 0.6;
        close(formula.value(&q, t), twin.value(&q, t));
        close(formula.rate(&q, t), twin.rate(&q, t));
        close(formula.second_rate(&q, t), twin.second_rate(&q, t));
        let compare = |f: &dyn Fn(&dyn Field, &mut [f64])| {
            let (mut a, mut b) = ([0.0; 9], [0.0; 9]);
            f(&formula, &mut a);
            f(&twin, &mut b);
            a.iter().zip(b).for_each(|(a, b)| close(*a, b));
        };
        compare(&|field, out| field.gradient(&q, t, out));
        compare(&|field, out| field.hessian(&q, t, 1.7, out));
        compare(&|field, out| field.rate_gradient(&q, t, out));
    }
}

#[test]
fn kinks_take_the_derivative_of_their_branch() {
    let field = FormulaField::new("abs(x) + min(y, z) + max(x, 2*y) + floor(z)", &scope()).unwrap();
    let mut g = [0.0; 3];
    field.gradient(&[-3.0, 1.0, 2.0], 0.0, &mut g);
    // |x| → −1; min takes y; max takes 2y; floor is flat.
    assert_eq!(g, [-1.0, 3.0, 0.0]);
    assert!(!field.is_affine());
}

#[test]
fn nan_comes_through_min_and_max() {
    assert!(value("min(sqrt(-1 + 0*x), 1)", [1.0; 3]).is_nan());
    assert!(value("max(1, log(-x))", [1.0; 3]).is_nan());
}

#[test]
fn structure_is_detected() {
    let affine = FormulaField::new("k*(x - l) + 2*z", &scope()).unwrap();
    assert!(affine.is_affine() && !affine.is_rheonomic());
    assert_eq!(affine.coordinates(), [0, 2]);
    // The affine form is the same function; what only has a constant slope almost everywhere is none.
    let q = [0.7, -3.0, 1.9];
    let form = affine.affine().unwrap();
    let expected = 2.0 * q[2] + value("k*(x - l)", q);
    assert!((form.value(&q, 0.0) - expected).abs() <= 1e-15 * (1.0 + expected.abs()));
    assert_eq!(affine.value(&q, 0.0), form.value(&q, 0.0));
    for text in ["floor(x) + x", "x + t", "x*y", "x + abs(y)", "x/y"] {
        assert!(FormulaField::new(text, &scope()).unwrap().affine().is_none(), "{text}");
    }
    let constant = FormulaField::new("0", &scope()).unwrap();
    assert!(constant.coordinates().is_empty() && constant.is_affine());
}

#[test]
fn forces_have_exact_derivatives_by_position_and_velocity() {
    let force = FormulaForce::new(&[(0, "-k*x*v_y + t"), (2, "-v_z*abs(v_z)")], &scope()).unwrap();
    assert_eq!(force.coordinates(), [0, 1, 2]);
    assert!(force.depends_on_velocity());
    let (q, v) = ([2.0, 0.0, 0.0], [0.0, 3.0, -4.0]);
    let mut f = [f64::NAN; 3];
    force.force(&q, &v, 5.0, &mut f);
    assert_eq!(f, [-60.0 + 5.0, 0.0, 16.0]);
    let mut d = [f64::NAN; 9];
    force.by_position(&q, &v, 5.0, &mut d);
    assert_eq!(d, [-30.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    force.by_velocity(&q, &v, 5.0, &mut d);
    assert_eq!(d, [0.0, -20.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -8.0]);
}

#[test]
fn quantities_are_functions_of_positions_and_momenta() {
    let momentum = quantity("L", "x*p_y - y*p_x", &scope()).unwrap();
    assert_eq!(momentum.value(&[1.0, 2.0, 0.0], &[3.0, 4.0, 0.0]), -2.0);
    assert!(quantity("bad", "x + t", &scope()).is_err());
}

#[test]
fn mistakes_are_pointed_at() {
    let message = |text: &str| FormulaField::new(text, &scope()).unwrap_err().to_string();
    assert_eq!(
        message("k/2*(x - yy)^2"),
        "there is no `yy`, did you mean `y`? (known: x, y, z, k, l, pi, t)\n  k/2*(x - yy)^2\n           ^"
    );
    assert!(message("sinn(x)").starts_with("there is no function `sinn`, did you mean `sin`?"));
    assert!(message("x +").starts_with("the formula ends where"));
    assert!(message("(x").starts_with("the formula ends where `)` should be"));
    assert!(message("x y").starts_with("`y` does not continue the formula"));
    assert!(message("atan2(x)").starts_with("`atan2` takes 2 argument(s), not 1"));
    assert!(message("x $ y").starts_with("`$` does not continue"));
    assert!(message("").starts_with("the formula ends where"));
    assert!(message("x < 1").starts_with("comparisons have no derivative"));
    assert!(message(&"(".repeat(5000)).contains("levels of nesting"));
    assert!(message(&format!("x{}", "+x".repeat(20_000))).contains("too long"));
    assert!(value(&format!("x{}", "+x".repeat(4_000)), [1.0; 3]) == 4001.0);
}

#[test]
fn names_that_mean_something_else_are_refused() {
    let scope = |names: &[&str]| {
        Scope::new(&names.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>(), &[])
    };
    for bad in [&["t"][..], &["pi"], &["sin"], &["x", "x"], &["2x"], &["a b"], &[""]] {
        assert!(scope(bad).is_err(), "{bad:?}");
    }
    assert!(scope(&["θ", "x_1", "φ_G'"]).is_ok());
}

/// Results as a run would give them.
fn results(name: &str) -> Result<Figure, String> {
    Ok(match name {
        "energy.max" => Figure::Number(128.4),
        "final.q[1]" => Figure::Number(-0.5),
        "nan" => Figure::Number(f64::NAN),
        "event_times" => Figure::List(vec![1.0, 2.0, 4.0]),
        "runs.h-0.1.final.q" => Figure::List(vec![1.0, -2.0, 0.0]),
        "runs.scan[*].energy.max" => Figure::List(vec![3.0, 5.0, 4.0]),
        "runs.scan[1..].energy.max" => Figure::List(vec![5.0, 4.0]),
        "runs.scan[*].energy.min" => Figure::List(vec![1.0, 5.0, 2.0]),
        _ => return Err(format!("no result `{name}`")),
    })
}

fn condition(text: &str) -> Result<Condition, FormulaError> {
    Condition::new(text, &["h", "h-0.1", "scan"])
}

#[test]
fn conditions_compare_named_results() {
    let holds = |text: &str| condition(text).unwrap().holds(&results);
    assert_eq!(holds("energy.max < 128.5 && final.q[1] >= -1/2"), Ok(true));
    assert_eq!(holds("energy.max > 128.5 || abs(final.q[1] + 0.5) < 1e-12"), Ok(true));
    assert_eq!(holds("nan < 1 || nan >= 1 || nan != 1 || nan == nan"), Ok(false));
    assert!(holds("energy.mx < 1").unwrap_err().to_string().contains("no result `energy.mx`"));
    assert!(condition("energy.max").is_err());
    assert_eq!(condition("a < b && a > 0").unwrap().names(), ["a", "b"]);
}

#[test]
fn conditions_make_numbers_of_lists() {
    let holds = |text: &str| condition(text).unwrap().holds(&results);
    for text in [
        "event_times == 3 && largest(event_times) == 4 && least(event_times) == 1",
        "sum(event_times) == 7 && median(event_times) == 2 && mean(event_times) == 7/3",
        "median(runs.scan[1..].energy.max) == 4.5 && deviation(runs.scan[1..].energy.max) == sqrt(0.5)",
        "largest(runs.scan[*].energy.max - runs.scan[*].energy.min) == 2",
        "count(runs.scan[*].energy.max > 3 && runs.scan[*].energy.min < 5) == 1",
        "distance(runs.h-0.1.final.q, event_times) == 4",
        "distance(2*runs.h-0.1.final.q, 0*event_times) - 1 == 3",
    ] {
        assert_eq!(holds(text), Ok(true), "{text}");
    }
    assert_eq!(holds("largest(nan*event_times) > 0 || least(nan*event_times) < 1"), Ok(false));
    let figures = condition("largest(2*event_times) > energy.max").unwrap().figures(&results);
    let expected = [("largest(2*event_times)", 8.0), ("energy.max", 128.4)];
    assert_eq!(figures.unwrap(), expected.map(|(name, value)| (name.to_owned(), value)));
    for (text, message) in [
        ("runs.scan[*].energy.max < 5", "is a list: say what of it"),
        ("count(event_times) > 2", "counts where a condition holds"),
        ("distance(event_times) > 2", "takes 2 argument(s), not 1"),
        ("largst(event_times) > 2", "did you mean `largest`?"),
    ] {
        let found = condition(text).unwrap_err().to_string();
        assert!(found.contains(message), "{text}: {found}");
    }
    let unequal = holds("distance(event_times, runs.scan[1..].energy.max) < 1").unwrap_err();
    assert!(unequal.to_string().contains("lists of 3 and 2 numbers"), "{unequal}");
    let scope = Scope::new(&["x".into()], &[]).unwrap();
    assert!(constant("largest(2)", &scope).unwrap_err().to_string().contains("no function"));
}

/// $f(a, b) = a^2 \sin b$ with its derivatives by hand, and how often it was asked for something it does not know.
#[derive(Debug)]
struct Product;

impl crate::Foreign for Product {
    fn arity(&self) -> usize {
        2
    }

    fn partial(&self, arguments: &[f64], by: &[usize]) -> f64 {
        let (a, b) = (arguments[0], arguments[1]);
        match by {
            [] => a * a * b.sin(),
            [0] => 2.0 * a * b.sin(),
            [1] => a * a * b.cos(),
            [0, 0] => 2.0 * b.sin(),
            [0, 1] | [1, 0] => 2.0 * a * b.cos(),
            [1, 1] => -a * a * b.sin(),
            _ => f64::NAN,
        }
    }
}

#[test]
fn foreign_functions_are_differentiated_by_the_chain_rule() {
    let names = ["x", "y"].map(str::to_owned);
    let mut scope = Scope::new(&names, &[]).unwrap();
    scope.define_function("f", std::sync::Arc::new(Product)).unwrap();
    let called = FormulaField::new("3*f(x*y, x + 2*y)^2 + x", &scope).unwrap();
    let written = FormulaField::new("3*((x*y)^2*sin(x + 2*y))^2 + x", &scope).unwrap();
    let q = [0.7, -1.3];
    let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-13 * (1.0 + b.abs()), "{a} {b}");
    near(called.value(&q, 0.0), written.value(&q, 0.0));
    let (mut a, mut b) = ([0.0; 2], [0.0; 2]);
    called.gradient(&q, 0.0, &mut a);
    written.gradient(&q, 0.0, &mut b);
    a.iter().zip(&b).for_each(|(a, b)| near(*a, *b));
    let (mut a, mut b) = ([0.0; 4], [0.0; 4]);
    called.hessian(&q, 0.0, 1.0, &mut a);
    written.hessian(&q, 0.0, 1.0, &mut b);
    a.iter().zip(&b).for_each(|(a, b)| near(*a, *b));
}

#[test]
fn foreign_functions_have_names_of_their_own_and_a_number_of_arguments() {
    let mut scope = Scope::new(&["x".to_owned()], &[]).unwrap();
    let function = || std::sync::Arc::new(Product);
    for taken in ["x", "t", "sin", "two words"] {
        assert!(scope.define_function(taken, function()).is_err(), "{taken}");
    }
    scope.define_function("f", function()).unwrap();
    assert!(scope.define("f", 1.0).is_err() && scope.define_function("f", function()).is_err());
    let error = FormulaField::new("1 + f(x)", &scope).unwrap_err();
    assert!(error.message.contains("takes 2 argument(s), not 1") && error.at == 4, "{error}");
    let error = FormulaField::new("g(x)", &scope).unwrap_err();
    assert!(error.message.contains("there is no function `g`"), "{error}");
}

#[test]
fn sums_of_products_of_affine_forms_are_what_their_operations_give() {
    // The same with a term below rounding that is no polynomial, and so is a list of operations.
    let texts = [
        "(x - y)^2 + (z + 0.25)^2/2 - l",
        "-k*x*y + (x - 2*z + 1)*(y + x) - z/4",
        "(x - y)*(x - y)*3 - (k*(x + 1))^2",
        "k/2*(x - z - l)^2 + 9.81*(x + z)",
    ];
    for text in texts {
        let field = FormulaField::new(text, &scope()).unwrap();
        let listed =
            FormulaField::new(&format!("{text} + 1e-300*sin(x + y + z)"), &scope()).unwrap();
        assert!(field.is_quadratic() && !field.is_affine() && !listed.is_quadratic(), "{text}");
        assert_eq!(listed.coordinates(), [0, 1, 2]);
        for q in [[0.7, -0.3, 0.5], [-1.1, 4.0, -0.9], [200.0, 200.001, 0.01]] {
            let near = |a: f64, b: f64| (a - b).abs() <= 4e-16 * (1.0 + a.abs().max(b.abs()));
            let (a, b) = (field.value(&q, 0.0), listed.value(&q, 0.0));
            // Products round in another order: to the last digits of the largest term.
            let largest = if q[0] > 100.0 { 1e7 } else { 1e3 };
            assert!((a - b).abs() <= 4e-16 * largest, "{text}: {a} {b}");
            let (mut g, mut h) = (vec![0.0; field.coordinates().len()], [0.0; 3]);
            field.gradient(&q, 0.0, &mut g);
            listed.gradient(&q, 0.0, &mut h);
            for (&c, g) in field.coordinates().iter().zip(g) {
                assert!(near(g, h[c]), "{text}: {g} {h:?}");
            }
        }
    }
    // Differences are not expanded: nothing is lost between places far out.
    let rod = FormulaField::new("(x - y)^2 - 1", &scope()).unwrap();
    assert_eq!(rod.value(&[1e9 + 1.0, 1e9, 0.0], 0.0), 0.0);
    for text in ["x^3", "x*y*z", "(x + t)^2", "(x*y)^2", "sin(x)^2", "x^2/y", "abs(x)*x"] {
        assert!(!FormulaField::new(text, &scope()).unwrap().is_quadratic(), "{text}");
    }
}

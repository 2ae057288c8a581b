//! Which method to take where a run names none.

use super::{Facts, METHODS};
use crate::Subject;

/// A method, and why it suits.
#[derive(Clone, Copy, Debug)]
pub struct Recommendation {
    /// The method.
    pub method: &'static Facts,
    /// Why, in words that follow "because".
    pub why: &'static str,
}

/// Bodies beyond which multipliers are faster than the freedoms of the joints.
const LONG_CHAIN: usize = 16;

/// The method to take for what moves, if nobody says otherwise.
pub fn recommend(subject: &Subject) -> Recommendation {
    let touches = match subject {
        Subject::Mechanism { crowd: Some(_), .. } | Subject::Rigid { .. } => true,
        Subject::Coordinates { system, .. } | Subject::Mechanism { system, .. } => {
            !system.inequalities().is_empty()
        }
    };
    let (name, why) = match subject {
        Subject::Rigid { .. } => (
            "lgvci",
            "it holds impacts, friction and rest of free rigid bodies, and keeps their momenta",
        ),
        Subject::Coordinates { system, .. } | Subject::Mechanism { system, .. }
            if system.switching().is_some() =>
        {
            ("nsga", "constraints switch, and it finds the switches by itself")
        }
        Subject::Coordinates { system, .. } | Subject::Mechanism { system, .. }
            if !system.dry().is_empty() =>
        {
            ("svci", "there is dry friction on freedoms, and it holds it, sticking exactly")
        }
        Subject::Coordinates { system, .. } | Subject::Mechanism { system, .. }
            if system.variable_mass().is_some() && !touches =>
        {
            (
                "vi",
                "its mass depends on the configuration, the motion is smooth, and it keeps momenta and the energy over long times",
            )
        }
        Subject::Coordinates { system, .. } | Subject::Mechanism { system, .. }
            if system.nonholonomic().is_some() && !touches =>
        {
            ("vi", "it holds rows on velocities, and keeps the energy over long times")
        }
        Subject::Coordinates { system, .. } | Subject::Mechanism { system, .. }
            if touches
                && system.variable_mass().is_none()
                && !system.mass().massless().is_empty() =>
        {
            (
                "nsga",
                "there are contacts and coordinates without mass, such as those of beams and flat bodies, and it holds both",
            )
        }
        Subject::Coordinates { system, .. } | Subject::Mechanism { system, .. } if touches => (
            "svci",
            "there are contacts, and it holds impacts, losses and rest, with momenta exact",
        ),
        Subject::Mechanism { system, .. } if system.equalities().is_rheonomic() => (
            "vi",
            "a motor or another constraint moves by itself, and it holds that, with momenta exact",
        ),
        Subject::Mechanism { mechanism, .. } if mechanism.nodes().count() <= LONG_CHAIN => (
            "null-space-reparametrised",
            "it holds joints exactly, with the fewest unknowns, and keeps momenta and energy",
        ),
        Subject::Mechanism { .. } | Subject::Coordinates { .. } => {
            ("vi", "the motion is smooth, and it keeps momenta and the energy over long times")
        }
    };
    let method = METHODS.iter().find(|m| m.name == name).unwrap_or(&METHODS[0]);
    Recommendation { method, why }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Problem;

    #[test]
    fn what_moves_decides_which_method_is_taken() {
        let system = |rest: &str| {
            format!(
                "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\n{rest}\n[start]\nq = [1, 0]\n"
            )
        };
        let body =
            "[[body]]\nname = \"a\"\nmass = 1\nshape = { sphere = 1 }\nposition = [0, 0, 2]\n";
        let joint =
            "[[joint]]\ntype = \"spherical\"\nbodies = [\"ground\", \"a\"]\nat = [0, 0, 0]\n";
        let mode = "[[system.mode]]\nname = \"a\"\nwhere = \"2 - x\"\nequality = { e = \"y\" }\n\
                    [[system.mode]]\nname = \"b\"\nwhere = \"x - 2\"\nequality = { e = \"y + x - 2\" }";
        let varying =
            |rest: &str| system(rest).replace("mass = [1, 1]", "kinetic = \"v_x^2 + x^2*v_y^2\"");
        let rolling = format!("nonholonomic = {{ along = \"a.vx - a.wy\" }}\n{body}{joint}")
            .replace("spherical", "planar")
            .replace("at = [0, 0, 0]\n", "at = [0, 0, 0]\naxis = [0, 0, 1]\n");
        let motor = format!("{body}{joint}axis = [0, 0, 1]\nmotor = \"2*t\"\n")
            .replace("spherical", "revolute");
        let beam = r#"
            [[beam]]
            name = "arm"
            ends = [[0, 0, 0], [1, 0, 0]]
            elements = 2
            GA = 4e5
            EA = 8e5
            EI1 = 100
            EI2 = 100
            GJ = 100
            mass = 1
            inertia = [1e-3, 1e-3]
            [[joint]]
            type = "fixed"
            bodies = ["ground", "arm.start"]
            at = [0, 0, 0]
            [system]
            inequality = { stop = "0.1 - arm.end.z", side = "0.1 - arm[1].y", low = "arm.middle.z + 0.1" }
            "#;
        for (text, name) in [
            (system(""), "vi"),
            (system("equality = { rod = \"x^2 + y^2 - 1\" }"), "vi"),
            (system("inequality = { wall = \"x\" }"), "svci"),
            (system("inequality = { wall = \"x - sin(t)\" }"), "svci"),
            (system(mode), "nsga"),
            (system("nonholonomic = { edge = \"v_y - x*v_x\" }"), "vi"),
            (system("inequality = { wall = \"x\" }\nnonholonomic = { edge = \"v_y\" }"), "svci"),
            (varying(""), "vi"),
            (varying("inequality = { wall = \"x\" }"), "svci"),
            (varying("inequality = { wall = \"x - sin(t)\" }"), "svci"),
            (beam.to_owned(), "nsga"),
            (rolling.clone(), "vi"),
            (body.to_owned(), "lgvci"),
            (format!("{body}{joint}"), "null-space-reparametrised"),
            (motor, "vi"),
        ] {
            let run = "[[run]]\nstep = 0.01\nend = 0.1\n";
            let problem = Problem::parse(&format!("{text}{run}")).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(recommend(&problem.subject).method.name, name);
            let method = &problem.runs[0].method;
            assert_eq!((method.name(), method.recommended.is_some()), (name, true));
            // What is recommended fits.
            problem.bound(&problem.runs[0]).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        let misspelt =
            Problem::parse(&format!("{}[[run]]\nmetod = \"vi\"\nstep = 1\nend = 1\n", system("")));
        assert!(misspelt.unwrap_err().to_string().contains("did you mean `method`?"));
        let below = Problem::parse(&format!(
            "{}[[run]]\nstep = 1\nend = 1\n",
            system("inequality = { wall = \"x\" }\nrestitution = 0.5")
        ));
        assert!(below.unwrap_err().to_string().contains("at the top of the file"));
    }
}

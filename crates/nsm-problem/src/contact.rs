//! `restitution`, `friction` and `[[contact]]`: what happens where two parties touch, and which pairs never do.
//!
//! A pair's value is that of the last `[[contact]]` that names it, else the smaller of what the two parties say of themselves, else the
//! default of the file, else one. The parties of a gap by formula are the gap itself and whatever it keeps apart.

use nsm_formula::nearest;
use nsm_vi::rigid::RigidWorld;

use super::ProblemError;
use super::reader::Reader;

/// Matches any name.
const ANY: &str = "*";

/// What a file says about contacts.
#[derive(Clone, Debug, Default)]
pub struct Contacts {
    default: Option<f64>,
    /// Parties with a restitution of their own.
    own: Vec<(String, f64)>,
    rules: Vec<Rule>,
    /// Whether the file says anything about contacts at all.
    pub(crate) said: bool,
}

#[derive(Clone, Debug)]
struct Rule {
    between: [String; 2],
    restitution: Option<f64>,
    ignore: bool,
}

impl Rule {
    fn matches(&self, a: &str, b: &str) -> bool {
        let fits = |pattern: &str, name: &str| pattern == ANY || pattern == name;
        let [x, y] = &self.between;
        (fits(x, a) && fits(y, b)) || (fits(x, b) && fits(y, a))
    }
}

impl Contacts {
    /// Reads the defaults of the file and its `[[contact]]` tables; `parties` are the names that these may use.
    pub(crate) fn read(reader: &Reader<'_>, parties: &[String]) -> Result<Self, ProblemError> {
        let mut contacts = Self { default: restitution(reader)?, ..Self::default() };
        let tables = reader.tables("contact")?;
        contacts.said = contacts.default.is_some() || !tables.is_empty();
        for table in tables {
            let names = table.require(
                "between",
                table.texts("between")?,
                "the names of the two parties; `\"*\"` matches any",
            )?;
            let place = table.place_of("between");
            let between = match names[..] {
                [a, b] => [a.to_owned(), b.to_owned()],
                [a] => [a.to_owned(), ANY.to_owned()],
                _ => {
                    return Err(
                        place.error(format!("a contact has two parties, here are {}", names.len()))
                    );
                }
            };
            for name in between.iter().filter(|name| *name != ANY) {
                if !parties.contains(name) {
                    let near = nearest(name, parties.iter().map(String::as_str));
                    let hint = near.map(|n| format!(", did you mean `{n}`?")).unwrap_or_default();
                    let list = parties.join(", ");
                    return Err(place
                        .error(format!("nothing here is named `{name}`{hint} (known: {list})")));
                }
            }
            let restitution = restitution(&table)?;
            let ignore = table.flag("ignore")?.unwrap_or(false);
            table.finish()?;
            contacts.rules.push(Rule { between, restitution, ignore });
        }
        Ok(contacts)
    }

    /// Reads what a body or plane says of itself.
    pub(crate) fn read_own(&mut self, reader: &Reader<'_>, name: &str) -> Result<(), ProblemError> {
        if let Some(e) = restitution(reader)? {
            self.own.push((name.to_owned(), e));
            self.said = true;
        }
        Ok(())
    }

    /// Takes over what was read of bodies and planes before.
    pub(crate) fn with_own(mut self, other: Self) -> Self {
        self.own.extend(other.own);
        self.said |= other.said;
        self
    }

    /// The restitution between two parties.
    pub fn restitution(&self, a: &str, b: &str) -> f64 {
        let rule = self.rules.iter().rev().find(|r| r.restitution.is_some() && r.matches(a, b));
        if let Some(e) = rule.and_then(|r| r.restitution) {
            return e;
        }
        let own = self.own.iter().filter(|(name, _)| name == a || name == b).map(|(_, e)| *e);
        own.reduce(f64::min).or(self.default).unwrap_or(1.0)
    }

    /// The restitution of every body at every plane, in the order of the world's contacts.
    pub fn of_planes(&self, world: &RigidWorld) -> Vec<f64> {
        let bodies = world.bodies().iter().filter(|b| b.shape().is_some());
        bodies
            .flat_map(|b| world.plane_names().map(|plane| self.restitution(b.name(), plane)))
            .collect()
    }

    /// Whether two parties never touch.
    pub fn ignores(&self, a: &str, b: &str) -> bool {
        self.rules.iter().rev().find(|r| r.matches(a, b)).is_some_and(|r| r.ignore)
    }
}

/// `restitution` of a table; `friction` must be zero, since no method holds it.
fn restitution(reader: &Reader<'_>) -> Result<Option<f64>, ProblemError> {
    for key in ["friction", "tangential_restitution"] {
        if reader.number(key)?.is_some_and(|x| x != 0.0) {
            return Err(reader
                .place_of(key)
                .error("no method holds friction at contacts: leave it out, or set it to 0"));
        }
    }
    let e = reader.number("restitution")?;
    match e.filter(|e| !(0.0..=1.0).contains(e)) {
        None => Ok(e),
        Some(e) => {
            let message = format!("the restitution is {e}: it must lie between 0 and 1");
            Err(reader.place_of("restitution").error(message))
        }
    }
}

//! `restitution`, `friction` and `[[contact]]`: what happens where two parties touch, and which pairs never do.
//!
//! A pair's value is that of the last `[[contact]]` that names it and says it, else the smaller of what the two parties say of themselves,
//! else the default of the file, else that of a contact without loss and friction. The parties of a gap by formula are the gap itself
//! and whatever it keeps apart.

use nsm_formula::nearest;
use nsm_model::ContactLaw;
use nsm_vi::rigid::RigidWorld;

use super::ProblemError;
use super::reader::Reader;

/// Matches any name.
const ANY: &str = "*";

/// What a file says about contacts.
#[derive(Clone, Debug, Default)]
pub struct Contacts {
    default: Said,
    /// What parties say of themselves.
    own: Vec<(String, Said)>,
    rules: Vec<Rule>,
    /// Whether the file says anything about contacts at all.
    pub(crate) said: bool,
}

#[derive(Clone, Debug)]
struct Rule {
    between: [String; 2],
    said: Said,
    ignore: bool,
}

/// What a table says of a law.
#[derive(Clone, Copy, Debug, Default)]
struct Said {
    restitution: Option<f64>,
    tangential_restitution: Option<f64>,
    friction: Option<f64>,
}

impl Said {
    fn read(reader: &Reader<'_>) -> Result<Self, ProblemError> {
        let (friction, tangential_restitution) = read_friction(reader)?;
        let restitution = fraction(reader, "restitution", "restitution")?;
        Ok(Self { restitution, tangential_restitution, friction })
    }

    fn bits(&self) -> [Option<u64>; 3] {
        [self.restitution, self.tangential_restitution, self.friction].map(|x| x.map(f64::to_bits))
    }

    fn any(&self) -> bool {
        self.restitution.or(self.tangential_restitution).or(self.friction).is_some()
    }
}

/// Whether a name is what a pattern says; `*` stands for anything.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split(ANY);
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let mut last = "";
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        last = part;
    }
    // What follows the last `*` must stand at the end.
    rest.is_empty() || (pattern.contains(ANY) && name.ends_with(last))
}

impl Rule {
    fn matches(&self, a: &str, b: &str) -> bool {
        let [x, y] = &self.between;
        (fits(x, a) && fits(y, b)) || (fits(x, b) && fits(y, a))
    }
}

impl Contacts {
    /// Reads the defaults of the file and its `[[contact]]` tables; `parties` are the names that these may use.
    pub(crate) fn read(reader: &Reader<'_>, parties: &[String]) -> Result<Self, ProblemError> {
        let mut contacts = Self { default: Said::read(reader)?, ..Self::default() };
        let tables = reader.tables("contact")?;
        contacts.said = contacts.default.any() || !tables.is_empty();
        for table in tables {
            let names = table.require(
                "between",
                table.texts("between")?,
                "the names of the two parties; `*` stands for anything, as in `\"ball*\"`",
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
            for name in &between {
                if name != ANY && !parties.iter().any(|party| fits(name, party)) {
                    let near = nearest(name, parties.iter().map(String::as_str));
                    let hint = near.map(|n| format!(", did you mean `{n}`?")).unwrap_or_default();
                    let list = parties.join(", ");
                    return Err(place
                        .error(format!("nothing here is named `{name}`{hint} (known: {list})")));
                }
            }
            let said = Said::read(&table)?;
            let ignore = table.flag("ignore")?.unwrap_or(false);
            table.finish()?;
            contacts.rules.push(Rule { between, said, ignore });
        }
        Ok(contacts)
    }

    /// Reads what a body or plane says of itself.
    pub(crate) fn read_own(&mut self, reader: &Reader<'_>, name: &str) -> Result<(), ProblemError> {
        let said = Said::read(reader)?;
        if said.any() {
            self.own.push((name.to_owned(), said));
            self.said = true;
        }
        Ok(())
    }

    /// Reads what a joint says of its stops.
    pub(crate) fn read_stops(
        &mut self,
        table: &Reader<'_>,
        name: &str,
    ) -> Result<(), ProblemError> {
        if table.has("tangential_restitution") {
            let message = "stops of joints do not rub, and turn nothing back across them";
            return Err(table.place_of("tangential_restitution").error(message));
        }
        // `friction` is that of the joint itself.
        let restitution = fraction(table, "restitution", "restitution")?;
        if restitution.is_some() {
            self.own.push((name.to_owned(), Said { restitution, ..Said::default() }));
            self.said = true;
        }
        Ok(())
    }

    /// Whether the file says anything about contacts of bodies: what it says of stops alone, which are named here, does not count.
    pub(crate) fn of_bodies(&self, stops: &[&str]) -> bool {
        let stop = |name: &str| stops.contains(&name);
        self.default.any()
            || self.own.iter().any(|(name, _)| !stop(name))
            || self.rules.iter().any(|rule| !rule.between.iter().any(|name| stop(name)))
    }

    /// Takes over what was read of bodies and planes before.
    pub(crate) fn with_own(mut self, other: Self) -> Self {
        self.own.extend(other.own);
        self.said |= other.said;
        self
    }

    /// The law between two parties.
    pub fn law(&self, a: &str, b: &str) -> ContactLaw {
        let value = |key: fn(&Said) -> Option<f64>| {
            let mut rules = self.rules.iter().rev().filter(|r| r.matches(a, b));
            if let Some(value) = rules.find_map(|r| key(&r.said)) {
                return Some(value);
            }
            let own = self.own.iter().filter(|(name, _)| name == a || name == b);
            own.filter_map(|(_, said)| key(said)).reduce(f64::min).or(key(&self.default))
        };
        ContactLaw {
            restitution: value(|s| s.restitution).unwrap_or(1.0),
            tangential_restitution: value(|s| s.tangential_restitution).unwrap_or(0.0),
            friction: value(|s| s.friction).unwrap_or(0.0),
        }
    }

    /// The classes of parties that contacts treat alike, and the law between every two classes.
    pub(crate) fn classes(&self, parties: &[String]) -> (Vec<usize>, Vec<Option<ContactLaw>>) {
        let mut known = std::collections::HashMap::new();
        let mut first: Vec<&str> = Vec::new();
        let mut classes = Vec::with_capacity(parties.len());
        for name in parties {
            let sides = self.rules.iter().flat_map(|r| r.between.each_ref().map(|x| fits(x, name)));
            let own = self.own.iter().filter(|(party, _)| party == name);
            let signature = (
                sides.collect::<Vec<bool>>(),
                own.map(|(_, said)| said.bits()).collect::<Vec<_>>(),
            );
            let next = first.len();
            let class = *known.entry(signature).or_insert(next);
            if class == next {
                first.push(name);
            }
            classes.push(class);
        }
        let mut laws = Vec::with_capacity(first.len() * first.len());
        for a in &first {
            laws.extend(first.iter().map(|b| (!self.ignores(a, b)).then(|| self.law(a, b))));
        }
        (classes, laws)
    }

    /// The law of every body at every plane, in the order of the world's contacts.
    pub fn of_planes(&self, world: &RigidWorld) -> Vec<ContactLaw> {
        let bodies = world.bodies().iter().filter(|b| b.shape().is_some());
        bodies.flat_map(|b| world.plane_names().map(|plane| self.law(b.name(), plane))).collect()
    }

    /// Whether a `[[contact]]` speaks of a touch of the party with this name, and not of all.
    pub(crate) fn names(&self, name: &str) -> bool {
        self.rules.iter().any(|r| !r.ignore && r.between.iter().any(|x| x == name))
    }

    /// Whether two parties never touch.
    pub fn ignores(&self, a: &str, b: &str) -> bool {
        self.rules.iter().rev().find(|r| r.matches(a, b)).is_some_and(|r| r.ignore)
    }
}

/// `friction` and `tangential_restitution` of a table.
pub(crate) fn read_friction(
    reader: &Reader<'_>,
) -> Result<(Option<f64>, Option<f64>), ProblemError> {
    let friction = reader.number("friction")?;
    if let Some(mu) = friction.filter(|mu| !(*mu >= 0.0 && mu.is_finite())) {
        let message = format!("the friction is {mu}: it must be finite and not negative");
        return Err(reader.place_of("friction").error(message));
    }
    let tangential = fraction(reader, "tangential_restitution", "tangential restitution")?;
    Ok((friction, tangential))
}

fn fraction(
    reader: &Reader<'_>,
    key: &'static str,
    what: &str,
) -> Result<Option<f64>, ProblemError> {
    let e = reader.number(key)?;
    match e.filter(|e| !(0.0..=1.0).contains(e)) {
        None => Ok(e),
        Some(e) => {
            let message = format!("the {what} is {e}: it must lie between 0 and 1");
            Err(reader.place_of(key).error(message))
        }
    }
}

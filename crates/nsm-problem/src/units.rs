//! `units`: in what the numbers of a file are meant, for the axes of its plots. Nothing is converted.
//!
//! Length, mass and time are named, and the units of energies, momenta, forces and torques follow from them. What a formula
//! defines has a unit of its own where it is no length.

use nsm_formula::nearest;

use super::account::word;
use super::reader::{Entry, Reader};
use super::{ProblemError, Subject};

/// The units of a problem's numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Units {
    base: Base,
    /// Coordinates, gaps and invariants with units of their own.
    own: Vec<(String, String)>,
    /// Freedoms of joints and their stops, whose dimensions the joints tell.
    known: Vec<(String, Dimension)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Base {
    /// The file says nothing.
    #[default]
    Unnamed,
    Dimensionless,
    /// Length, mass, time.
    Named([String; 3]),
}

/// What is measured, as far as units go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// t.
    Time,
    /// Places, gaps between bodies.
    Length,
    /// Turns of joints.
    Angle,
    /// E.
    Energy,
    /// p.
    Momentum,
    /// L.
    AngularMomentum,
    /// Forces of joints.
    Force,
    /// Torques of joints.
    Torque,
    /// Rows of different kinds together, or what a formula defines and nobody names.
    Unknown,
}

const SI: [&str; 3] = ["m", "kg", "s"];
const KEYS: [&str; 3] = ["length", "mass", "time"];

impl Units {
    pub(crate) fn read(reader: &Reader<'_>, subject: &Subject) -> Result<Self, ProblemError> {
        if reader.is_text("units") {
            let words = [
                ("SI", Base::Named(SI.map(str::to_owned))),
                ("dimensionless", Base::Dimensionless),
            ];
            let choice = reader.choice("units", &[("SI", 0), ("dimensionless", 1)])?.unwrap_or(0);
            let known = freedoms(subject);
            return Ok(Self { base: words[choice].1.clone(), own: Vec::new(), known });
        }
        if !reader.has("units") {
            return Ok(Self::default());
        }
        let mut base = SI.map(str::to_owned);
        let mut own = Vec::new();
        for (name, entry, place) in reader.entries("units")? {
            let unit = match entry {
                Entry::Text(text) if !text.trim().is_empty() => text.trim().to_owned(),
                _ => return Err(place.error("a unit is a text, such as \"mm\" or \"rad\"")),
            };
            if let Some(k) = KEYS.iter().position(|key| *key == name) {
                base[k] = unit;
                continue;
            }
            let known = names(subject);
            if !known.contains(&name) {
                let near = nearest(&name, known.iter().map(String::as_str).chain(KEYS));
                let hint = near.map(|n| format!(", did you mean `{n}`?")).unwrap_or_default();
                return Err(place.error(format!(
                    "`{name}` is no coordinate, gap or invariant, and none of `length`, `mass`, `time`{hint}"
                )));
            }
            own.push((name, unit));
        }
        Ok(Self { base: Base::Named(base), own, known: freedoms(subject) })
    }

    /// The label of an axis on which `name` is drawn: with its own unit if the file gives it one, else with that of its dimension,
    /// which joints know for their freedoms and stops.
    pub fn axis(&self, label: &str, name: &str, dimension: Dimension) -> String {
        let known = self.known.iter().find(|(n, _)| n == name);
        let dimension = known.map_or(dimension, |(_, dimension)| *dimension);
        let own = self.own.iter().find(|(n, _)| n == name).map(|(_, unit)| unit.clone());
        match own.or_else(|| self.unit(dimension)) {
            Some(unit) if unit == "1" => format!("{label} (dimensionless)"),
            Some(unit) => format!("{label} [{unit}]"),
            None => label.to_owned(),
        }
    }

    /// The unit of a dimension, `1` for a number; none where the file does not tell.
    pub fn unit(&self, dimension: Dimension) -> Option<String> {
        let [length, mass, time] = match &self.base {
            Base::Unnamed => return None,
            Base::Dimensionless if dimension == Dimension::Angle => return Some("rad".to_owned()),
            Base::Dimensionless => return Some("1".to_owned()),
            Base::Named(base) => base,
        };
        let si = [length, mass, time].into_iter().eq(SI);
        Some(match dimension {
            Dimension::Unknown => return None,
            Dimension::Time => time.clone(),
            Dimension::Length => length.clone(),
            Dimension::Angle => "rad".to_owned(),
            Dimension::Energy if si => "J".to_owned(),
            Dimension::Force if si => "N".to_owned(),
            Dimension::Torque if si => "N m".to_owned(),
            Dimension::Energy | Dimension::Torque => format!("{mass} {length}²/{time}²"),
            Dimension::Momentum => format!("{mass} {length}/{time}"),
            Dimension::AngularMomentum => format!("{mass} {length}²/{time}"),
            Dimension::Force => format!("{mass} {length}/{time}²"),
        })
    }

    /// The units in words, for a description; empty where the file names none.
    pub fn words(&self) -> String {
        let own = self.own.iter().map(|(name, unit)| format!("{name} in {unit}"));
        match &self.base {
            Base::Unnamed => String::new(),
            Base::Dimensionless => "dimensionless".to_owned(),
            Base::Named(base) => base.iter().cloned().chain(own).collect::<Vec<_>>().join(", "),
        }
    }
}

/// What may have a unit of its own.
fn names(subject: &Subject) -> Vec<String> {
    match subject {
        Subject::Coordinates { system, .. } | Subject::Mechanism { system, .. } => {
            let invariants = system.invariants().iter().map(|i| i.name.clone());
            let (coordinates, gaps) = (system.names(), system.inequalities().names());
            coordinates.iter().chain(gaps).cloned().chain(invariants).collect()
        }
        Subject::Rigid { .. } => Vec::new(),
    }
}

/// The freedoms of joints as they are tracked, and their stops.
fn freedoms(subject: &Subject) -> Vec<(String, Dimension)> {
    let Subject::Mechanism { mechanism, .. } = subject else { return Vec::new() };
    let mut known = Vec::new();
    for (name, kind, _) in mechanism.joints() {
        for (k, freedom) in kind.freedom_names().iter().enumerate() {
            let slides = freedom.starts_with("travel");
            let dimension = if slides { Dimension::Length } else { Dimension::Angle };
            let several = kind.freedoms() > 1;
            let number = if several { format!("_{}", k + 1) } else { String::new() };
            known.push((format!("{}{number}", word(name)), dimension));
            let number = if several { format!(" {}", k + 1) } else { String::new() };
            known.extend(
                ["lower", "upper"].map(|end| (format!("{name}: {end}{number}"), dimension)),
            );
        }
    }
    known
}

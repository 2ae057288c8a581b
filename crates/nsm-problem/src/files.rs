//! The files that a run writes while it goes on, and how lines are written.

use std::fmt::Write;
use std::fs::File;
use std::io;
use std::path::PathBuf;

use nsm_model::ContactImpulse;

use super::lines::Lines;
use super::record::EventRecord;

/// The open files of a run.
pub(super) struct Files {
    pub(super) samples: Lines<File>,
    pub(super) events: Lines<File>,
    pub(super) reactions: Option<Lines<File>>,
    /// Opened at the first event in which constraints carry impulses.
    pub(super) impulses: Option<Lines<File>>,
    pub(super) impulses_path: PathBuf,
    /// Opened when the first contact rubs or is held.
    pub(super) contacts: Option<Lines<File>>,
    pub(super) contacts_path: PathBuf,
}

impl Files {
    /// Writes what contacts did that rub or are held, in an impact or over a step of size `step`.
    pub(super) fn rub(
        &mut self,
        (t, kind, step): (f64, &str, f64),
        contacts: impl Iterator<Item = (String, ContactImpulse)>,
    ) -> io::Result<()> {
        for (name, c) in contacts {
            let lines = match &mut self.contacts {
                Some(lines) => lines,
                place => {
                    let mut lines = Lines::new(File::create(&self.contacts_path)?);
                    lines.push(|line| line.push_str(CONTACT_COLUMNS))?;
                    place.insert(lines)
                }
            };
            lines.push(|line| {
                let [a, b] = c.tangential;
                let state = match (c.rubs, c.slips) {
                    (false, _) => "",
                    (true, true) => "slip",
                    (true, false) => "stick",
                };
                let _ = write!(
                    line,
                    "{t:?},{},{kind},{:?},{a:?},{b:?},{state},{:?}",
                    quoted(&name),
                    c.normal,
                    c.work
                );
                // An impact has no force.
                if kind == "held" {
                    let _ = write!(line, ",{:?},{:?}", c.normal / step, a.hypot(b) / step);
                } else {
                    line.push_str(",,");
                }
                line.push(',');
                match c.touch {
                    Some(touch) => numbers(&[touch.point, touch.impulse].concat(), line),
                    None => line.push_str(",,,,,"),
                }
            })?;
        }
        Ok(())
    }

    /// Writes the impulses that constraints carried in an event; `columns` are those of forces, beginning with `t`.
    pub(super) fn carry(&mut self, event: &EventRecord, columns: &[String]) -> io::Result<()> {
        if event.carried.is_empty() {
            return Ok(());
        }
        let lines = match &mut self.impulses {
            Some(lines) => lines,
            place => {
                let mut lines = Lines::new(File::create(&self.impulses_path)?);
                let heads: Vec<String> =
                    columns.iter().map(|c| quoted(&impulse_column(c))).collect();
                lines.push(|line| line.push_str(&heads.join(",")))?;
                place.insert(lines)
            }
        };
        lines.push(|line| {
            let _ = write!(line, "{:?},", event.t);
            numbers(&event.carried, line);
        })
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.samples.flush()?;
        self.events.flush()?;
        self.reactions.as_mut().map_or(Ok(()), Lines::flush)?;
        self.impulses.as_mut().map_or(Ok(()), Lines::flush)?;
        self.contacts.as_mut().map_or(Ok(()), Lines::flush)
    }
}

/// The name of an impulse after that of a force: `hinge.Jn` for `hinge.Fn`, and `hinge.Hn` for the angular impulse of `hinge.Tn`.
fn impulse_column(force: &str) -> String {
    match force.rsplit_once('.') {
        Some((joint, part @ ("Fn" | "Fa" | "Fb"))) => format!("{joint}.J{}", &part[1..]),
        Some((joint, part @ ("Tn" | "Ta" | "Tb"))) => format!("{joint}.H{}", &part[1..]),
        _ => force.to_owned(),
    }
}

/// Columns of `NAME-contacts.csv`.
const CONTACT_COLUMNS: &str = "t,contact,kind,normal_impulse,tangential_impulse_1,tangential_impulse_2,state,work,normal_force,tangential_force,x,y,z,impulse_x,impulse_y,impulse_z";

/// Numbers in full precision: the shortest decimals that read back as the same numbers.
pub(super) fn numbers(numbers: &[f64], line: &mut String) {
    separated(numbers, ',', line);
}

/// Most of what a run writes is numbers, and most of the time of writing went into their digits.
fn separated(numbers: &[f64], separator: char, line: &mut String) {
    let mut digits = zmij::Buffer::new();
    for (i, x) in numbers.iter().enumerate() {
        if i > 0 {
            line.push(separator);
        }
        line.push_str(digits.format(*x));
    }
}

/// An event in full precision; fields of several contacts are separated by semicolons.
pub(super) fn event_line(event: &EventRecord, line: &mut String) {
    let _ = write!(line, "{:?},{},", event.t, quoted(&event.contacts.join(";")));
    separated(&event.impulses, ';', line);
    let _ = write!(line, ",{:?}", event.energy_change);
    if !event.state.is_empty() {
        line.push(',');
        numbers(&event.state, line);
    }
}

/// A CSV field, in quotes where it needs them.
pub(super) fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

//! Families whose members are built one at a time.
//!
//! A family of $10^5$ members is a short text: the file, and for each path that varies a list of values or an evenly spaced range. A
//! [`Members`] keeps no more than that. Member $k$ is the file in which every list of the family is the one value $[v_k]$, read like any
//! other file; so it is, to the bit, the member that [`Problem::read`] would have built among all others.

use std::cell::RefCell;
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::read::text_of;
use super::reader::{Reader, Source};
use super::result::Setting;
use super::row::Cell;
use super::{Place, Problem, ProblemError, Run, Subject, family, parse_table};

/// A problem with the number of its runs, each of which is built when it is asked for.
#[derive(Debug)]
pub struct Members {
    file: Option<String>,
    text: String,
    model: Option<String>,
    groups: Vec<Group>,
    slots: Vec<Slot>,
}

/// A run of the file, or the family that it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Whether it varies.
    pub family: bool,
    /// The places of its members among all members of the file.
    pub members: Range<usize>,
    /// The paths that vary.
    pub varied: Vec<String>,
}

/// Where the values of a path stand in the text.
#[derive(Debug)]
struct Slot {
    run: usize,
    span: Range<usize>,
    values: Values,
}

#[derive(Debug)]
enum Values {
    List(Vec<Range<usize>>),
    Even(family::Spread),
}

/// Which member of which `[[run]]` a file is reduced to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Only {
    pub(crate) run: usize,
    pub(crate) member: usize,
}

impl Members {
    /// Reads a problem file, but none of its runs.
    ///
    /// # Errors
    /// If the file cannot be read, or lists of a family do not fit together. What is wrong with a member is said when it is built.
    pub fn read(path: &Path) -> Result<Self, ProblemError> {
        let file = path.display().to_string();
        let unreadable =
            |e| Place::default().error(format!("the file cannot be read: {e}")).in_file(&file);
        let text = text_of(path).map_err(unreadable)?;
        let model = Problem::read_model(path, &text).map_err(|e| e.in_file(&file))?;
        let members = Self::new(text, model).map_err(|e| e.in_file(&file))?;
        Ok(Self { file: Some(file), ..members })
    }

    /// The same from text.
    ///
    /// # Errors
    /// As for [`Members::read`].
    pub fn parse(text: &str) -> Result<Self, ProblemError> {
        Self::new(text.to_owned(), None)
    }

    fn new(text: String, model: Option<String>) -> Result<Self, ProblemError> {
        let mut members = Self { file: None, text, model, groups: Vec::new(), slots: Vec::new() };
        let found = members.find_slots()?;
        let mut first = 0;
        for (run, (name, count, varied)) in found.0.into_iter().enumerate() {
            let range = first..first + count.unwrap_or(1);
            first = range.end;
            members.groups.push(Group {
                name: name.unwrap_or_default(),
                family: count.is_some(),
                members: range,
                varied,
            });
            debug_assert_eq!(members.groups.len(), run + 1);
        }
        members.slots = found.1;
        for run in 0..members.groups.len() {
            if members.groups[run].name.is_empty() {
                // A run without a name is called after its method, which may be nsm's choice.
                let built = members.build(Only { run, member: 0 })?;
                let made = &built.runs[0];
                members.groups[run].name = made.family.clone().unwrap_or_else(|| made.name.clone());
            }
            let name = &members.groups[run].name;
            if members.groups[..run].iter().any(|g| g.name == *name) {
                let place = Place { key: format!("run[{run}].name"), line: None };
                return Err(place.error(format!("there are two runs named `{name}`")));
            }
        }
        Ok(members)
    }

    /// What varies where: name, number of members and paths of each run, and the places of the values.
    #[allow(clippy::type_complexity)] // used once, above
    fn find_slots(
        &self,
    ) -> Result<(Vec<(Option<String>, Option<usize>, Vec<String>)>, Vec<Slot>), ProblemError> {
        let (notes, mut slots, mut runs) = (RefCell::default(), Vec::new(), Vec::new());
        let source = Source { text: &self.text, notes: &notes, functions: &[] };
        let table = super::read::prepared(source, self.model.as_deref())?;
        let root = table.get_ref();
        let reader = Reader::new(source, root, "", 0);
        let written = family::written_ranges(root);
        let ranges = written
            .iter()
            .map(|text| parse_table(text).map(Spanned::into_inner))
            .collect::<Result<Vec<_>, _>>()?;
        for (run, table) in reader.tables("run")?.into_iter().enumerate() {
            let varied = family::read_varied(&table, root, &ranges)?;
            let count = (!varied.is_empty()).then(|| family::members(&varied));
            let name = table.text("name")?.map(str::to_owned);
            runs.push((name, count, varied.iter().map(|v| v.path().to_owned()).collect()));
            let Some(table) = table.table("vary")? else { continue };
            for (key, value) in table.raw() {
                let values = match value.get_ref() {
                    DeValue::Array(list) => Values::List(list.iter().map(Spanned::span).collect()),
                    DeValue::Table(range) => Values::Even(
                        family::spread(range)
                            .map_err(|message| table.place_of(key.get_ref()).error(message))?,
                    ),
                    _ => continue,
                };
                slots.push(Slot { run, span: value.span(), values });
            }
        }
        slots.sort_by_key(|slot| slot.span.start);
        Ok((runs, slots))
    }

    /// How many runs the file asks for, each member of a family counted.
    pub fn len(&self) -> usize {
        self.groups.last().map_or(0, |g| g.members.end)
    }

    /// Whether the file asks for no run.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The runs and families, in the order of the file.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The run or family that a member belongs to, and its place there.
    pub fn group_of(&self, member: usize) -> Option<(&Group, usize)> {
        let group = self.groups.iter().find(|g| g.members.contains(&member))?;
        Some((group, member - group.members.start))
    }

    /// A number that other files, and this one after a change, do not have: results of two files are not to be mixed.
    pub fn fingerprint(&self) -> u64 {
        // FNV-1a: the same on every machine, which the hashes of the standard library do not promise.
        let bytes = self.text.bytes().chain([0]).chain(self.model.iter().flat_map(|m| m.bytes()));
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    /// What a member has in place of the others', path by path.
    pub fn inputs(&self, member: usize) -> Vec<(String, Cell)> {
        let Some((run, group)) =
            self.groups.iter().enumerate().find(|(_, g)| g.members.contains(&member))
        else {
            return Vec::new();
        };
        let k = member - group.members.start;
        let slots = self.slots.iter().filter(|slot| slot.run == run);
        let cell = |slot: &Slot| match &slot.values {
            Values::Even(spread) => Cell::Number(spread.at(k)),
            Values::List(list) => {
                let text = list.get(k).map_or("", |span| &self.text[span.clone()]);
                let value = DeValue::parse(text).map(|v| Cell::from(family::setting(v.get_ref())));
                value.unwrap_or(Cell::Missing)
            }
        };
        group.varied.iter().cloned().zip(slots.map(cell)).collect()
    }

    /// The problem with one run, member `member` of all that the file asks for. Expectations and figures are left out: they speak of the
    /// whole file.
    ///
    /// # Errors
    /// As for a file that says so.
    pub fn problem(&self, member: usize) -> Result<Problem, ProblemError> {
        let run = self.groups.iter().position(|g| g.members.contains(&member));
        let run = run.ok_or_else(|| {
            let message = format!("there are {} runs, counted from 0: no {member}", self.len());
            Place::default().error(message)
        });
        let built = run.and_then(|run| {
            self.build(Only { run, member: member - self.groups[run].members.start })
        });
        built.map_err(|e| match &self.file {
            Some(file) => e.in_file(file),
            None => e,
        })
    }

    fn build(&self, only: Only) -> Result<Problem, ProblemError> {
        Problem::build(&self.written(only), self.model.as_deref(), Some(only), &[])
    }

    /// The text with one value in each list, and every line where it was.
    fn written(&self, only: Only) -> String {
        let mut text = String::new();
        let mut done = 0;
        for slot in &self.slots {
            text.push_str(&self.text[done..slot.span.start]);
            // Of other families any value will do: they are not read.
            let k = if slot.run == only.run { only.member } else { 0 };
            match &slot.values {
                Values::List(list) => {
                    let value = list.get(k).cloned().unwrap_or(slot.span.start..slot.span.start);
                    let lines = |part: &str| part.bytes().filter(|&b| b == b'\n').count();
                    let before = lines(&self.text[slot.span.start..value.start]);
                    let after = lines(&self.text[value.end..slot.span.end]);
                    text.push('[');
                    text.extend(std::iter::repeat_n('\n', before));
                    text.push_str(&self.text[value]);
                    text.extend(std::iter::repeat_n('\n', after));
                    text.push(']');
                }
                Values::Even(spread) => {
                    // Writing to a string cannot fail.
                    let _ = write!(text, "[{:?}]", spread.at(k));
                }
            }
            done = slot.span.end;
        }
        text.push_str(&self.text[done..]);
        text
    }
}

/// A file reduced to one member.
pub(crate) struct Alone<'t> {
    /// The file with the values of the member at their places.
    pub(crate) root: DeTable<'t>,
    only: Only,
    family: bool,
    varied: Vec<(String, Setting)>,
}

impl<'t> Alone<'t> {
    /// Of a text that [`Members::written`] has made: lists have one value.
    pub(crate) fn new(
        source: Source<'t>,
        root: &'t DeTable<'t>,
        only: Only,
    ) -> Result<Self, ProblemError> {
        let reader = Reader::new(source, root, "", 0);
        let tables = reader.tables("run")?;
        let varied = match tables.get(only.run) {
            Some(table) => family::read_varied(table, root, &[])?,
            None => Vec::new(),
        };
        let family = !varied.is_empty();
        let values = if family { family::values(&varied, 0) } else { Vec::new() };
        let member =
            if family { family::member(root, only.run, &varied, 0)? } else { root.clone() };
        Ok(Self { root: member, only, family, varied: values })
    }

    /// The run, named as it is in its family.
    pub(crate) fn run(&self, reader: &Reader<'_>, subject: &Subject) -> Result<Run, ProblemError> {
        let mut tables = reader.tables("run")?;
        if self.only.run >= tables.len() {
            return Err(reader.place().error("the file asks for no such run"));
        }
        let run = Run::read(&tables.swap_remove(self.only.run), subject)?;
        if !self.family {
            return Ok(run);
        }
        let name = format!("{}[{}]", run.name, self.only.member);
        Ok(Run { family: Some(run.name), name, varied: self.varied.clone(), ..run })
    }
}

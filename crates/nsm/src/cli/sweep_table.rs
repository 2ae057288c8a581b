//! The table of a sweep on disk: `NAME-sweep.csv`, or `NAME-sweep-I-of-N.csv` of a part, with the rows of members that are done, and beside it
//! a `.json` that says of which problem, family, part and columns they are.
//!
//! While a sweep goes on, rows stand in the order in which members were done, each written by one call. A row that a crash tore is cut off when
//! the sweep is resumed.

use std::collections::HashSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use nsm_problem::{Cell, Format, Group, Kind, Members, Row};
use serde_json::{Value, json};

use super::Error;

/// Part `index` of `of`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) index: usize,
    pub(super) of: usize,
}

impl Part {
    pub(super) const WHOLE: Self = Self { index: 1, of: 1 };

    /// Whether a member of the file is its.
    pub(super) fn takes(self, member: usize) -> bool {
        member % self.of == self.index - 1
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected I/N with I from 1 to N, as in 3/64".to_owned();
        let (index, of) = text.split_once('/').ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
        let part = Self { index: number(index)?, of: number(of)? };
        if (1..=part.of).contains(&part.index) { Ok(part) } else { Err(wrong()) }
    }
}

/// What a table is of.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Head {
    /// Which text the problem was.
    problem: String,
    /// The family.
    pub(super) run: String,
    /// How many members it has, in all parts.
    pub(super) members: usize,
    /// Its first member among all of the file.
    first: usize,
    pub(super) part: Part,
    pub(super) columns: Vec<(String, Kind)>,
}

impl Head {
    /// The columns are those of a row.
    pub(super) fn new(members: &Members, group: &Group, part: Part, row: &Row) -> Self {
        let kind =
            |(name, cell): &(String, Cell)| (name.clone(), cell.kind().unwrap_or(Kind::Number));
        Self {
            problem: format!("{:016x}", members.fingerprint()),
            run: group.name.clone(),
            members: group.members.len(),
            first: group.members.start,
            part,
            columns: row.0.iter().map(kind).collect(),
        }
    }

    /// The name of the table without its ending.
    pub(super) fn stem(&self) -> String {
        match self.part {
            Part::WHOLE => format!("{}-sweep", self.run),
            Part { index, of } => format!("{}-sweep-{index}-of-{of}", self.run),
        }
    }

    /// The same of all parts together.
    pub(super) fn whole(&self) -> Self {
        Self { part: Part::WHOLE, ..self.clone() }
    }

    /// Whether another part has rows of the same problem and columns.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        Self { part: self.part, ..other.clone() } == *self
    }

    /// Members of the family that are this part's.
    pub(super) fn share(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.members).filter(|k| self.part.takes(self.first + k))
    }

    fn json(&self) -> Value {
        let column = |(name, kind): &(String, Kind)| json!({ "name": name, "kind": kind.word() });
        json!({
            "problem": self.problem, "run": self.run, "members": self.members, "first": self.first,
            "part": self.part.index, "of": self.part.of,
            "columns": self.columns.iter().map(column).collect::<Vec<_>>(),
        })
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let count = |key: &str| usize::try_from(value.get(key)?.as_u64()?).ok();
        let word = |key: &str| value.get(key)?.as_str().map(str::to_owned);
        let column = |c: &Value| {
            let kind = c.get("kind")?.as_str()?;
            let kind = Kind::ALL.iter().find(|(word, _)| *word == kind)?.1;
            Some((c.get("name")?.as_str()?.to_owned(), kind))
        };
        Some(Self {
            problem: word("problem")?,
            run: word("run")?,
            members: count("members")?,
            first: count("first")?,
            part: Part { index: count("part")?, of: count("of").filter(|n| *n > 0)? },
            columns: value.get("columns")?.as_array()?.iter().map(column).collect::<Option<_>>()?,
        })
    }

    fn line(&self) -> String {
        let names: Vec<String> = self
            .columns
            .iter()
            .map(|(name, _)| {
                let mut field = String::new();
                Cell::Text(name.clone()).write(&mut field);
                field
            })
            .collect();
        names.join(",") + "\n"
    }
}

/// A table that is being written.
pub(super) struct Store<'a> {
    head: &'a Head,
    csv: PathBuf,
    /// Held open and locked: two processes must not write one table.
    _lock: File,
    file: Mutex<(File, Instant)>,
}

impl<'a> Store<'a> {
    /// Opens the table, or makes it.
    pub(super) fn open(
        folder: &Path,
        head: &'a Head,
        (resume, restart): (bool, bool),
    ) -> Result<Self, Error> {
        let csv = folder.join(format!("{}.csv", head.stem()));
        let about = folder.join(format!("{}.json", head.stem()));
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |e| Error::file(path, e)
        };
        let mut lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&about)
            .map_err(failed(&about))?;
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            return Err(Error::BusySweep { path: csv });
        }
        let mut text = String::new();
        lock.read_to_string(&mut text).map_err(failed(&about))?;
        let before = Head::parse(&text);
        let known = before.is_some() && csv.exists();
        if known && !resume && !restart {
            return Err(Error::StartedSweep { path: csv });
        }
        let fresh = !known || restart;
        if !fresh && before.as_ref() != Some(head) {
            return Err(Error::ChangedSweep { path: csv });
        }
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(fresh)
            .open(&csv)
            .map_err(failed(&csv))?;
        if fresh {
            lock.set_len(0).and_then(|()| lock.rewind()).map_err(failed(&about))?;
            let text = format!("{}\n", head.json());
            lock.write_all(text.as_bytes())
                .and_then(|()| lock.sync_data())
                .map_err(failed(&about))?;
        } else {
            let whole = whole_rows(&mut file).map_err(failed(&csv))?;
            file.set_len(whole).map_err(failed(&csv))?;
        }
        let end = file.seek(SeekFrom::End(0)).map_err(failed(&csv))?;
        if end == 0 {
            file.write_all(head.line().as_bytes()).map_err(failed(&csv))?;
        }
        Ok(Self { head, csv, _lock: lock, file: Mutex::new((file, Instant::now())) })
    }

    /// Members whose rows are there.
    pub(super) fn done(&self) -> Result<HashSet<usize>, Error> {
        Ok(index(&self.csv)?.into_iter().map(|(member, _)| member).collect())
    }

    /// Appends a row.
    pub(super) fn write(&self, row: &Row) -> Result<(), Error> {
        let unknown =
            row.0.iter().find(|(name, _)| !self.head.columns.iter().any(|c| c.0 == *name));
        if let Some((name, _)) = unknown {
            let why = format!(
                "a member has the result `{name}`, which the first one does not have: name the results to keep with `--columns`"
            );
            return Err(Error::Column { why });
        }
        let mut line = String::new();
        for (k, (name, _)) in self.head.columns.iter().enumerate() {
            if k > 0 {
                line.push(',');
            }
            row.cell(name).write(&mut line);
        }
        line.push('\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = file.0.write_all(line.as_bytes()).and_then(|()| {
            // Against a machine that goes down; a process that is killed loses nothing that was written.
            if file.1.elapsed() < Duration::from_secs(5) {
                return Ok(());
            }
            file.1 = Instant::now();
            file.0.sync_data()
        });
        written.map_err(|e| Error::file(&self.csv, e))
    }

    /// Puts the rows in order and makes the other tables.
    pub(super) fn finish(self, formats: &[Format]) -> Result<Vec<PathBuf>, Error> {
        drop(self.file);
        finish(&self.csv, std::slice::from_ref(&self.csv), self.head, formats)
    }
}

/// The length up to the end of the last whole row.
fn whole_rows(file: &mut File) -> std::io::Result<u64> {
    let mut reader = BufReader::new(&mut *file);
    let (mut whole, mut length, mut line) = (0, 0, Vec::new());
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line)?;
        length += read as u64;
        if line.last() == Some(&b'\n') {
            whole = length;
        }
        if read == 0 {
            return Ok(whole);
        }
    }
}

/// Member and place of every row of a table.
pub(super) fn index(csv: &Path) -> Result<Vec<(usize, std::ops::Range<u64>)>, Error> {
    let failed = |e| Error::file(csv, e);
    let mut reader = BufReader::new(File::open(csv).map_err(failed)?);
    let (mut rows, mut at, mut line) = (Vec::new(), 0, Vec::new());
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line).map_err(failed)? as u64;
        if read == 0 || line.last() != Some(&b'\n') {
            return Ok(rows);
        }
        let field = line.split(|b| *b == b',').next().unwrap_or_default();
        let member = std::str::from_utf8(field).ok().and_then(|text| text.parse().ok());
        if let Some(member) = member {
            rows.push((member, at..at + read));
        } else if at > 0 {
            let e =
                std::io::Error::other(format!("a row does not begin with a member at byte {at}"));
            return Err(Error::file(csv, e));
        }
        at += read;
    }
}

/// Rows to a group of a Parquet file.
#[cfg(feature = "parquet")]
const GROUP: usize = 4096;

/// Writes the rows of tables in order of members, whole or not at all, and the tables in other formats.
pub(super) fn finish(
    csv: &Path,
    parts: &[PathBuf],
    head: &Head,
    formats: &[Format],
) -> Result<Vec<PathBuf>, Error> {
    let mut rows = Vec::new();
    for (k, part) in parts.iter().enumerate() {
        rows.extend(index(part)?.into_iter().map(|(member, range)| (member, k, range)));
    }
    rows.sort_by_key(|row| row.0);
    let mut files = Vec::new();
    for part in parts {
        files.push(File::open(part).map_err(|e| Error::file(part, e))?);
    }
    let draft = csv.with_extension("csv.part");
    let failed = |e| Error::file(&draft, e);
    let mut out = BufWriter::new(File::create(&draft).map_err(failed)?);
    out.write_all(head.line().as_bytes()).map_err(failed)?;
    let mut line = Vec::new();
    for (_, k, range) in &rows {
        line.resize(usize::try_from(range.end - range.start).unwrap_or(0), 0);
        let file = &mut files[*k];
        file.seek(SeekFrom::Start(range.start))
            .and_then(|_| file.read_exact(&mut line))
            .map_err(|e| Error::file(&parts[*k], e))?;
        out.write_all(&line).map_err(failed)?;
    }
    out.into_inner().map_err(|e| failed(e.into_error()))?.sync_data().map_err(failed)?;
    std::fs::rename(&draft, csv).map_err(failed)?;
    let mut written = vec![csv.to_owned()];
    #[cfg(feature = "parquet")]
    if formats.contains(&Format::Parquet) {
        written.push(parquet(csv, head)?);
    }
    if !formats.contains(&Format::Csv) && !formats.is_empty() {
        // The rows are the memory of the sweep, too: they stay.
        written.rotate_left(1);
    }
    Ok(written)
}

#[cfg(feature = "parquet")]
fn parquet(csv: &Path, head: &Head) -> Result<PathBuf, Error> {
    let path = csv.with_extension("parquet");
    let draft = csv.with_extension("parquet.part");
    let failed = |e: std::io::Error| Error::file(&path, e);
    let other =
        |e: nsm_report::formats::parquet::Error| Error::file(&path, std::io::Error::other(e));
    let out = BufWriter::new(File::create(&draft).map_err(failed)?);
    let mut writer =
        nsm_report::formats::parquet::Writer::new(out, &head.columns).map_err(other)?;
    let lines = BufReader::new(File::open(csv).map_err(failed)?).lines();
    let mut group = Vec::new();
    for line in lines.skip(1) {
        let fields = fields(&line.map_err(failed)?);
        let cell = |(field, (_, kind)): (&String, &(String, Kind))| {
            Cell::read(field, *kind).unwrap_or(Cell::Missing)
        };
        group.push(fields.iter().zip(&head.columns).map(cell).collect::<Vec<_>>());
        if group.len() == GROUP {
            writer.group(&group).map_err(other)?;
            group.clear();
        }
    }
    if !group.is_empty() {
        writer.group(&group).map_err(other)?;
    }
    writer.finish().map_err(other)?;
    std::fs::rename(&draft, &path).map_err(failed)?;
    Ok(path)
}

/// The fields of a line of CSV.
#[cfg_attr(not(feature = "parquet"), allow(dead_code))]
fn fields(line: &str) -> Vec<String> {
    let (mut list, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => list.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    list.push(field);
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_disjoint_and_cover_all() {
        for of in 1..8 {
            let parts: Vec<Part> = (1..=of).map(|index| Part { index, of }).collect();
            assert!((0..100).all(|k| parts.iter().filter(|p| p.takes(k)).count() == 1));
        }
        assert_eq!("3/64".parse(), Ok(Part { index: 3, of: 64 }));
        for wrong in ["0/4", "5/4", "1", "1/0", "a/b", ""] {
            assert!(wrong.parse::<Part>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn quoted_fields_are_split_where_they_end() {
        assert_eq!(fields("1,\"a, \"\"b\"\"\",,2"), ["1", "a, \"b\"", "", "2"]);
    }
}

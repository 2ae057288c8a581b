//! `vary = { "start.q[0]" = […], step = […] }` of a `[[run]]`: one run becomes a family of them.
//!
//! A path leads to a key of the run itself or into the file, and each member is the file with its own value
//! written there. So whatever stands in a file can vary, and everything about a member is read, and
//! refused, as if it stood there.

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::reader::Reader;
use super::result::Setting;
use super::rewrite::inline;
use super::{Place, ProblemError};
use nsm_formula::nearest;

type Entry<'t> = (&'t Spanned<DeString<'t>>, &'t Spanned<DeValue<'t>>);

/// A path with one value for each member.
pub(crate) struct Varied<'t> {
    path: &'t str,
    key: &'t Spanned<DeString<'t>>,
    values: Vec<Spanned<DeValue<'t>>>,
    place: Place,
    /// Whether the path is one of the run's own keys.
    own: bool,
}

impl Varied<'_> {
    pub(crate) fn path(&self) -> &str {
        self.path
    }
}

/// Evenly spaced values, both ends included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    from: f64,
    to: f64,
    count: usize,
}

impl Spread {
    pub(crate) fn at(self, k: usize) -> f64 {
        self.from + (self.to - self.from) * k as f64 / (self.count.max(2) - 1) as f64
    }
}

/// What varies in a run, all lists of the same length; empty if nothing does.
///
/// `ranges` holds what [`written_ranges`] made of the same file.
pub(crate) fn read_varied<'t>(
    run: &Reader<'t>,
    root: &'t DeTable<'t>,
    ranges: &'t [DeTable<'t>],
) -> Result<Vec<Varied<'t>>, ProblemError> {
    let Some(table) = run.table("vary")? else { return Ok(Vec::new()) };
    let mut varied: Vec<Varied<'t>> = Vec::new();
    for (key, value) in table.raw() {
        let path = key.get_ref().as_ref();
        let place = table.place_of(path);
        let values = match value.get_ref() {
            DeValue::Array(list) => list.iter().cloned().collect(),
            DeValue::Table(range) => written(range, value, ranges, &place)?,
            _ => {
                return Err(place.error(
                    "give a list of values, or `{ from = …, to = …, count = … }`: one for each run of the family",
                ));
            }
        };
        if values.is_empty() {
            return Err(place.error("the list is empty: a family has at least one run"));
        }
        if let Some(first) = varied.first().filter(|first| first.values.len() != values.len()) {
            return Err(place.error(format!(
                "{} values, but `{}` has {}: lists of one family are of equal length",
                values.len(),
                first.path,
                first.values.len()
            )));
        }
        let own = resolve(path, run.raw(), root, &place)?;
        varied.push(Varied { path, key, values, place, own });
    }
    if varied.is_empty() {
        return Err(table.place().error("nothing varies: give a path with a list of values"));
    }
    Ok(varied)
}

/// How many members there are.
pub(crate) fn members(varied: &[Varied<'_>]) -> usize {
    varied.first().map_or(0, |v| v.values.len())
}

/// The paths with the values of a member.
pub(crate) fn values(varied: &[Varied<'_>], k: usize) -> Vec<(String, Setting)> {
    varied.iter().map(|v| (v.path.to_owned(), setting(v.values[k].get_ref()))).collect()
}

/// Numbers and lists of them; anything else as it is written.
pub(crate) fn setting(value: &DeValue<'_>) -> Setting {
    let number = |text: &str| Setting::Number(text.parse().unwrap_or(f64::NAN));
    match value {
        DeValue::Float(x) => number(x.as_str()),
        DeValue::Integer(x) => number(x.as_str()),
        DeValue::String(text) => Setting::Text(text.as_ref().to_owned()),
        DeValue::Array(list) => Setting::List(list.iter().map(|v| setting(v.get_ref())).collect()),
        other => Setting::Text(inline(other)),
    }
}

/// Whether members differ in more than the keys of their run.
pub(crate) fn reaches_file(varied: &[Varied<'_>]) -> bool {
    varied.iter().any(|v| !v.own)
}

/// The file with the values of a member written at their places, and without `vary`.
pub(crate) fn member<'t>(
    root: &DeTable<'t>,
    run: usize,
    varied: &[Varied<'t>],
    k: usize,
) -> Result<DeTable<'t>, ProblemError> {
    let mut root = root.clone();
    for v in varied {
        let value = v.values[k].clone();
        let broken = || v.place.error(format!("`{}` leads nowhere", v.path));
        if v.own {
            let table = run_table(&mut root, run).ok_or_else(broken)?;
            if !v.path.contains(['.', '[']) {
                table.insert(v.key.clone(), value);
                continue;
            }
            *find(table, v.path).ok_or_else(broken)? = value;
        } else {
            *find(&mut root, v.path).ok_or_else(broken)? = value;
        }
    }
    if let Some(table) = run_table(&mut root, run) {
        let key = table.keys().find(|key| key.get_ref() == "vary").cloned();
        if let Some(key) = key {
            table.remove(&key);
        }
    }
    Ok(root)
}

/// The lists that ranges stand for, as texts of TOML in the order in which they occur in the file.
pub(crate) fn written_ranges(root: &DeTable<'_>) -> Vec<String> {
    let runs = entry(root, "run").and_then(|(_, v)| v.get_ref().as_array());
    let tables = runs.into_iter().flat_map(|runs| runs.iter());
    let varied = tables
        .filter_map(|run| entry(run.get_ref().as_table()?, "vary")?.1.get_ref().as_table())
        .flat_map(|table| table.iter());
    varied
        .filter_map(|(_, v)| v.get_ref().as_table().map(|range| (v.span(), range)))
        .map(|(span, range)| match spread(range) {
            Ok(spread) => {
                let list: Vec<String> =
                    (0..spread.count).map(|k| format!("{:?}", spread.at(k))).collect();
                format!("\"{}\" = [{}]", span.start, list.join(", "))
            }
            Err(_) => format!("\"{}\" = []", span.start),
        })
        .collect()
}

/// The list written for a range, found by where the range stands.
fn written<'t>(
    range: &DeTable<'_>,
    value: &Spanned<DeValue<'_>>,
    ranges: &'t [DeTable<'t>],
    place: &Place,
) -> Result<Vec<Spanned<DeValue<'t>>>, ProblemError> {
    spread(range).map_err(|message| place.error(message))?;
    let start = value.span().start.to_string();
    let list = ranges.iter().find_map(|table| entry(table, &start));
    let list = list.and_then(|(_, v)| v.get_ref().as_array());
    // What is wrong with a value is said of the line where the range stands.
    let here = |v: &Spanned<DeValue<'t>>| Spanned::new(value.span(), v.get_ref().clone());
    Ok(list.map(|list| list.iter().map(here).collect()).unwrap_or_default())
}

/// `{ from = a, to = b, count = n }`: evenly spaced, both ends included.
pub(crate) fn spread(range: &DeTable<'_>) -> Result<Spread, String> {
    if let Some((key, _)) =
        range.iter().find(|(k, _)| !["from", "to", "count"].contains(&k.get_ref().as_ref()))
    {
        return Err(format!("unknown key `{}`; a range has from, to, count", key.get_ref()));
    }
    let number = |key: &str| {
        let value = entry(range, key).map(|(_, v)| v.get_ref());
        let parsed = match value {
            Some(DeValue::Float(x)) => x.as_str().parse::<f64>().ok(),
            Some(DeValue::Integer(x)) => x.as_str().parse::<f64>().ok(),
            _ => None,
        };
        parsed
            .filter(|x| x.is_finite())
            .ok_or_else(|| format!("`{key}` of the range is not a number"))
    };
    let count = number("count")?;
    if count.fract() != 0.0 || !(1.0..1e6).contains(&count) {
        return Err(format!("`count` of the range is {count}: a whole number from 1 to 999999"));
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a small whole number
    Ok(Spread { from: number("from")?, to: number("to")?, count: count as usize })
}

/// Whether a path is one of the run's own keys; if not, that it leads somewhere in the file.
fn resolve(
    path: &str,
    run: &DeTable<'_>,
    root: &DeTable<'_>,
    place: &Place,
) -> Result<bool, ProblemError> {
    let first = path.split(['.', '[']).next().unwrap_or(path);
    if ["name", "vary", "run", "expect"].contains(&first) {
        return Err(place.error(format!("`{first}` cannot vary")));
    }
    let in_file = entry(root, first).is_some();
    if !in_file && (first == path || entry(run, first).is_some()) {
        return if first == path || walk(run, path).is_ok() {
            // An option that the run does not have is found out when the run is read.
            Ok(true)
        } else {
            Err(place.error(walk(run, path).err().unwrap_or_default()))
        };
    }
    match walk(root, path) {
        Ok(()) => Ok(false),
        Err(why) => Err(place.error(why)),
    }
}

/// Follows a path; says where it ends, and what would be nearest.
fn walk(table: &DeTable<'_>, path: &str) -> Result<(), String> {
    let mut table = table.clone();
    if find(&mut table, path).is_some() {
        return Ok(());
    }
    let mut good = String::new();
    let mut rest = path;
    loop {
        let (step, after) = first_step(rest);
        let longer = format!("{good}{step}");
        if find(&mut table, &longer).is_none() {
            let known = choices(&mut table, &good);
            let word = step.trim_start_matches('.');
            let near = nearest(word, known.iter().map(String::as_str));
            let hint = match near {
                Some(near) if near.starts_with('[') || good.is_empty() => {
                    format!("did you mean `{good}{near}{after}`?")
                }
                Some(near) => format!("did you mean `{good}.{near}{after}`?"),
                None => format!("known there: {}", known.join(", ")),
            };
            return Err(format!("there is no `{longer}` in the file; {hint}"));
        }
        good = longer;
        rest = after;
        if rest.is_empty() {
            return Ok(());
        }
    }
}

/// The first key or index of a path, with the dot before it, and what follows.
fn first_step(path: &str) -> (&str, &str) {
    let skipped = usize::from(path.starts_with(['.', '[']));
    let end = path[skipped..].find(['.', '[']).map_or(path.len(), |i| i + skipped);
    path.split_at(end)
}

/// What may follow a path.
fn choices(table: &mut DeTable<'_>, path: &str) -> Vec<String> {
    let keys = |table: &DeTable<'_>| table.iter().map(|(k, _)| k.get_ref().to_string()).collect();
    if path.is_empty() {
        return keys(table);
    }
    match find(table, path).map(|v| v.get_ref()) {
        Some(DeValue::Table(table)) => keys(table),
        Some(DeValue::Array(list)) => {
            let named =
                |(i, v): (usize, &Spanned<DeValue<'_>>)| name_of(v).unwrap_or(format!("[{i}]"));
            list.iter().enumerate().map(named).collect()
        }
        _ => Vec::new(),
    }
}

fn name_of(value: &Spanned<DeValue<'_>>) -> Option<String> {
    let (_, name) = entry(value.get_ref().as_table()?, "name")?;
    name.get_ref().as_str().map(str::to_owned)
}

/// The value at a path such as `start.q[0]`, `body.cube.position[2]` or `body[0].mass`.
fn find<'a, 't>(table: &'a mut DeTable<'t>, path: &str) -> Option<&'a mut Spanned<DeValue<'t>>> {
    let (key, mut rest) = first_step(path);
    let mut value = table.iter_mut().find(|(k, _)| k.get_ref() == key).map(|(_, v)| v)?;
    while !rest.is_empty() {
        let (step, after) = first_step(rest);
        value = match (value.get_mut(), step.strip_prefix('[')) {
            (DeValue::Array(list), Some(index)) => {
                list.get_mut(index.strip_suffix(']')?.parse::<usize>().ok()?)?
            }
            (DeValue::Array(list), None) => {
                let name = step.strip_prefix('.')?;
                list.iter_mut().find(|v| name_of(v).as_deref() == Some(name))?
            }
            (DeValue::Table(table), None) => {
                let key = step.strip_prefix('.')?;
                table.iter_mut().find(|(k, _)| k.get_ref() == key).map(|(_, v)| v)?
            }
            _ => return None,
        };
        rest = after;
    }
    Some(value)
}

fn run_table<'a, 't>(root: &'a mut DeTable<'t>, run: usize) -> Option<&'a mut DeTable<'t>> {
    match find(root, &format!("run[{run}]"))?.get_mut() {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

fn entry<'a>(table: &'a DeTable<'a>, key: &str) -> Option<Entry<'a>> {
    table.iter().find(|(k, _)| k.get_ref() == key)
}

//! `[[figure]]`: results of runs against each other, such as errors against steps.

use super::across::{across, all_made, named_runs, names};
use super::reader::{Entry, Reader};
use super::{Place, ProblemError, Run, RunResult};
use crate::{Axes, Curve};
use nsm_formula::Quantity;

/// A panel to be drawn from results.
#[derive(Clone, Debug)]
pub struct Panel {
    /// How it is drawn.
    pub axes: Axes,
    labels: [String; 2],
    /// One abscissa for all curves, or one for each.
    x: Vec<Quantity>,
    /// Legends and ordinates.
    y: Vec<(String, Quantity)>,
    named: Vec<String>,
    place: Place,
}

impl Panel {
    pub(crate) fn read(reader: &Reader<'_>, runs: &[Run]) -> Result<Self, ProblemError> {
        let known = names(runs);
        let parse =
            |text: &str, place: &Place| Quantity::new(text, &known).map_err(|e| place.formula(&e));
        let what = "a list of results such as `runs.NAME[*].step`";
        let mut y = Vec::new();
        if reader.is_text("y") {
            let text = reader.require("y", reader.text("y")?, what)?;
            y.push((text.to_owned(), parse(text, &reader.place_of("y"))?));
        } else {
            for (name, entry, place) in reader.entries("y")? {
                let Entry::Text(text) = entry else { return Err(place.error(what)) };
                y.push((name, parse(text, &place)?));
            }
        }
        let Some((first, _)) = y.first() else {
            return Err(reader.place().error(format!("`y` is missing: {what}, or named ones")));
        };
        let (x_text, x) = if reader.has("x") && !reader.is_text("x") {
            let mut each: Vec<(String, Quantity)> = Vec::new();
            for (name, entry, place) in reader.entries("x")? {
                let Entry::Text(text) = entry else { return Err(place.error(what)) };
                each.push((name, parse(text, &place)?));
            }
            let of = |name: &String| each.iter().find(|(n, _)| n == name).map(|(_, q)| q.clone());
            let missing =
                |name: &String| reader.place_of("x").error(format!("`x` has no list for `{name}`"));
            let lists: Result<Vec<_>, _> =
                y.iter().map(|(name, _)| of(name).ok_or_else(|| missing(name))).collect();
            if let Some((name, _)) = each.iter().find(|(n, _)| y.iter().all(|(m, _)| n != m)) {
                return Err(reader.place_of("x").error(format!("`y` has no curve `{name}`")));
            }
            ("x", lists?)
        } else {
            let text = reader.require("x", reader.text("x")?, what)?;
            (text, vec![parse(text, &reader.place_of("x"))?])
        };
        let label = |given: Option<&str>, text: &str| given.unwrap_or(text).to_owned();
        let labels =
            [label(reader.text("x_label")?, x_text), label(reader.text("y_label")?, first)];
        let axes = [
            ("auto", Axes::Auto),
            ("linear", Axes::Linear),
            ("logarithmic", Axes::Logarithmic),
            ("double-logarithmic", Axes::DoubleLogarithmic),
            ("equal", Axes::Equal),
        ];
        let axes = reader.choice("axes", &axes)?.unwrap_or_default();
        let place = reader.place().clone();
        let quantities = x.iter().chain(y.iter().map(|(_, q)| q));
        let paths: Vec<&str> = quantities.flat_map(Quantity::names).collect();
        if let Some(path) = paths.iter().find(|path| !path.starts_with("runs.")) {
            return Err(place.error(format!("of which run is `{path}`? Say `runs.NAME.{path}`")));
        }
        let named = named_runs(&paths, runs, &place)?;
        reader.finish()?;
        Ok(Self { axes, labels, x, y, named, place })
    }

    /// The curves; none if a run that they need was not made.
    pub(crate) fn curves(
        &self,
        runs: &[Run],
        results: &[&RunResult],
    ) -> Result<Vec<Curve>, ProblemError> {
        if !all_made(&self.named, runs, results) {
            return Ok(Vec::new());
        }
        let known = names(runs);
        let list = |quantity: &Quantity| {
            let lookup = |name: &str| across(&name["runs.".len()..], &known, results);
            quantity.list(&lookup).map_err(|e| self.place.formula(&e))
        };
        let [x_label, y_label] = &self.labels;
        let mut curves = Vec::new();
        for (k, (name, quantity)) in self.y.iter().enumerate() {
            let (x, y) = (list(&self.x[k.min(self.x.len() - 1)])?, list(quantity)?);
            if y.len() != x.len() {
                let message = format!("`{name}`: {} numbers against {}", y.len(), x.len());
                return Err(self.place.error(message));
            }
            let points = x.iter().zip(y).map(|(&x, y)| [x, y]).collect();
            let (x, y) = (x_label.clone(), y_label.clone());
            curves.push(Curve { name: name.clone(), x, y, points });
        }
        Ok(curves)
    }
}

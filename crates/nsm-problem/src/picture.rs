//! `[picture]`: how a system in coordinates looks, where the names of its coordinates do not tell, and whether forces are drawn.

use nsm_constraints::Field;

use super::ProblemError;
use super::reader::Reader;
use nsm_formula::{FormulaField, Scope};

/// What to draw of a system in coordinates.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// Points, each by two or three formulas of the coordinates; empty: from the names of the coordinates.
    pub points: Vec<Vec<FormulaField>>,
    /// Rods between points.
    pub links: Vec<[usize; 2]>,
    /// Springs between points.
    pub springs: Vec<[usize; 2]>,
    /// Radius of each point, or one for all; empty: a dot.
    pub radius: Vec<f64>,
    /// Whether the forces of contacts are drawn.
    pub forces: bool,
    /// Curves that do not move: where these formulas of `x` and `y` vanish.
    pub curves: Vec<FormulaField>,
}

impl Picture {
    /// The picture of bodies, whose shapes are known: only forces are asked for.
    pub(crate) fn of_bodies(reader: &Reader<'_>) -> Result<Self, ProblemError> {
        for key in ["points", "links", "springs", "radius", "curves"] {
            if reader.has(key) {
                return Err(reader.place_of(key).error(
                    "bodies are drawn by their shapes: `[picture]` takes `forces = true` here, and this is for `[system]`",
                ));
            }
        }
        let forces = reader.flag("forces")?.unwrap_or(false);
        reader.finish()?;
        Ok(Self { forces, ..Self::default() })
    }

    pub(crate) fn read(reader: &Reader<'_>, scope: &Scope) -> Result<Self, ProblemError> {
        let mut points = Vec::new();
        for (i, row) in reader.text_matrix("points")?.into_iter().enumerate() {
            if !(2..=3).contains(&row.len()) {
                let message = format!("point {i} has {} formulas: give two or three", row.len());
                return Err(reader.place_of("points").error(message));
            }
            let formulas: Result<Vec<_>, _> =
                row.iter().map(|t| FormulaField::new(t, scope)).collect();
            points.push(formulas.map_err(|e| reader.place_of("points").formula(&e))?);
        }
        let most = if points.is_empty() { usize::MAX } else { points.len() };
        let radius = if reader.is_number("radius") {
            reader.positive("radius")?.into_iter().collect()
        } else {
            reader.numbers("radius")?.unwrap_or_default()
        };
        let plane = Scope::new(&["x".into(), "y".into()], scope.parameters())
            .or_else(|_| Scope::new(&["x".into(), "y".into()], &[]))
            .map_err(|e| reader.place_of("curves").formula(&e))?;
        let mut curves = Vec::new();
        for text in reader.texts("curves")?.unwrap_or_default() {
            let field = FormulaField::new(text, &plane)
                .map_err(|e| reader.place_of("curves").formula(&e))?;
            if field.is_rheonomic() {
                return Err(reader.place_of("curves").error("these curves do not move: no `t`"));
            }
            curves.push(field);
        }
        let picture = Self {
            points,
            links: pairs(reader, "links", most)?,
            springs: pairs(reader, "springs", most)?,
            radius,
            forces: false,
            curves,
        };
        if reader.has("forces") {
            return Err(reader.place_of("forces").error(
                "gaps by formula have no place to draw a force at: forces are drawn for `[[body]]`",
            ));
        }
        reader.finish()?;
        Ok(picture)
    }
}

/// Pairs of indices of points.
fn pairs(
    reader: &Reader<'_>,
    key: &'static str,
    most: usize,
) -> Result<Vec<[usize; 2]>, ProblemError> {
    let index = |x: &f64| {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked on this line
        (x.fract() == 0.0 && (0.0..1e6).contains(x)).then_some(*x as usize).filter(|&i| i < most)
    };
    let pair = |row: &Vec<f64>| match row[..] {
        [a, b] => Some([index(&a)?, index(&b)?]),
        _ => None,
    };
    let rows = reader.matrix(key)?.unwrap_or_default();
    let pairs: Option<Vec<_>> = rows.iter().map(pair).collect();
    let wrong =
        || reader.place_of(key).error("expected pairs of points, counted from 0, as in `[[0, 1]]`");
    pairs.ok_or_else(wrong)
}

//! Which coordinates are places: `x1` and `y1` are a point in the plane, a single `y` a height.

/// A point by the coordinates along its axes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    /// What the coordinates have in common.
    pub(super) name: String,
    /// Index of the coordinate along x, y and z.
    pub(super) along: [Option<usize>; 3],
}

/// The points that the names of the coordinates tell of, in the order of their first coordinates.
pub(super) fn places(names: &[String]) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let Some((axis, stem)) = axis(name) else { continue };
        let known = places.iter().position(|p| p.name == stem && p.along[axis].is_none());
        let place = known.unwrap_or_else(|| {
            places.push(Place { name: stem.to_owned(), along: [None; 3] });
            places.len() - 1
        });
        places[place].along[axis] = Some(i);
    }
    for place in &mut places {
        let parts: Vec<&str> = place.along.iter().flatten().map(|&i| names[i].as_str()).collect();
        place.name = parts.join(", ");
    }
    places
}

/// `y1` is the axis 1 of what is called `1`.
fn axis(name: &str) -> Option<(usize, &str)> {
    let axis = ["x", "y", "z"].iter().position(|a| name.starts_with(a))?;
    let stem = &name[1..];
    let plain =
        stem.is_empty() || stem.starts_with('_') || stem.chars().all(|c| c.is_ascii_digit());
    plain.then_some((axis, stem))
}

//! Blocks of coordinates: sets of them that fit a system.

use crate::ConstraintError;

/// Refuses a block that is not a set of coordinates of a system with `dimension` of them.
///
/// # Errors
/// Names the coordinate that is unknown or repeated; `name` says whose block it is.
pub fn check_coordinates(
    name: &str,
    block: &[usize],
    dimension: usize,
) -> Result<(), ConstraintError> {
    if let Some(&coordinate) = block.iter().find(|&&c| c >= dimension) {
        return Err(ConstraintError::UnknownCoordinate {
            name: name.to_owned(),
            coordinate,
            dimension,
        });
    }
    check_distinct(block)
}

/// Refuses a block that lists a coordinate twice.
pub(crate) fn check_distinct(block: &[usize]) -> Result<(), ConstraintError> {
    for (i, &coordinate) in block.iter().enumerate() {
        if block[..i].contains(&coordinate) {
            return Err(ConstraintError::RepeatedCoordinate { coordinate });
        }
    }
    Ok(())
}

/// Refuses a block that is too large for automatic differentiation or lists a coordinate twice.
///
/// # Errors
/// [`ConstraintError::BlockTooLarge`] or [`ConstraintError::RepeatedCoordinate`].
pub fn check_block(block: &[usize]) -> Result<(), ConstraintError> {
    let limit = crate::MAX_BLOCK;
    if block.len() > limit {
        return Err(ConstraintError::BlockTooLarge { size: block.len(), limit });
    }
    check_distinct(block)
}

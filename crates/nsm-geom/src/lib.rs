//! Geometry of rigid bodies: rotations and rigid motions with their tangent maps, convex shapes by
//! support function, signed distance functions and their algebra, distances between bodies with
//! derivatives, and mass properties. Knows nothing of time.

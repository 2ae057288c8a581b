//! Smooth scalar functions of a few coordinates with exact first and second derivatives: potentials,
//! equality and inequality constraints, joints; cones, active sets and null spaces built from them.

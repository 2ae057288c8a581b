//! Curves, and how a panel of them is drawn: what a figure is before it becomes a picture.

/// A named curve for the figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Legend.
    pub name: String,
    /// Label of the abscissa.
    pub x: String,
    /// Label of the ordinate; curves with the same labels share a panel.
    pub y: String,
    /// The points, at most a few hundred.
    pub points: Vec<[f64; 2]>,
}

/// How the panel of some curves is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Axes {
    /// Linear; a positive ordinate over many decades is drawn on a logarithmic axis.
    #[default]
    Auto,
    /// Both linear, whatever the range.
    Linear,
    /// Logarithmic ordinate.
    Logarithmic,
    /// Both logarithmic: convergence, work and precision.
    DoubleLogarithmic,
    /// Both linear with the same scale: trajectories.
    Equal,
}

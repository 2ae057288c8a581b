//! How what came out relates to what a paper states.

/// How the outcome relates to what the paper states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// We obtain what the paper states.
    Reproduced,
    /// Data are missing in the paper; with our stated choice we obtain what it states.
    Chosen,
    /// We obtain something else, and the note says why.
    Differs,
    /// The paper's statement is in error; the scenario shows the right one.
    Erratum,
}

impl Status {
    /// One word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Chosen => "chosen",
            Self::Differs => "differs",
            Self::Erratum => "erratum",
        }
    }
}

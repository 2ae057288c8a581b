//! How what came out relates to what a paper states.

/// How the outcome relates to what the paper states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The paper states it, and we obtain it.
    Reproduced,
    /// The paper shows it and prints no number; an independent computation or a closed form agrees with ours.
    Verified,
    /// Data are missing in the paper; with our stated choice we obtain what it states.
    Chosen,
    /// We obtain something else, and the note says why.
    Differs,
    /// The paper's statement is in error; the scenario shows the right one.
    Erratum,
    /// Not in the paper.
    Beyond,
}

impl Status {
    /// All of them, in the order in which they are counted.
    pub const ALL: [Self; 6] = [
        Self::Reproduced,
        Self::Verified,
        Self::Chosen,
        Self::Differs,
        Self::Erratum,
        Self::Beyond,
    ];

    /// One word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Verified => "verified",
            Self::Chosen => "chosen",
            Self::Differs => "differs",
            Self::Erratum => "erratum",
            Self::Beyond => "beyond",
        }
    }
}

/// Where the number comes from that a check expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The paper states it.
    Paper,
    /// A closed form: kinematics, statics, an exact solution.
    ClosedForm,
    /// A law of the mechanics or of the method: conservation, symmetry, order of convergence, complementarity.
    Law,
    /// An independent computation: another code, another method, another formulation.
    Independent,
    /// An earlier run of nsm: a check against regression, and no claim.
    OwnRun,
}

impl Origin {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Paper, Self::ClosedForm, Self::Law, Self::Independent, Self::OwnRun];

    /// As it stands in files and tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::ClosedForm => "closed form",
            Self::Law => "law",
            Self::Independent => "independent code",
            Self::OwnRun => "own run",
        }
    }

    /// What a status says of it where nothing else does: statements of a paper come from the paper.
    pub fn of(status: Status) -> Option<Self> {
        match status {
            Status::Reproduced | Status::Chosen | Status::Differs | Status::Erratum => {
                Some(Self::Paper)
            }
            Status::Verified | Status::Beyond => None,
        }
    }
}

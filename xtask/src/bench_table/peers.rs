//! What others need for the same cases, and what we set out to reach. Measured once on one machine of the
//! same class (2 cores): facts to compare with, not part of a run.

/// The figures of the peers for the benches of one crate.
pub(super) struct Peers {
    package: &'static str,
    pub(super) names: &'static [&'static str],
    rows: &'static [Row],
}

/// One case: family and size as the benches name them.
pub(super) struct Row {
    case: &'static str,
    /// Our target.
    pub(super) target_ns: Option<f64>,
    /// By peer.
    pub(super) figures: &'static [Figure],
}

/// A peer's time; the note says how much of the case it solved, or how well.
#[derive(Clone, Copy)]
pub(super) struct Figure {
    pub(super) ns: Option<f64>,
    pub(super) note: &'static str,
}

impl Peers {
    /// The row for a case. Benches may put more words before it: `lcp spd 200` is `spd 200`.
    pub(super) fn row(&self, case: &str) -> Option<&Row> {
        self.rows.iter().find(|row| {
            case.strip_suffix(row.case)
                .is_some_and(|before| before.is_empty() || before.ends_with(' '))
        })
    }
}

/// The tables for a package's benches; there may be several, with other peers each.
pub(super) fn of(package: &str) -> Vec<&'static Peers> {
    TABLES.iter().filter(|table| table.package == package).collect()
}

const fn ms(time: f64) -> Figure {
    Figure { ns: Some(time * 1e6), note: "" }
}

const fn ms_of(time: f64, solved: &'static str) -> Figure {
    Figure { ns: Some(time * 1e6), note: solved }
}

const fn us(time: f64, error: &'static str) -> Figure {
    Figure { ns: Some(time * 1e3), note: error }
}

const fn only(solved: &'static str) -> Figure {
    Figure { ns: None, note: solved }
}

const NONE: Figure = only("–");

const fn row(case: &'static str, target_ns: Option<f64>, figures: &'static [Figure]) -> Row {
    Row { case, target_ns, figures }
}

const TABLES: &[Peers] = &[
    // A problem solved once. Ahead of the next table, whose rows end in the same words.
    Peers {
        package: "nsm-solvers",
        names: &["Siconos, its best method"],
        rows: &[
            row("first call spd 10", Some(2.8e3), &[ms(0.0028)]),
            row("first call spd 50", Some(79e3), &[ms(0.079)]),
            row("first call pile 50", Some(89e3), &[ms(0.089)]),
            row("first call tobenna 40", Some(0.41e6), &[ms(0.41)]),
        ],
    },
    // Complementarity problems: median time; solved of tried where not all were.
    Peers {
        package: "nsm-solvers",
        names: &[
            "Siconos Lemke",
            "Siconos Newton-FB",
            "Siconos Newton-minFB",
            "PGS",
            "Drake UnrevisedLemke",
            "Clarabel (QP, 1e-8)",
        ],
        rows: &[
            row(
                "spd 10",
                Some(2e3),
                &[ms(0.0021), ms(0.015), ms(0.0074), ms(0.0084), ms(0.0090), ms(0.074)],
            ),
            row(
                "spd 50",
                None,
                &[ms(0.090), ms(0.17), ms(0.090), ms(0.091), ms(0.13), ms_of(1.3, "18/20")],
            ),
            row(
                "spd 200",
                Some(0.7e6),
                &[ms(5.9), ms(3.0), ms(1.4), ms(1.3), ms(5.3), ms_of(37.0, "5/10")],
            ),
            row(
                "spd 1000",
                Some(25e6),
                &[ms(758.0), ms(335.0), ms(200.0), ms(52.0), NONE, only("0/3")],
            ),
            row(
                "chain 200",
                None,
                &[ms(11.0), ms(7.5), ms(2.8), only("3/5"), ms_of(40.0, "4/5"), ms(0.63)],
            ),
            row(
                "chain 2000",
                Some(2e6),
                &[only("timeout"), ms(5710.0), ms(3530.0), only("timeout"), NONE, ms(8.2)],
            ),
            row(
                "stack 48",
                None,
                &[only("8/10"), only("7/10"), only("9/10"), ms(2.3), ms(0.45), only("9/10")],
            ),
            row(
                "stack 200",
                None,
                &[only("3/5"), only("2/5"), only("4/5"), ms(645.0), ms(38.0), ms(1.2)],
            ),
            // The peers' counts are over the three sizes together.
            row(
                "stack 500",
                None,
                &[only("0/6"), only("1/6"), only("2/6"), only("0/6"), NONE, ms(3.4)],
            ),
            row(
                "stack 1000",
                Some(8e6),
                &[only("0/6"), only("1/6"), only("2/6"), only("0/6"), NONE, ms(7.4)],
            ),
            row(
                "stack 2000",
                None,
                &[only("0/6"), only("1/6"), only("2/6"), only("0/6"), NONE, ms(18.0)],
            ),
            row(
                "pile 200",
                Some(2e6),
                &[ms(10.0), ms(4.8), ms(3.2), ms(6.8), ms(7.5), only("0/5")],
            ),
            row(
                "pile 1000",
                None,
                &[ms(1390.0), ms(899.0), ms(1580.0), ms(8620.0), NONE, only("0/2")],
            ),
        ],
    },
    // Steps with contact, h = 1e-3, e = 1: time per step; relative energy change.
    Peers {
        package: "nsm-vi",
        names: &[
            "Siconos Moreau–Jean",
            "rapier3d-f64",
            "MuJoCo",
            "Exudyn α",
            "Exudyn Verlet",
            "C floor",
        ],
        rows: &[
            row(
                "ball",
                Some(50.0),
                &[
                    us(3.3, "8e-15"),
                    us(2.7, "−4.7 %"),
                    us(2.9, "+1.7 %"),
                    us(4.0, ""),
                    us(1.6, ""),
                    us(0.0023, ""),
                ],
            ),
            row(
                "chain 5",
                Some(0.2e3),
                &[
                    us(12.0, "1e-16"),
                    us(20.0, "−83 %"),
                    us(6.0, "+379 %"),
                    us(17.0, ""),
                    us(5.7, ""),
                    us(0.03, ""),
                ],
            ),
            row(
                "chain 50",
                Some(2e3),
                &[
                    us(128.0, "2e-15"),
                    us(91.0, "−92 %"),
                    us(47.0, ""),
                    us(183.0, ""),
                    us(24.0, ""),
                    us(0.25, ""),
                ],
            ),
            row(
                "chain 500",
                Some(20e3),
                &[
                    us(2277.0, "2e-16"),
                    us(994.0, "−66 %"),
                    us(337.0, "+40 %"),
                    us(2502.0, ""),
                    us(373.0, ""),
                    us(1.9, ""),
                ],
            ),
            row(
                "box on plane",
                None,
                &[us(17.0, "+8.8 %"), us(2.7, "−2.9 %"), us(2.4, "+2.9 %"), NONE, NONE, NONE],
            ),
            row(
                "pile 100",
                None,
                &[
                    us(5168.0, "+1.3 %"),
                    us(425.0, "−46 %"),
                    us(235.0, "+41 %"),
                    us(627.0, ""),
                    us(150.0, ""),
                    NONE,
                ],
            ),
            row(
                "pile 1000",
                None,
                &[
                    us(52224.0, ""),
                    us(7016.0, ""),
                    us(2181.0, ""),
                    us(5546.0, ""),
                    us(1617.0, ""),
                    NONE,
                ],
            ),
        ],
    },
    // Pendulum chains of N links, h = 1e-3: time per step; link error, energy error.
    Peers {
        package: "nsm-vi",
        names: &[
            "Exudyn generalized-α index 3",
            "Exudyn index 2",
            "trep (variational)",
            "MuJoCo RK4 (minimal coordinates)",
            "RATTLE floor",
        ],
        rows: &[
            row(
                "pendulum 5",
                Some(1e3),
                &[
                    us(41.0, "9e-16, 1.8e-4"),
                    us(27.0, "1.5e-4, 1.1e-3"),
                    us(62.0, "1e-9, 2.2e-4"),
                    us(10.5, "–, 3.7e-7"),
                    us(0.29, ""),
                ],
            ),
            row(
                "pendulum 20",
                Some(4e3),
                &[
                    only("fails at step 3250"),
                    us(149.0, "2.4e-3, 4.8e-3"),
                    us(892.0, ""),
                    us(29.0, "–, 2.4e-3"),
                    us(1.3, ""),
                ],
            ),
            row(
                "pendulum 100",
                Some(25e3),
                &[
                    us(2266.0, "2e-14, 1.6e-3"),
                    us(798.0, "2.3e-2, 1.2e-3"),
                    only("did not finish"),
                    us(502.0, "–, 5.9e-5"),
                    us(8.1, ""),
                ],
            ),
        ],
    },
    // Friction problems: targets alone. The figures of a peer that are at hand were taken with other tolerances and budgets.
    Peers {
        package: "nsm-solvers",
        names: &[],
        rows: &[
            row("one contact sticks", Some(2e3), &[]),
            row("one contact slips", Some(2e3), &[]),
            row("one contact parts", Some(2e3), &[]),
            row("row of balls 100", Some(5e6), &[]),
            row("square of balls 96", Some(5e6), &[]),
            row("tower of cubes 100", Some(5e6), &[]),
        ],
    },
    // The three-bar swing: nobody else was tried.
    Peers { package: "nsm-vi", names: &[], rows: &[row("swing 20", Some(300e3), &[])] },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_figure_per_peer() {
        for table in TABLES {
            for row in table.rows {
                assert_eq!(row.figures.len(), table.names.len(), "{}", row.case);
            }
        }
    }

    #[test]
    fn cases_are_found_by_their_last_words() {
        let tables = of("nsm-solvers");
        assert!(tables[0].row("first call spd 10").is_some() && tables[0].row("spd 10").is_none());
        let peers = tables[1];
        assert!(peers.row("spd 200").is_some() && peers.row("lcp chain 2000").is_some());
        assert!(peers.row("spd 2000").is_none() && peers.row("xspd 200").is_none());
    }
}

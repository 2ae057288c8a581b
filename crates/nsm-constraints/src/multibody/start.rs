//! The start of a mechanism: poses as they were given, velocities along the tree.
//!
//! With $v = P \nu$ the velocities of roots and the rates of joints are the entries of $\nu$. Those that were not set are zero, or
//! where loops are closed the smallest ones that keep them closed:
//! $$ G_c P\\,(\nu_{set} + \nu_{free}) = 0, \qquad |\nu_{free}| \to \min . $$

use nsm_solvers::small::qr::PivotedQr;

use super::MechanismError;
use super::closure::Loops;
use super::joint::JointId;
use super::mechanism::{Mechanism, finite};
use super::node::NodeId;
use crate::Reparametrisation;

impl Mechanism {
    /// Sets the velocity of a node that hangs on nothing, and its angular velocity (ignored by particles).
    ///
    /// # Errors
    /// An unknown node, numbers that are not finite. That it hangs on a joint is found at the [start](Self::start).
    pub fn set_velocity(
        &mut self,
        node: NodeId,
        velocity: [f64; 3],
        angular: [f64; 3],
    ) -> Result<(), MechanismError> {
        let name = self.known("a start velocity", node)?.name.clone();
        finite("the velocity", &name, &velocity)?;
        finite("the angular velocity", &name, &angular)?;
        self.nodes[node.0].velocity = Some([velocity, angular]);
        Ok(())
    }

    /// Sets the rates of a joint's freedoms: of its second end relative to the first.
    ///
    /// # Errors
    /// An unknown joint, not as many rates as freedoms, numbers that are not finite. That it closes a loop is found at
    /// the [start](Self::start).
    pub fn set_rate(&mut self, joint: JointId, rates: &[f64]) -> Result<(), MechanismError> {
        let joints = self.joints.len();
        let Some(found) = self.joints.get_mut(joint.0) else {
            return Err(MechanismError::UnknownJoint { joint: joint.0, joints });
        };
        finite("the rate", &found.name, rates)?;
        let (freedoms, given) = (found.kind.freedoms(), rates.len());
        if freedoms != given {
            let (joint, kind) = (found.name.clone(), found.kind);
            return Err(MechanismError::Rates { joint, kind, freedoms, given });
        }
        found.rates = Some(rates.to_vec());
        Ok(())
    }

    /// Coordinates and velocities at the start; they satisfy the constraints to round-off.
    ///
    /// # Errors
    /// Nothing in the mechanism, joints that leave no freedom, velocities of nodes that hang on joints, rates that
    /// contradict each other.
    pub fn start(&self) -> Result<(Vec<f64>, Vec<f64>), MechanismError> {
        if self.nodes.is_empty() {
            return Err(MechanismError::Empty);
        }
        let q = self.start_position();
        let mut tree = self.tree();
        let freedoms = tree.freedoms();
        let mut rates = vec![0.0; freedoms];
        let mut free = vec![true; freedoms];
        let mut set = |range: std::ops::Range<usize>, values: &[f64]| {
            for (f, value) in range.zip(values) {
                (rates[f], free[f]) = (*value, false);
            }
        };
        for (i, joint) in self.joints.iter().enumerate() {
            if let Some(values) = &joint.rates {
                let closes = || MechanismError::ClosingRate { joint: joint.name.clone() };
                set(tree.joint_freedoms(JointId(i)).ok_or_else(closes)?, values);
            }
        }
        for (i, node) in self.nodes.iter().enumerate() {
            if let Some(velocity) = node.velocity {
                let range = tree.root_freedoms(NodeId(i)).map_err(|(joint, parent)| {
                    MechanismError::Hanging {
                        node: node.name.clone(),
                        joint: self.joints[joint.0].name.clone(),
                        parent: self.end_name(parent).to_owned(),
                    }
                })?;
                set(range, velocity.as_flattened());
            }
        }
        for (i, scalar) in self.scalars.iter().enumerate() {
            let f = tree.jointed() + i;
            set(f..f + 1, &[scalar.velocity]);
        }
        let mut loops = Loops::coupled(self, &tree)?;
        loops.evaluate_at(&mut tree, &q);
        self.close(&loops, tree.moving(), &free, &mut rates)?;
        let mut v = vec![0.0; self.dimension];
        tree.velocities(&q, &rates, &mut v);
        Ok((q, v))
    }

    /// Finds the rates that were not set; refuses joints that leave no motion.
    fn close(
        &self,
        loops: &Loops,
        moving: usize,
        free: &[bool],
        rates: &mut [f64],
    ) -> Result<(), MechanismError> {
        let (m, t) = (loops.rows.len(), free.len());
        let mut qr = PivotedQr::new(m, t);
        let mut rank = |rows: usize, matrix: &[f64]| {
            qr.factor(rows, t, &matrix[..rows * t], super::closure::RANK).unwrap_or(t)
        };
        // Motors come last where they were added last; they may take the last freedom, and nothing else may.
        let (order, motors) = self.motors_last(m);
        let held = m - motors;
        let arranged: Vec<f64> =
            order.iter().flat_map(|&i| &loops.matrix[i * t..(i + 1) * t]).copied().collect();
        let mut found = rank(held, &arranged);
        if found == moving {
            return Err(self.immovable());
        }
        for (k, &i) in order.iter().enumerate().skip(held) {
            let with = rank(k + 1, &arranged);
            if with == found {
                let name = loops.rows.name(i);
                let joint = name.rsplit_once(": ").map_or(name, |(joint, _)| joint).to_owned();
                return Err(MechanismError::IdleMotor { joint });
            }
            found = with;
        }
        if m == 0 {
            return Ok(());
        }
        let mut driven = vec![0.0; m];
        loops.rows.rates(&self.start_position(), self.start_time, &mut driven);
        let mut open = vec![0.0; m];
        let opening = |rates: &[f64], open: &mut [f64]| {
            nsm_solvers::small::matvec(&loops.matrix, rates, open);
            open.iter_mut().zip(&driven).for_each(|(x, d)| *x += d);
        };
        opening(rates, &mut open);
        let scale = rates.iter().chain(&driven).fold(0.0_f64, |a, x| a.max(x.abs()));
        let mut matrix = loops.matrix.clone();
        for row in matrix.chunks_exact_mut(t) {
            row.iter_mut().zip(free).filter(|x| !x.1).for_each(|(x, _)| *x = 0.0);
        }
        let mut correction = vec![0.0; t];
        if qr.factor(m, t, &matrix, super::closure::RANK).is_ok() {
            for x in &mut open {
                *x = -*x;
            }
            // Lengths agree by construction.
            let _ = qr.solve_minimum_norm(&open, &mut correction);
        }
        for (rate, x) in rates.iter_mut().zip(correction) {
            *rate += x;
        }
        opening(rates, &mut open);
        let worst = (0..m).fold(0, |w, i| if open[i].abs() > open[w].abs() { i } else { w });
        if open[worst].abs() > 1e-10 * (1.0 + scale) {
            let joint = loops.joint_of(worst, &self.joints);
            return Err(MechanismError::OpenLoop { joint, rate: open[worst] });
        }
        Ok(())
    }

    /// The rows of loops and couplings with those of motors behind the others, and how many motors there are.
    fn motors_last(&self, rows: usize) -> (Vec<usize>, usize) {
        let first = rows - self.couplings.len();
        let is_motor = |i: &usize| *i >= first && self.couplings[i - first].motor;
        let (motors, mut order): (Vec<usize>, Vec<usize>) = (0..rows).partition(is_motor);
        order.extend(&motors);
        (order, motors.len())
    }

    pub(super) fn immovable(&self) -> MechanismError {
        let joints = self.joints.iter().map(|j| j.name.clone()).collect();
        MechanismError::Immovable { joints }
    }
}

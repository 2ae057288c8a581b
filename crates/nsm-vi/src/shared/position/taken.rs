//! Position updates that another solver made: where the mass depends on the configuration.

use nsm_model::StepError;

use super::{Hold, PositionUpdate};

impl PositionUpdate<'_> {
    /// Takes over an end, multipliers (equalities before the contacts of the smooth set) and their impulse.
    pub(crate) fn take(
        &mut self,
        (x, multipliers, impulse): (&[f64], &[f64], &[f64]),
        smooth: &[usize],
        residual: f64,
    ) {
        self.x.copy_from_slice(x);
        self.impulse.copy_from_slice(impulse);
        let (nu, lambda) = multipliers.split_at(self.nu.len());
        self.nu.copy_from_slice(nu);
        smooth.iter().zip(lambda).for_each(|(&i, l)| self.lambda[i] = *l);
        self.pressed = !(smooth.is_empty() && self.nu.is_empty());
        self.residual = residual;
    }

    /// That solver closes all contacts of the smooth set. Where they are held on one side and one of them pulls, that is no answer.
    pub(crate) fn check_presses(
        &self,
        t: f64,
        iterations: usize,
        smooth: &[usize],
    ) -> Result<(), StepError> {
        let pulls = smooth.iter().find(|&&i| self.lambda[i] < 0.0);
        match pulls {
            Some(&i) if self.hold == Hold::OneSided => Err(StepError::NotConverged {
                t,
                what: "the position update, in which a contact pulls,",
                iterations,
                residual: self.lambda[i],
                culprit: self.system.inequalities().name(i).to_owned(),
            }),
            _ => Ok(()),
        }
    }
}

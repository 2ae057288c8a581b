//! Multibody systems by directors: beams and loads.

mod beam_element;
mod load;
mod section;

pub use beam_element::BeamElement;
pub use load::Load;
pub use section::{Resultants, SectionMass, SectionStiffness};

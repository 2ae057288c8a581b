//! Impact laws: from the state at an instant and the active contacts to the state after, with a
//! certificate that says whether the answer is feasible and what it did to the energy.

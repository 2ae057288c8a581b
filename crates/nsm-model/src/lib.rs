//! What a mechanical system *is*: mass, potential, forces and constraints; its state; the stepper that
//! every integrator implements; the run loop, its observers and the ledger they all share.

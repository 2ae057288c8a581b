//! The generalized-α family for constrained systems whose constraints switch: index 3, 2 and 1,
//! event-driven and nonsmooth (NSGA).

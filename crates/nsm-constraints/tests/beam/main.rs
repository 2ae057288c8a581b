//! Beams: derivatives, frame indifference, patch tests with closed forms, small vibrations.

mod chain;
mod element;
mod mechanism;
mod patch;
mod vibration;

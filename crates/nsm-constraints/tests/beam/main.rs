//! Beams: derivatives, frame indifference, patch tests with closed forms, small vibrations.

mod chain;
mod element;
mod patch;
mod vibration;

//! The problems of the five papers and of the wider field as data and code, with what must come out of
//! each, and everything needed to run one and judge it.

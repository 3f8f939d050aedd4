//! The code for AMD's libraries on simulated ones: everything passes without faults, and each
//! injected fault is detected.

mod bias;
mod calls;
mod convolutions;
mod faults;
mod installation;
mod primitives;
mod tuning;
mod variables;
mod worker;

//! Detection on fake machines: directory trees for roots, small shared libraries compiled on the
//! spot for drivers.

mod clocks;
mod cuda;
mod energy;
mod fake_library;
mod hip;
mod inventory;
mod machine;
mod process_memory;
mod reported;
mod selection;
mod table;
mod topology;
mod visibility;

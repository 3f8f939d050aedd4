//! Detection on fake machines: directory trees for roots, small shared libraries compiled on the
//! spot for drivers.

mod cuda;
mod fake_library;
mod hip;
mod inventory;
mod machine;
mod reported;
mod selection;
mod table;
mod topology;
mod visibility;

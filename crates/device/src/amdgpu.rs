//! Facts of AMD's kernel driver `amdgpu` about a GPU and its users, from `/sys` and `/proc`.

mod clocks;
mod energy;
mod process_memory;

pub(crate) use clocks::clocks;
pub(crate) use energy::energy_file;
pub(crate) use process_memory::process_memory;

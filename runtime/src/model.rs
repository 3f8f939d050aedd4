//! A loaded model behind one type, whatever its backend, family and head.

mod forward;
mod load;
mod network;

pub use forward::{Forward, ForwardError, Placement, Session};
pub use load::{LoadError, Model, TensorAccount, load};
pub(crate) use network::{Cache, Inputs, Network, Pass};

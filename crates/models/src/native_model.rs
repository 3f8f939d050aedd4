//! A loaded model that burn computes.

use crate::{
    bound_model::BoundModel, capabilities::Capabilities, decode_session::DecodeSession,
    erased_model::ErasedModel,
};
use testgen_nn::{
    array::Arrays,
    backend::Ops,
    forward::{Forward, ForwardError, Session},
};

impl<B: Ops> ErasedModel for BoundModel<B> {
    fn forward(&self, inputs: &Arrays, traced: bool) -> Result<Forward, ForwardError> {
        self.call(inputs, traced, None)
    }

    fn session(&self) -> Result<Option<Box<dyn Session + '_>>, ForwardError> {
        Ok(DecodeSession::new(self).map(|session| Box::new(session) as _))
    }

    fn capabilities(&self) -> Capabilities {
        *BoundModel::capabilities(self)
    }
}

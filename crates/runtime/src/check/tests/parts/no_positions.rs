//! A model without outputs per position: a check that compares positions only must not pass.

use super::{
    super::{
        super::{
            causal_leak, kv_cache_equivalence, long_text,
            run::{CheckResult, CheckRun},
            shape_sweep,
        },
        OnHost,
    },
    failure,
};
use testgen_models::{Capabilities, ErasedModel};
use testgen_nn::{
    array::Arrays,
    forward::{Forward, ForwardError, Session},
};
use testgen_types::Architecture;

/// A model that returns no output and no hidden state.
struct NoPositions(Box<dyn ErasedModel>);

impl ErasedModel for NoPositions {
    fn forward(&self, inputs: &Arrays, traced: bool) -> Result<Forward, ForwardError> {
        let mut forward = self.0.forward(inputs, traced)?;
        forward.outputs.clear();
        forward.trace.clear();
        Ok(forward)
    }

    fn session(&self) -> Result<Option<Box<dyn Session + '_>>, ForwardError> {
        self.0.session()
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }
}

#[test]
fn a_check_of_positions_fails_without_any() {
    let checks: [fn(&mut CheckRun<'_>) -> CheckResult; 4] = [
        causal_leak::check,
        kv_cache_equivalence::check,
        long_text::check,
        shape_sweep::check,
    ];
    for check in checks {
        let fixture = OnHost::for_architecture(Architecture::DecoderOnly)
            .with_network(|inner| Box::new(NoPositions(inner)));
        assert_eq!(
            failure(fixture.run(check)),
            "the model returns nothing per position"
        );
    }
}

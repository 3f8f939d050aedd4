//! Parts of a check, run on a fixture on the host processor: for tests of what the outcome of a
//! whole check does not show.

use super::{
    super::run::{CheckContext, CheckRun},
    fixture::fixtures,
    harnesses,
    requests::handler_of,
};
use crate::{
    endpoint::Endpoint,
    harness::{Harness, Spec},
    load::load,
    load_target::{LoadTarget, LoadedModel},
    machine::host_processor,
    open,
    require::RequiredDevices,
    subject::Subject,
};
use std::cell::Cell;
use testgen_device::DeviceIndex;
use testgen_engine::EngineName;
use testgen_models::{ErasedModel, Source};
use testgen_types::{Architecture, Check, DeviceKind, ModelType, Precision, Registration};

thread_local! {
    /// The fixture of the work on this thread. The functions of a harness have no parameter for it.
    static CURRENT: Cell<Option<OnHost>> = const { Cell::new(None) };
}

/// A replacement of a network.
type Replace = fn(Box<dyn ErasedModel>) -> Box<dyn ErasedModel>;

/// A fixture, and how it is loaded.
#[derive(Clone, Copy)]
pub(in crate::check) struct OnHost {
    spec: &'static Spec,
    tf32: bool,
    replace: Replace,
}

impl OnHost {
    /// The fixture of an architecture.
    pub(in crate::check) fn for_architecture(architecture: Architecture) -> Self {
        Self {
            spec: harnesses::for_architecture(architecture).spec,
            tf32: false,
            replace: |network| network,
        }
    }

    /// Another fixture of an architecture.
    pub(in crate::check) fn of_fixture(
        architecture: Architecture,
        model_type: ModelType,
        path: &'static str,
    ) -> Self {
        let subject = Subject::Model {
            model_type,
            source: Source { path, hub: None },
        };
        let spec = Spec {
            name: path,
            subject,
            ..*harnesses::for_architecture(architecture).spec
        };
        Self {
            spec: Box::leak(Box::new(spec)),
            ..Self::for_architecture(architecture)
        }
    }

    /// The same fixture with a spec of these precisions only.
    pub(in crate::check) fn with_precisions(self, precisions: &'static [Precision]) -> Self {
        let spec = Box::leak(Box::new(Spec {
            precisions,
            ..*self.spec
        }));
        Self { spec, ..self }
    }

    /// The same fixture on a device that declares TF32.
    pub(in crate::check) fn with_tf32(self) -> Self {
        Self { tf32: true, ..self }
    }

    /// The same fixture with another network.
    pub(in crate::check) fn with_network(self, replace: Replace) -> Self {
        Self { replace, ..self }
    }

    /// Runs `work` in f32.
    pub(in crate::check) fn run<T>(self, work: impl FnOnce(&mut CheckRun<'_>) -> T) -> T {
        CURRENT.set(Some(self));
        let (spec, request) = (
            self.spec,
            harnesses::for_architecture(self.spec.architecture).request,
        );
        let harness = Harness {
            spec,
            init_cpu: init,
            init_cuda: init,
            init_rocm: init,
            request,
            skipped: &[],
        };
        let context = CheckContext {
            checkpoint: spec.subject.checkpoint(&fixtures()),
            requirements: &RequiredDevices::default(),
            index: DeviceIndex::Auto,
            engine: EngineName::native(),
        };
        let registration = Registration {
            device: DeviceKind::Cpu,
            check: Check::Finite,
            precision: Precision::F32,
        };
        let mut run = CheckRun::new(registration, &harness, &context);
        let result = work(&mut run);
        CURRENT.set(None);
        result
    }
}

fn init(target: &LoadTarget) -> Endpoint {
    let OnHost {
        spec,
        tf32,
        replace,
    } = CURRENT.get().unwrap();
    let mut device = open(host_processor()).unwrap();
    device.tf32 = tf32;
    match load(
        spec,
        &target.checkpoint,
        &device,
        target.precision.unwrap_or(Precision::F32),
    ) {
        Ok(loaded) => {
            let loaded = loaded.map_model(|model| model.with_network(replace));
            Endpoint::real(
                DeviceKind::Cpu,
                LoadedModel::new(target, device, loaded),
                handler_of(spec.task),
            )
        }
        // A check of the configuration also loads what cannot be loaded.
        Err(error) => Endpoint::mock(&target.label, DeviceKind::Cpu, &error),
    }
}

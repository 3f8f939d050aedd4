//! A library as an engine: a process that answers requests of a suite for operators.
//!
//! Owns the answers. `testgen-engine` defines the protocol, and operators are computed by
//! [`LibraryExecutor`].

mod reply;

use crate::{
    algorithms::compare_algorithms,
    blas::PartialSums,
    compute::LibraryExecutor,
    library::LibraryName,
    open::{OpenLibraryError, Opened, OpenedLibrary, open},
    probe,
};
use reply::{description, failed, failure, results, unsupported};
use std::{collections::BTreeMap, io, process::ExitCode, rc::Rc};
use testgen_device::{Device, DeviceKind, System, cuda_driver, hip_runtime};
use testgen_engine::{
    AlgorithmsReply, Build, CallFailure, ComputeOperation, DeviceClass, DeviceRequest, HelloReply,
    LIBRARY_VARIABLE, OpenReply, OpenedDevice, OperatorEngine, OperatorReply, VERSION,
    answer_requests,
};
use testgen_operators::calls::{Call, Execute, HostTensor};
use testgen_types::{Operator, Precision};

/// The option of a column in which cuBLAS and cuBLASLt add parts of sums in the type of the result,
/// as they prefer.
const SUMS_AS_RESULT: &str = "sums_as_result";
/// The option of a column in which products of f32 round their factors to TF32; MIOpen has no such
/// arithmetic.
const TF32: &str = "tf32";

/// Answers requests on standard input if this process was started as the engine of a library, or
/// `None` otherwise.
pub fn serve_if_requested() -> Option<ExitCode> {
    let name = std::env::var(LIBRARY_VARIABLE).ok()?;
    let Some(library) = LibraryName::ALL
        .iter()
        .find(|library| library.as_str() == name)
    else {
        eprintln!("error: {LIBRARY_VARIABLE}={name} is not the name of a library");
        return Some(ExitCode::from(2));
    };
    let mut engine = LibraryEngine::new(*library);
    match answer_requests(
        &mut io::stdin().lock(),
        &mut io::stdout().lock(),
        &mut engine,
    ) {
        Ok(()) => Some(ExitCode::SUCCESS),
        Err(error) => {
            eprintln!("error: {error}");
            Some(ExitCode::FAILURE)
        }
    }
}

/// The engine of a library.
struct LibraryEngine {
    library: LibraryName,
    system: System,
    sums: PartialSums,
    tf32: bool,
    opened: Option<Rc<Opened>>,
}

impl LibraryEngine {
    fn new(library: LibraryName) -> Self {
        Self {
            library,
            system: System::host(),
            sums: PartialSums::Single,
            tf32: false,
            opened: None,
        }
    }

    fn take_options(&mut self, options: &[String]) -> Result<(), CallFailure> {
        for option in options {
            match option.as_str() {
                // MIOpen has no TF32, and AMD's libraries have no choice of the type of partial
                // sums. A run must not claim an option that has no effect.
                TF32 if self.library != LibraryName::Miopen => self.tf32 = true,
                SUMS_AS_RESULT
                    if matches!(self.library, LibraryName::Cublas | LibraryName::CublasLt) =>
                {
                    self.sums = PartialSums::AsResult
                }
                other => {
                    return Err(unsupported(format!(
                        "engine {} has no option `{other}`",
                        self.library
                    )));
                }
            }
        }
        Ok(())
    }

    fn devices(&self) -> Result<Vec<Device>, CallFailure> {
        let devices = match self.library.device() {
            DeviceKind::Cuda => cuda_driver(&self.system),
            _ => hip_runtime(&self.system),
        };
        devices.map_err(|unavailable| unsupported(unavailable.to_string()))
    }

    fn open_on(&self, device: &Device) -> Result<Opened, CallFailure> {
        open(&self.system, self.library, device, self.sums).map_err(|error| match &error {
            OpenLibraryError::NotFound(_) | OpenLibraryError::OtherVendor { .. } => {
                unsupported(error.to_string())
            }
            OpenLibraryError::Gpu(_) | OpenLibraryError::Library(_) => failed(error.to_string()),
        })
    }

    fn opened(&self) -> Result<&Rc<Opened>, CallFailure> {
        self.opened
            .as_ref()
            .ok_or_else(|| failed("no device is open".to_owned()))
    }

    fn precision(&self, dtype: Precision) -> Precision {
        match dtype {
            Precision::F32 if self.tf32 => Precision::Tf32,
            dtype => dtype,
        }
    }

    fn class(&self) -> DeviceClass {
        match self.library.device() {
            DeviceKind::Cpu => DeviceClass::Cpu,
            DeviceKind::Cuda => DeviceClass::Cuda,
            DeviceKind::Rocm => DeviceClass::Rocm,
        }
    }
}

impl OperatorEngine for LibraryEngine {
    fn hello(&mut self, options: &[String]) -> Result<HelloReply, CallFailure> {
        self.take_options(options)?;
        // The version is the library's own answer, which needs a device.
        let devices = self.devices()?;
        let first = devices
            .first()
            .ok_or_else(|| unsupported(format!("{} has no device", self.library)))?;
        let version = self.open_on(first)?.version().to_owned();
        Ok(HelloReply {
            version: VERSION,
            versions: BTreeMap::from([(self.library.to_string(), version)]),
            build: if self.library.device() == DeviceKind::Cuda {
                Build::Cuda
            } else {
                Build::Hip
            },
            implementations: BTreeMap::new(),
            operators: self
                .library
                .operators()
                .iter()
                .map(Operator::to_string)
                .collect(),
            only_operators: true,
            algorithms: true,
            times: false,
            repeats: false,
        })
    }

    fn open(&mut self, request: &DeviceRequest) -> Result<OpenReply, CallFailure> {
        if request.kind != self.class() {
            return Err(unsupported(format!(
                "{} computes on {} devices",
                self.library,
                self.library.device()
            )));
        }
        let devices = self.devices()?;
        let device = devices
            .iter()
            .find(
                |device: &&Device| match (&request.uuid, &request.pci_address) {
                    (Some(uuid), _) => device.uuid.as_ref() == Some(uuid),
                    (None, Some(address)) => device.pci_address.as_ref() == Some(address),
                    // The index last: with other visible devices, another process counts them
                    // differently.
                    (None, None) => device.index == request.index,
                },
            )
            .ok_or_else(|| failed(format!("the driver has no device {}", request.index)))?;
        self.opened = Some(Rc::new(self.open_on(device)?));
        let described = OpenedDevice {
            kind: self.class(),
            name: device.name.clone(),
            uuid: device.uuid.clone(),
            pci_address: device.pci_address.clone(),
        };
        Ok(OpenReply {
            device: described,
            why: None,
        })
    }

    fn compute(
        &mut self,
        operation: ComputeOperation,
        operands: &[HostTensor],
        [dtype, result]: [Precision; 2],
    ) -> Result<HostTensor, CallFailure> {
        // Operands are rounded to their type on the host, like the operands of every call: a
        // library converts nothing.
        let types = [self.precision(dtype), self.precision(result)];
        let mut call = probe::call(operation, operands, types).map_err(unsupported)?;
        let opened = self.opened()?;
        if matches!(opened.library, OpenedLibrary::Convolutions(_)) {
            call = probe::as_convolution(&call)
                .ok_or_else(|| unsupported(format!("{operation:?} is not a convolution")))?;
        }
        let executor = LibraryExecutor::new(Rc::clone(opened), types[1]);
        let computed = executor.compute(&call).map_err(failure)?;
        Ok(HostTensor {
            shape: probe::shape(operation, operands),
            ..computed
        })
    }

    fn operator(
        &mut self,
        call: &Call,
        dtype: Precision,
    ) -> Result<(HostTensor, OperatorReply), CallFailure> {
        let executor = LibraryExecutor::new(Rc::clone(self.opened()?), self.precision(dtype));
        let computed = executor.execute(call).map_err(failure)?;
        let reply = OperatorReply {
            element: computed.tensor.element,
            device: self.class(),
            kept: None,
        };
        Ok((computed.tensor, reply))
    }

    fn algorithms(
        &mut self,
        operators: &[Operator],
        dtype: Precision,
        reduced: bool,
    ) -> Result<AlgorithmsReply, CallFailure> {
        let precision = Some(self.precision(dtype));
        let report = compare_algorithms(self.opened()?, operators, reduced, precision);
        if let Some(aborted) = report.aborted {
            return Err(failed(aborted));
        }
        Ok(AlgorithmsReply {
            rows: report.rows.iter().map(results).collect(),
            unsupported: report.unsupported.iter().map(description).collect(),
        })
    }

    fn memory(&self) -> Option<u64> {
        self.opened
            .as_ref()
            .map(|opened| opened.gpu.account().live())
    }
}

//! Times subjects whose results agree with their reference.
//!
//! Owns: the grid of sizes, the measurements, and the facts that a report has about host and
//! device. Does not own: whether a result agrees (`check`), and how a call is timed (the model, the
//! executor of operators, or the engine). What is wrong, a fallback, or a mock has no time.

mod config_digest;
#[cfg(feature = "native")]
mod copies;
mod energy;
mod host;
mod models;
#[cfg(feature = "operators")]
mod operators;
mod row;

pub(crate) use host::host;

use crate::{
    check::{self, CheckContext, CheckEvidence, CheckOutcome, CheckStatus},
    detect,
    harness::Harness,
};
use energy::EnergyMeter;
use row::BenchRow;
use testgen_device::{ComputeFacts, compute_facts};
use testgen_types::{
    BenchDevice, BenchEntry, BenchHost, BenchRequest, BenchStatus, Check, Registration,
};

/// The measurements of a harness on a device, in a precision; at least one entry.
pub(crate) fn measure(
    harness: &Harness,
    registration: Registration,
    context: &CheckContext<'_>,
    (request, host): (&BenchRequest, &BenchHost),
) -> Vec<BenchEntry> {
    // An error is dropped: the check detects the device again, and reports why it is absent.
    let device = detect::detect(registration.device, context.index, &context.engine).ok();
    let energy = EnergyMeter::new(device.as_ref());
    let mut rows = Vec::new();
    let outcome = match registration.check {
        // Timed only if it agrees: a wrong kernel must not be reported as a fast one.
        Check::OutputGolden => check::with_correct_model(registration, harness, context, |model| {
            rows = models::rows(model, request, &energy)
        }),
        Check::Forward => of_operators(
            registration,
            harness,
            context,
            (request, &energy),
            &mut rows,
        ),
        other => failed(format!("`{other}` has no calls to time")),
    };
    let CheckOutcome { status, evidence } = outcome;
    // A device that failed while it was timed has no times.
    let rows = match status {
        CheckStatus::Pass { .. } => rows,
        CheckStatus::Fail { reason } => vec![BenchRow::without_time(BenchStatus::Wrong, reason)],
        CheckStatus::Ignored { reason } => {
            vec![BenchRow::without_time(BenchStatus::NotTimed, reason)]
        }
    };
    let subject = MeasuredSubject {
        harness,
        registration,
        context,
        host,
        evidence,
        // After the measurements, when the clock has settled under load.
        facts: device.as_ref().map(compute_facts).unwrap_or_default(),
    };
    rows.into_iter()
        .map(|row| subject.entry(row, request))
        .collect()
}

/// An entry for a device that is not available.
pub(crate) fn unavailable(
    harness: &Harness,
    registration: Registration,
    context: &CheckContext<'_>,
    (request, host): (&BenchRequest, &BenchHost),
    reason: String,
) -> BenchEntry {
    let subject = MeasuredSubject {
        harness,
        registration,
        context,
        host,
        evidence: CheckEvidence::default(),
        facts: ComputeFacts::default(),
    };
    subject.entry(
        BenchRow::without_time(BenchStatus::NotTimed, reason),
        request,
    )
}

#[cfg(feature = "operators")]
fn of_operators(
    registration: Registration,
    harness: &Harness,
    context: &CheckContext<'_>,
    (request, energy): (&BenchRequest, &EnergyMeter),
    rows: &mut Vec<BenchRow>,
) -> CheckOutcome {
    check::with_checked_cases(registration, harness, context, |case| {
        rows.push(operators::row(&case, request, energy))
    })
}

#[cfg(not(feature = "operators"))]
fn of_operators(
    _registration: Registration,
    _harness: &Harness,
    _context: &CheckContext<'_>,
    _request: (&BenchRequest, &EnergyMeter),
    _rows: &mut Vec<BenchRow>,
) -> CheckOutcome {
    failed(crate::load_target::InitError::OperatorsNotCompiled.to_string())
}

fn failed(reason: String) -> CheckOutcome {
    CheckOutcome {
        status: CheckStatus::Fail { reason },
        evidence: CheckEvidence::default(),
    }
}

/// The facts that all measurements of one harness on one device share.
struct MeasuredSubject<'a> {
    harness: &'a Harness,
    registration: Registration,
    context: &'a CheckContext<'a>,
    host: &'a BenchHost,
    evidence: CheckEvidence,
    facts: ComputeFacts,
}

impl MeasuredSubject<'_> {
    fn entry(&self, row: BenchRow, request: &BenchRequest) -> BenchEntry {
        let (spec, evidence) = (self.harness.spec, &self.evidence);
        let checkpoint = self.context.checkpoint.as_ref();
        BenchEntry {
            version: BenchEntry::VERSION,
            testgen: env!("CARGO_PKG_VERSION").to_owned(),
            optimised: !cfg!(debug_assertions),
            subject: spec.name.to_owned(),
            config: checkpoint.and_then(config_digest::of_checkpoint),
            architecture: Some(spec.architecture),
            device: self.registration.device,
            device_index: self.context.index.chosen(),
            device_facts: self.device(),
            host: Some(self.host.clone()),
            engine: self.context.engine.in_report(),
            engine_versions: evidence.engine.versions.clone(),
            precision: self.registration.precision,
            measured: row.measured,
            case: row.case,
            batch: row.batch,
            tokens: row.tokens,
            steps: row.steps,
            bytes: row.bytes,
            overlap: row.overlap,
            calls: row.calls,
            repetitions: row.repetitions.unwrap_or(request.repetitions),
            status: row.status,
            reason: row.reason,
            times: row.times,
            energy_joules: row.energy_joules,
        }
    }

    fn device(&self) -> Option<BenchDevice> {
        let evidence = &self.evidence;
        let hardware = evidence.hardware.clone().unwrap_or_default();
        Some(BenchDevice {
            name: evidence.device_name.clone()?,
            architecture: hardware.architecture,
            pci_address: hardware.pci_address,
            driver_version: hardware.driver_version,
            runtime_version: hardware.runtime_version,
            simulated: evidence.simulated,
            tf32: Some(evidence.tf32),
            compute_units: self.facts.compute_units,
            clock_mhz: self.facts.clock_mhz,
            max_clock_mhz: self.facts.max_clock_mhz,
        })
    }
}

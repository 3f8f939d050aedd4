//! The plan as JSON, for CI systems for which testgen writes no files.

use super::{File, MatrixPlan, RunnerFamily, Tier, script};
use serde::Serialize;

/// The version of the JSON form; adding a field is compatible.
const VERSION: u32 = 1;

const PATH: &str = "testgen.matrix.json";

#[derive(Serialize)]
struct StructuredMatrix<'p> {
    version: u32,
    generated_by: &'static str,
    specs: usize,
    cpu: CpuJob<'p>,
    tiers: Vec<Tier>,
    nightly: &'p str,
    families: Vec<StructuredFamily<'p>>,
}

#[derive(Serialize)]
struct CpuJob<'p> {
    label: &'p str,
    image: Option<&'p str>,
    timeout_minutes: u32,
    simulated_rocm: bool,
    scripts: Vec<String>,
}

#[derive(Serialize)]
struct StructuredFamily<'p> {
    #[serde(flatten)]
    family: &'p RunnerFamily,
    requirement: String,
    container_flags: String,
    preflight: String,
    /// Contains `SLICE` in place of `slice:k/n`.
    test: String,
}

pub(super) fn file(plan: &MatrixPlan) -> File {
    let structured = StructuredMatrix {
        version: VERSION,
        generated_by: "testgen",
        specs: plan.specs,
        cpu: CpuJob {
            label: &plan.ci.cpu.label,
            image: plan.ci.cpu.image.as_deref(),
            timeout_minutes: plan.ci.timeout_minutes.get(),
            simulated_rocm: plan.ci.cpu.simulated_rocm,
            scripts: vec![
                script::install(plan),
                script::verify("json"),
                script::run_cpu(plan, "reports/cpu"),
                script::archive(plan),
            ],
        },
        tiers: Tier::ALL
            .iter()
            .copied()
            .filter(|tier| plan.has_tier(*tier))
            .collect(),
        nightly: &plan.ci.nightly,
        families: plan.families.iter().map(family).collect(),
    };
    let json = serde_json::to_string_pretty(&structured).expect("a plan has string keys only");
    File {
        path: PATH,
        text: Some(format!("{json}\n")),
    }
}

fn family(family: &RunnerFamily) -> StructuredFamily<'_> {
    StructuredFamily {
        family,
        requirement: family.requirement(),
        container_flags: script::container_flags(family),
        preflight: script::preflight(family),
        test: script::run_slice(family, "SLICE", "reports"),
    }
}

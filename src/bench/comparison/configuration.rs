//! The configuration of a measurement: times of different ones cannot be compared.

use testgen_types::BenchEntry;

/// The first field of the configuration that differs, with both values. The host and the device may
/// differ if two devices are compared.
pub(super) fn differing(
    a: &BenchEntry,
    b: &BenchEntry,
    across: bool,
) -> Option<(&'static str, [String; 2])> {
    let configurations = [a, b].map(|entry| {
        let facts = entry.device_facts.as_ref();
        // Not the number of timed calls: more of them make the interval narrower, and change no
        // call.
        let mut fields = vec![
            ("config", or_unknown(entry.config.clone())),
            ("warmup", entry.repetitions.warmup.to_string()),
            ("min_time_ms", entry.repetitions.min_time_ms.to_string()),
            (
                "steps",
                or_unknown(entry.steps.map(|steps| steps.to_string())),
            ),
            (
                "tf32",
                or_unknown(facts.and_then(|it| it.tf32).map(|tf32| tf32.to_string())),
            ),
        ];
        // An engine in another process does not depend on how the runtime was compiled.
        if a.engine.is_none() && b.engine.is_none() {
            fields.push(("optimised", entry.optimised.to_string()));
        }
        if !across {
            let host = entry.host.as_ref();
            let processors = host.and_then(|host| host.processors);
            fields.extend([
                ("device_name", or_unknown(facts.map(|it| it.name.clone()))),
                (
                    "processor",
                    or_unknown(host.map(|host| host.processor.clone())),
                ),
                (
                    "processors",
                    or_unknown(processors.map(|count| count.to_string())),
                ),
            ]);
        }
        fields
    });
    let [a, b] = configurations;
    let mut pairs = a.into_iter().zip(b);
    pairs.find_map(|((field, a), (_, b))| (a != b).then_some((field, [a, b])))
}

pub(super) fn differing_within(entries: &[&BenchEntry]) -> Option<(&'static str, [String; 2])> {
    // Several runs of one report are taken together, so they must be alike, too.
    let mut others = entries.iter();
    others.find_map(|entry| differing(entries[0], entry, false))
}

fn or_unknown(value: Option<String>) -> String {
    value.unwrap_or_else(|| "unknown".to_owned())
}

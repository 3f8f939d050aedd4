//! The checks that a harness must register, derived from the table of checks.

use crate::{
    architecture::Architecture,
    check::{Check, Precisions},
    device_kind::DeviceKind,
    precision::Precision,
};

/// One line of a harness's list: this check, on this device, in this precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Registration {
    /// The device the check runs on.
    pub device: DeviceKind,
    /// The property the check proves.
    pub check: Check,
    /// The number format the model computes in.
    pub precision: Precision,
}

/// Every registration that a harness of `architecture` must have on every engine, ordered by
/// device, check and precision.
///
/// f32 is the reference of the precision ladder and of the metamorphic checks: checks that do not
/// run per precision run in f32 if the spec has it, else in the finest precision of the spec. A
/// precision that devices of a kind cannot have (tf32 on all but CUDA) requires no checks there.
pub fn required_checks(
    architecture: Architecture,
    devices: &[DeviceKind],
    precisions: &[Precision],
) -> Vec<Registration> {
    registrations(architecture, devices, precisions, |check| {
        !check.compares_implementations()
    })
}

/// The registrations that a harness has besides [`required_checks`] on an engine that is a process,
/// in the same order.
pub fn engine_checks(
    architecture: Architecture,
    devices: &[DeviceKind],
    precisions: &[Precision],
) -> Vec<Registration> {
    registrations(
        architecture,
        devices,
        precisions,
        Check::compares_implementations,
    )
}

fn registrations(
    architecture: Architecture,
    devices: &[DeviceKind],
    precisions: &[Precision],
    selects: impl Fn(Check) -> bool,
) -> Vec<Registration> {
    let mut required = Vec::new();
    for &device in devices {
        // By device: of tf32 and f16 the finest one is tf32 on CUDA, and f16 where nothing has
        // tf32.
        let computed: Vec<Precision> = precisions
            .iter()
            .copied()
            .filter(|precision| precision.applies_on(device))
            .collect();
        for &check in Check::ALL.iter().filter(|check| {
            check.applies_to(architecture) && check.applies_on(device) && selects(**check)
        }) {
            let precisions: Vec<_> = match check.entry().precisions {
                // `Precision` declares f32 first, so it is the least one.
                Precisions::Finest => computed.iter().copied().min().into_iter().collect(),
                Precisions::Each => computed.clone(),
                Precisions::EachButF32 => computed
                    .iter()
                    .copied()
                    .filter(|found| *found != Precision::F32)
                    .collect(),
            };
            required.extend(precisions.into_iter().map(|precision| Registration {
                device,
                check,
                precision,
            }));
        }
    }
    // The devices and precisions come in the order of a spec, the lines of a report in this one.
    required.sort();
    required
}

#[cfg(test)]
mod tests {
    use super::{Architecture, Check, DeviceKind, Precision, engine_checks, required_checks};

    fn precisions(check: Check, device: DeviceKind, declared: &[Precision]) -> Vec<Precision> {
        let required = required_checks(Architecture::EncoderOnly, DeviceKind::ALL, declared);
        let same = required
            .iter()
            .filter(|entry| entry.check == check && entry.device == device);
        same.map(|entry| entry.precision).collect()
    }

    #[test]
    fn tf32_requires_checks_on_cuda_only() {
        let declared = [Precision::F32, Precision::Tf32];
        assert_eq!(
            precisions(Check::OutputGolden, DeviceKind::Cuda, &declared),
            declared
        );
        assert_eq!(
            precisions(Check::HalfProbe, DeviceKind::Cuda, &declared),
            [Precision::Tf32]
        );
        for device in [DeviceKind::Cpu, DeviceKind::Rocm] {
            assert_eq!(
                precisions(Check::OutputGolden, device, &declared),
                [Precision::F32]
            );
            assert_eq!(precisions(Check::HalfProbe, device, &declared), []);
        }
    }

    #[test]
    fn checks_of_implementations_are_those_of_engines_only() {
        let devices = [DeviceKind::Cpu];
        let checks = |architecture| {
            engine_checks(architecture, &devices, &[Precision::F32, Precision::Bf16])
        };
        let named = |architecture| {
            checks(architecture)
                .iter()
                .map(|entry| (entry.check, entry.precision))
                .collect::<Vec<_>>()
        };
        let attention =
            [Precision::F32, Precision::Bf16].map(|precision| (Check::AttentionPaths, precision));
        assert_eq!(named(Architecture::EncoderOnly), attention);
        assert_eq!(named(Architecture::Moe).len(), 4);
        assert!(checks(Architecture::Ssm).is_empty());
        let required = required_checks(Architecture::Moe, &devices, &[Precision::F32]);
        assert!(
            required
                .iter()
                .all(|entry| !entry.check.compares_implementations())
        );
    }

    #[test]
    fn checks_in_one_precision_take_the_finest_that_the_device_has() {
        let declared = [Precision::F16, Precision::Tf32];
        assert_eq!(
            precisions(Check::Determinism, DeviceKind::Cuda, &declared),
            [Precision::Tf32]
        );
        assert_eq!(
            precisions(Check::Determinism, DeviceKind::Cpu, &declared),
            [Precision::F16]
        );
        assert_eq!(
            precisions(
                Check::Determinism,
                DeviceKind::Cpu,
                &[Precision::Bf16, Precision::F32]
            ),
            [Precision::F32]
        );
    }
}

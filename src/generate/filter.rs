//! Filters over specs.

use super::GenerateError;
use crate::spec::{LoadedSpec, ModelSpec};
use glob::Pattern;
use testgen_types::{Architecture, DeviceKind};

/// Conditions on a spec: one of each kind must hold; a kind without conditions always holds.
#[derive(Debug, Clone, Default)]
pub struct SpecFilter {
    /// Patterns for the name.
    pub names: Vec<Pattern>,
    /// Architectures.
    pub architectures: Vec<Architecture>,
    /// Devices that the spec names.
    pub devices: Vec<DeviceKind>,
}

impl SpecFilter {
    /// Whether there are no conditions.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.architectures.is_empty() && self.devices.is_empty()
    }

    /// Whether all conditions hold.
    pub fn matches(&self, spec: &ModelSpec) -> bool {
        let named = self.names.is_empty()
            || self
                .names
                .iter()
                .any(|name| name.matches(spec.name.as_str()));
        let architecture =
            self.architectures.is_empty() || self.architectures.contains(&spec.architecture);
        let device = self.devices.is_empty()
            || self
                .devices
                .iter()
                .any(|device| spec.devices.contains(device));
        named && architecture && device
    }

    /// The specs that match; it is an error if none does, or if there are no specs.
    pub fn select<'s>(
        &self,
        specs: &'s [LoadedSpec],
    ) -> Result<Vec<&'s LoadedSpec>, GenerateError> {
        let selected: Vec<&LoadedSpec> = specs
            .iter()
            .filter(|loaded| self.matches(&loaded.spec))
            .collect();
        // Otherwise a mistyped name would look like a suite that is up to date.
        if selected.is_empty() {
            let mut names: Vec<String> = specs
                .iter()
                // A project can have hundreds of specs; the message needs examples.
                .take(20)
                .map(|loaded| format!("`{}`", loaded.spec.name))
                .collect();
            if specs.len() > names.len() {
                names.push(format!("and {} more", specs.len() - names.len()));
            }
            return Err(GenerateError::NoMatch { names });
        }
        Ok(selected)
    }
}

//! The devices that an engine lists, asked once for each engine and process.

use super::attached::AttachedEngine;
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};
use testgen_device::ReportedDevice;
use testgen_engine::{
    EngineCommand, EngineError, EngineName, ListedDevice, StartedEngine, time_limit,
};

type Reported = Result<Vec<ReportedDevice>, String>;

static REPORTED: Mutex<BTreeMap<EngineName, Reported>> = Mutex::new(BTreeMap::new());

/// The devices that the engine `name` reports, or why it does not.
pub(crate) fn reported_devices(name: &EngineName) -> Reported {
    // Under the lock: every check of the column waits for this answer.
    let mut known = REPORTED.lock().unwrap_or_else(PoisonError::into_inner);
    known
        .entry(name.clone())
        .or_insert_with(|| ask(name))
        .clone()
}

fn ask(name: &EngineName) -> Reported {
    let command = EngineCommand::for_engine(name).map_err(EngineError::from);
    let listed =
        command.and_then(|command| StartedEngine::start(command, name, time_limit())?.devices());
    let listed =
        listed.map_err(|error| format!("engine {name}: it does not list its devices: {error}"))?;
    Ok(listed.into_iter().map(device).collect())
}

fn device(listed: ListedDevice) -> ReportedDevice {
    let ListedDevice {
        device,
        architecture,
        total_memory,
    } = listed;
    ReportedDevice {
        kind: AttachedEngine::kind_of(device.kind),
        name: device.name,
        architecture,
        total_memory,
        pci_address: device.pci_address,
        uuid: device.uuid,
    }
}

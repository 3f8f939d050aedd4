//! The simulator: its devices, what is done with them, and the faults that come between.

use crate::fault::Fault;
use crate::launch::{self, Extent};
use crate::memory::Memory;
use crate::properties::{DeviceProperties, SHARED_MEMORY, THREADS_PER_BLOCK};
use crate::{Configuration, DeviceModel, Function, Module, Statistics, Status, corruption};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a kernel takes under [`Fault::Slow`]; longer than anybody waits for one of a test.
const SLOW: Duration = Duration::from_secs(30);

/// All simulated devices of a process.
#[derive(Debug)]
pub struct Simulator {
    configuration: Configuration,
    devices: Vec<Device>,
    statistics: Statistics,
}

#[derive(Debug)]
struct Device {
    model: DeviceModel,
    memory: Mutex<Memory>,
    allocations: AtomicU64,
    events: AtomicU64,
    copies: AtomicU64,
}

/// A stream: everything on it is done at once, so it is no more than its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    /// The ordinal of its device.
    pub device: u32,
}

/// One launch of a kernel.
#[derive(Debug, Clone, Copy)]
pub struct Launch {
    /// Blocks.
    pub grid: Extent,
    /// Threads of a block.
    pub block: Extent,
    /// Bytes of dynamic shared memory.
    pub shared_memory: u32,
    /// Pointers to the arguments.
    pub arguments: *mut *mut c_void,
}

/// A copy of rows.
#[derive(Debug, Clone, Copy)]
pub struct Copy2d {
    /// Where to, and the bytes from row to row there.
    pub to: (*mut c_void, usize),
    /// Where from, and the bytes from row to row there.
    pub from: (*const c_void, usize),
    /// Bytes of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

impl Simulator {
    /// The devices of `configuration`.
    pub fn new(configuration: Configuration) -> Self {
        let devices = configuration.devices.iter().cloned().map(Device::new).collect();
        Self { configuration, devices, statistics: Statistics::default() }
    }

    /// What it was made from.
    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// What it did.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// How many devices there are.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn device_count(&self) -> Result<u32, Status> {
        let hidden = self.configuration.faults.any(|fault| *fault == Fault::NoDevice);
        match u32::try_from(self.devices.len()).unwrap_or(u32::MAX) {
            0 => Err(Status::NoDevice),
            _ if hidden => Err(Status::NoDevice),
            count => Ok(count),
        }
    }

    /// What the device `ordinal` says about itself.
    ///
    /// # Errors
    ///
    /// There is no such device.
    pub fn properties(&self, ordinal: u32) -> Result<DeviceProperties, Status> {
        let device = self.device(ordinal)?;
        Ok(DeviceProperties::of(&device.model, ordinal, &self.configuration.faults))
    }

    /// The model of the device `ordinal`.
    ///
    /// # Errors
    ///
    /// There is no such device.
    pub fn model(&self, ordinal: u32) -> Result<&DeviceModel, Status> {
        self.device(ordinal).map(|device| &device.model)
    }

    /// Free and all bytes.
    ///
    /// # Errors
    ///
    /// There is no such device.
    pub fn memory_info(&self, ordinal: u32) -> Result<(usize, usize), Status> {
        if self.configuration.faults.has(ordinal, |fault| *fault == Fault::MemoryInfo) {
            return Err(Status::InvalidValue);
        }
        let memory = self.device(ordinal)?.memory();
        Ok((memory.free_bytes(), memory.total_bytes()))
    }

    /// Memory of the device.
    ///
    /// # Errors
    ///
    /// There is not as much.
    pub fn allocate(&self, ordinal: u32, size: usize) -> Result<*mut c_void, Status> {
        let device = self.device(ordinal)?;
        self.statistics.allocated();
        let count = next(&device.allocations);
        if self.configuration.faults.has(ordinal, |fault| matches!(fault, Fault::Allocate(first) if count >= *first)) {
            return Err(Status::OutOfMemory);
        }
        let address = device.memory().allocate(size)?;
        if self.configuration.faults.has(ordinal, |fault| *fault == Fault::Dirty) {
            // SAFETY: the allocation is `size` bytes long, and nobody else knows it yet.
            unsafe { std::ptr::write_bytes(address as *mut u8, 0xff, size) };
        }
        Ok(address as *mut c_void)
    }

    /// Gives memory back.
    ///
    /// # Errors
    ///
    /// It is not the device's.
    pub fn release(&self, ordinal: u32, pointer: *mut c_void) -> Result<(), Status> {
        if self.configuration.faults.has(ordinal, |fault| *fault == Fault::Leak) {
            return Ok(());
        }
        self.device(ordinal)?.memory().release(pointer as usize)
    }

    /// Copies from the host.
    ///
    /// # Errors
    ///
    /// The bytes are not within one allocation of the device.
    ///
    /// # Safety
    ///
    /// `from` can be read for `size` bytes.
    pub unsafe fn copy_to_device(
        &self,
        ordinal: u32,
        to: *mut c_void,
        from: *const c_void,
        size: usize,
    ) -> Result<(), Status> {
        self.within(ordinal, to, size)?;
        // SAFETY: the target lies within an allocation, the source is as the caller promises; they may overlap.
        unsafe { std::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), size) };
        Ok(())
    }

    /// Copies to the host.
    ///
    /// # Errors
    ///
    /// The bytes are not within one allocation of the device.
    ///
    /// # Safety
    ///
    /// `to` can be written for `size` bytes.
    pub unsafe fn copy_to_host(
        &self,
        ordinal: u32,
        to: *mut c_void,
        from: *const c_void,
        size: usize,
    ) -> Result<(), Status> {
        self.within(ordinal, from, size)?;
        self.count_copy(ordinal)?;
        // SAFETY: the source lies within an allocation, the target is as the caller promises; they may overlap.
        unsafe { std::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), size) };
        Ok(())
    }

    /// Copies rows, in any direction.
    ///
    /// # Errors
    ///
    /// There is no such device, or rows are longer than the way from one to the next.
    ///
    /// # Safety
    ///
    /// All rows of the source can be read, and those of the target written.
    pub unsafe fn copy_rows(&self, ordinal: u32, copy: &Copy2d) -> Result<(), Status> {
        if self.device(ordinal)?.memory().contains(copy.from.0 as usize, copy.width) {
            self.count_copy(ordinal)?;
        }
        if copy.width > copy.to.1 || copy.width > copy.from.1 {
            return Err(Status::InvalidValue);
        }
        for row in 0..copy.height {
            // SAFETY: as the caller promises.
            unsafe {
                let from = copy.from.0.cast::<u8>().add(row * copy.from.1);
                std::ptr::copy(from, copy.to.0.cast::<u8>().add(row * copy.to.1), copy.width);
            }
        }
        Ok(())
    }

    /// Records an event: everything before it is done already.
    ///
    /// # Errors
    ///
    /// Only on demand.
    pub fn record_event(&self, ordinal: u32) -> Result<(), Status> {
        let count = next(&self.device(ordinal)?.events);
        let fails = |fault: &Fault| matches!(fault, Fault::Event(first) if count >= *first);
        if self.configuration.faults.has(ordinal, fails) { Err(Status::Unknown) } else { Ok(()) }
    }

    /// The kernel `name` of a module.
    ///
    /// # Errors
    ///
    /// There is none, or it does not load on demand.
    pub fn function(&self, ordinal: u32, module: &Module, name: &std::ffi::CStr) -> Result<Function, Status> {
        let function = module.function(name)?;
        let hits = |fault: &Fault| matches!(fault, Fault::Load(text) if function.name.contains(text.as_str()));
        if self.configuration.faults.has(ordinal, hits) { Err(Status::NotFound) } else { Ok(function) }
    }

    /// Runs a kernel to its end.
    ///
    /// # Errors
    ///
    /// The extents are out of range, or it fails on demand.
    ///
    /// # Safety
    ///
    /// `launch.arguments` points to as many pointers as the kernel has arguments, each to a value of its type, and what they
    /// lead to is as large as the kernel takes it to be. The kernel's module stays loaded.
    pub unsafe fn launch(&self, ordinal: u32, function: &Function, launch: &Launch) -> Result<(), Status> {
        let device = self.device(ordinal)?;
        check_extents(launch)?;
        let faults = &self.configuration.faults;
        let hits = |text: &String| function.name.contains(text.as_str());
        if faults.has(ordinal, |fault| matches!(fault, Fault::Launch(text) if hits(text))) {
            return Err(Status::LaunchFailure);
        }
        if faults.has(ordinal, |fault| matches!(fault, Fault::Idle(text) if hits(text))) {
            return Ok(());
        }
        if faults.has(ordinal, |fault| matches!(fault, Fault::Slow(text) if hits(text))) {
            std::thread::sleep(SLOW);
        }
        let damage = faults.find(ordinal, |fault| match fault {
            Fault::Wrong(text) if hits(text) => Some(corruption::Damage::Wrong),
            Fault::Nan(text) if hits(text) => Some(corruption::Damage::Nan),
            _ => None,
        });
        // SAFETY: the arguments are as the caller promises.
        let before =
            unsafe { damage.map(|damage| corruption::Before::new(damage, &device.memory(), function, launch)) };
        let started = Instant::now();
        let wave_size = device.model.architecture.wave_size();
        // SAFETY: as the caller promises.
        let account = unsafe { launch::run(function, launch.grid, launch.block, wave_size, launch.arguments) };
        self.statistics.launched(function.fibers, started.elapsed(), account.switches, account.divergences);
        if let Some(before) = before {
            before.corrupt();
        }
        Ok(())
    }

    fn device(&self, ordinal: u32) -> Result<&Device, Status> {
        self.device_count()?;
        self.devices.get(ordinal as usize).ok_or(Status::InvalidDevice)
    }

    /// A copy from the device, which may be the one that fails.
    fn count_copy(&self, ordinal: u32) -> Result<(), Status> {
        let count = next(&self.device(ordinal)?.copies);
        let fails = |fault: &Fault| matches!(fault, Fault::Copy(first) if count >= *first);
        if self.configuration.faults.has(ordinal, fails) { Err(Status::Unknown) } else { Ok(()) }
    }

    fn within(&self, ordinal: u32, pointer: *const c_void, size: usize) -> Result<(), Status> {
        let inside = self.device(ordinal)?.memory().contains(pointer as usize, size);
        if inside { Ok(()) } else { Err(Status::InvalidValue) }
    }
}

impl Device {
    fn new(model: DeviceModel) -> Self {
        let memory = Mutex::new(Memory::new(model.memory));
        let [allocations, events, copies] = [const { AtomicU64::new(0) }; 3];
        Self { model, memory, allocations, events, copies }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check_extents(launch: &Launch) -> Result<(), Status> {
    let threads = launch.block.count().unwrap_or(u64::MAX);
    let blocks = launch.grid.count().unwrap_or(u64::MAX);
    let fits = (1..=u64::from(THREADS_PER_BLOCK)).contains(&threads) && (1..u64::MAX).contains(&blocks);
    if fits && launch.shared_memory as usize <= SHARED_MEMORY { Ok(()) } else { Err(Status::InvalidValue) }
}

/// Counts from 1.
fn next(counter: &AtomicU64) -> u64 {
    counter.fetch_add(1, Ordering::Relaxed) + 1
}

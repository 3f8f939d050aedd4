//! Code objects: the location of a compiled kernel, and its functions once it is loaded.

use crate::frame::{KernelFunction, ThreadFrame};
use crate::status::HipError;
use libloading::Library;
use std::ffi::{CStr, OsStr, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The first bytes of every code object of the simulator.
// AMD's begin with an ELF or bundle header.
const MAGIC: &[u8; 8] = b"HIPSIM02";

/// The contents of `hiprtcGetCode`: not the machine code, but the path of the shared object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CodeObject {
    /// Whether threads wait for each other, so that each needs a fiber.
    pub(crate) fibers: bool,
    /// The shared object.
    pub(crate) object: PathBuf,
}

impl CodeObject {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let path = self.object.as_os_str().as_bytes();
        let length = u32::try_from(path.len()).unwrap_or(u32::MAX);
        [
            &MAGIC[..],
            &[u8::from(self.fibers)],
            &length.to_le_bytes(),
            path,
        ]
        .concat()
    }

    /// The inverse of [`CodeObject::encode`].
    ///
    /// # Safety
    ///
    /// `image` points to at least eight bytes, and to a whole code object when these are the
    /// simulator's.
    unsafe fn decode(image: *const c_void) -> Result<Self, HipError> {
        let bytes = image.cast::<u8>();
        // SAFETY: the caller passes eight bytes, and a whole code object when they are the
        // simulator's.
        let read = |start: usize, length: usize| unsafe {
            std::slice::from_raw_parts(bytes.add(start), length)
        };
        // A cache can have code of a real GPU, whose other bytes mean something else.
        if read(0, MAGIC.len()) != MAGIC {
            return Err(HipError::NoBinaryForGpu);
        }
        let length = u32::from_le_bytes(read(9, 4).try_into().map_err(|_| HipError::InvalidImage)?);
        let path = read(13, length as usize);
        Ok(Self {
            fibers: read(8, 1) != [0],
            object: PathBuf::from(OsStr::from_bytes(path)),
        })
    }
}

/// A loaded code object.
#[derive(Debug)]
pub struct Module {
    library: Library,
    fibers: bool,
}

/// A kernel that can be launched. Its module must stay loaded.
#[derive(Debug, Clone)]
pub struct Function {
    pub(crate) name: String,
    pub(crate) fibers: bool,
    pub(crate) frame: *mut ThreadFrame,
    pub(crate) thread: KernelFunction,
    pub(crate) grid: KernelFunction,
    pub(crate) arguments: usize,
}

impl Module {
    /// Loads a code object.
    ///
    /// # Errors
    ///
    /// It is not the simulator's, or its shared object was deleted.
    ///
    /// # Safety
    ///
    /// `image` points to at least eight bytes, and to a whole code object when these are the
    /// simulator's.
    pub unsafe fn load(image: *const c_void) -> Result<Self, HipError> {
        // SAFETY: as the caller promises.
        let code = unsafe { CodeObject::decode(image) }?;
        // SAFETY: the file was written by this crate's compiler run and has no initialisers.
        let library = unsafe { Library::new(&code.object) }.map_err(|error| {
            // burn caches code objects, and each holds the path of a shared object in the
            // simulator's cache.
            eprintln!(
                "hip-sim: `{}` does not load ({error}); clear burn's kernel cache",
                code.object.display()
            );
            HipError::InvalidImage
        })?;
        Ok(Self {
            library,
            fibers: code.fibers,
        })
    }

    /// The kernel `name`.
    ///
    /// # Errors
    ///
    /// The module has no such kernel.
    pub fn function(&self, name: &CStr) -> Result<Function, HipError> {
        let name = name.to_string_lossy().into_owned();
        let symbol = |prefix: &str| format!("hip_sim_{prefix}_{name}\0").into_bytes();
        // SAFETY: `HIP_SIM_EXPORT` in hip_sim_launch.h declares these types, and every object is
        // compiled with it.
        let found = unsafe {
            let get_frame = self
                .library
                .get::<unsafe extern "C" fn() -> *mut ThreadFrame>("hip_sim_get_frame");
            let count = self
                .library
                .get::<unsafe extern "C" fn() -> c_uint>(symbol("count").as_slice());
            let thread = self
                .library
                .get::<KernelFunction>(symbol("thread").as_slice());
            let grid = self
                .library
                .get::<KernelFunction>(symbol("grid").as_slice());
            match (get_frame, count, thread, grid) {
                (Ok(get_frame), Ok(count), Ok(thread), Ok(grid)) => {
                    Some((get_frame(), count(), *thread, *grid))
                }
                _ => None,
            }
        };
        let (frame, arguments, thread, grid) = found.ok_or(HipError::NotFound)?;
        Ok(Function {
            name,
            fibers: self.fibers,
            frame,
            thread,
            grid,
            arguments: arguments as usize,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::CodeObject;
    use crate::status::HipError;

    #[test]
    fn a_code_object_is_decoded_and_a_foreign_one_is_rejected() {
        let code = CodeObject {
            fibers: true,
            object: "/cache/k.so".into(),
        };
        // SAFETY: both are longer than eight bytes, and the first is a whole code object.
        let (own, foreign) = unsafe {
            (
                CodeObject::decode(code.encode().as_ptr().cast()),
                CodeObject::decode(c"\x7fELF4567".as_ptr().cast()),
            )
        };
        assert_eq!(own, Ok(code));
        assert_eq!(foreign, Err(HipError::NoBinaryForGpu));
    }
}

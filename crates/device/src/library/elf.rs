//! Detects truncated ELF files: the loader maps them, and the process dies of SIGBUS on access to a
//! missing segment.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use testgen_types::bounded_file::{self, FileError, FileProblem};

// Of the 64-bit class: the bytes of the headers, and `PT_LOAD`.
const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const LOAD_SEGMENT: u32 = 1;

/// The defect of a library file; `None` when it is safe to pass to the loader.
pub(super) fn defect(path: &Path) -> Option<String> {
    let mut file = match bounded_file::open(path) {
        Ok(file) => file,
        Err(FileError {
            problem: FileProblem::NotRegular { .. },
            ..
        }) => {
            return Some("it is not a regular file".to_owned());
        }
        Err(_) => return None,
    };
    let metadata = file.metadata().ok()?;
    let mut header = [0; HEADER];
    if file.read_exact(&mut header).is_err() || !header.starts_with(b"\x7fELF") {
        return Some("it is not an ELF library".to_owned());
    }
    // `EI_CLASS` and `EI_DATA`.
    let is_64_bit_little_endian = header[4] == 2 && header[5] == 1;
    // The offsets below hold for this class only; the loader itself rejects the others.
    if !is_64_bit_little_endian {
        return None;
    }
    match needed_length(&mut file, &header) {
        Some(length) if length <= metadata.len() => None,
        _ => Some(format!("it is truncated after {} bytes", metadata.len())),
    }
}

/// The end of the last loadable segment; `None` when the program headers themselves are missing.
fn needed_length(file: &mut File, header: &[u8; HEADER]) -> Option<u64> {
    // `e_phoff` and `e_phnum`.
    let table = u64::from_le_bytes(header[32..40].try_into().ok()?);
    let count = u16::from_le_bytes([header[56], header[57]]);
    file.seek(SeekFrom::Start(table)).ok()?;
    let mut length = 0;
    for _ in 0..count {
        let mut segment = [0; PROGRAM_HEADER];
        file.read_exact(&mut segment).ok()?;
        if u32::from_le_bytes(segment[0..4].try_into().ok()?) == LOAD_SEGMENT {
            // `p_offset` and `p_filesz`: a segment may have more bytes in memory than in the file.
            let offset = u64::from_le_bytes(segment[8..16].try_into().ok()?);
            let size = u64::from_le_bytes(segment[32..40].try_into().ok()?);
            length = length.max(offset.checked_add(size)?);
        }
    }
    Some(length)
}

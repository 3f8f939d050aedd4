//! Messages on a pipe: four bytes `TGEN`, the length of the header (u32, little endian), the length
//! of the tensors (u64), the header as JSON, the tensors as safetensors.

use std::io::{self, Read, Write};

/// The first bytes of a message.
// Text that a library prints into the pipe is detected at once, instead of being taken for a
// length.
pub(crate) const MAGIC: &[u8; 4] = b"TGEN";
/// The largest header.
// Names of tensors of the largest known checkpoints take less than a tenth.
const LARGEST_HEADER: u64 = 64 << 20;
/// The largest tensors.
// Outputs of 16 k tokens with a vocabulary of 256 k take as much.
const LARGEST_TENSORS: u64 = 16 << 30;
/// The number of bytes that an error shows.
const SHOWN: u64 = 60;

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) header: Vec<u8>,
    pub(crate) tensors: Vec<u8>,
}

/// No message could be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FrameError {
    /// The pipe was closed between two messages.
    #[error("the pipe was closed")]
    Closed,
    /// The pipe was closed within a message.
    #[error("the pipe was closed within a message: {got} of {expected} bytes")]
    Truncated { got: u64, expected: u64 },
    /// The bytes are not a message.
    #[error("`{0}` is not a message of the protocol")]
    Garbage(String),
    /// A length is above its limit.
    #[error("a message of {length} bytes is over the limit of {limit}")]
    TooLarge { length: u64, limit: u64 },
    /// The system reports an error.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Writes one message.
pub(crate) fn write(pipe: &mut impl Write, frame: &Frame) -> io::Result<()> {
    pipe.write_all(MAGIC)?;
    // The cast keeps the length: what makes a header long is a `config.json`, which has a limit of
    // a few mebibytes.
    pipe.write_all(&(frame.header.len() as u32).to_le_bytes())?;
    pipe.write_all(&(frame.tensors.len() as u64).to_le_bytes())?;
    pipe.write_all(&frame.header)?;
    pipe.write_all(&frame.tensors)?;
    // The pipe is buffered, and the engine waits for the end of the message.
    pipe.flush()
}

/// Waits for one message.
pub(crate) fn read(pipe: &mut impl Read) -> Result<Frame, FrameError> {
    let magic = up_to(pipe, 4)?;
    if magic.is_empty() {
        return Err(FrameError::Closed);
    }
    // Before the lengths: any four bytes of text would be a length of gigabytes.
    if magic != MAGIC {
        return Err(garbage(pipe, magic));
    }
    let header = u64::from(u32::from_le_bytes(
        exactly(pipe, 4)?.try_into().expect("4 bytes were read"),
    ));
    let tensors = u64::from_le_bytes(exactly(pipe, 8)?.try_into().expect("8 bytes were read"));
    // Before the bytes: a wrong length would be waited for until the call's time limit.
    for (length, limit) in [(header, LARGEST_HEADER), (tensors, LARGEST_TENSORS)] {
        if length > limit {
            return Err(FrameError::TooLarge { length, limit });
        }
    }
    Ok(Frame {
        header: exactly(pipe, header)?,
        tensors: exactly(pipe, tensors)?,
    })
}

/// The bytes with what follows on the same line. Waits for nothing.
fn garbage(pipe: &mut impl Read, mut bytes: Vec<u8>) -> FrameError {
    // Without waiting: a line without an end must not hang.
    let mut rest = [0; SHOWN as usize];
    // What was written at once is read at once; the error is the same without it.
    let count = if bytes.len() == 4 {
        pipe.read(&mut rest).unwrap_or(0)
    } else {
        0
    };
    bytes.extend_from_slice(&rest[..count]);
    FrameError::Garbage(
        String::from_utf8_lossy(&bytes)
            .escape_debug()
            .take(SHOWN as usize)
            .collect(),
    )
}

fn exactly(pipe: &mut impl Read, expected: u64) -> Result<Vec<u8>, FrameError> {
    let bytes = up_to(pipe, expected)?;
    let got = bytes.len() as u64;
    if got == expected {
        Ok(bytes)
    } else {
        Err(FrameError::Truncated { got, expected })
    }
}

fn up_to(pipe: &mut impl Read, length: u64) -> Result<Vec<u8>, FrameError> {
    // The buffer grows with the data that arrives, so that a length alone allocates nothing.
    let mut bytes = Vec::new();
    // `take` stops at the length that was declared, whatever else is in the pipe.
    pipe.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(mut bytes: &[u8]) -> Result<Frame, FrameError> {
        read(&mut bytes)
    }

    #[test]
    fn a_message_is_read_as_it_was_written() {
        let frame = Frame {
            header: b"{}".to_vec(),
            tensors: vec![1, 2, 3],
        };
        let mut bytes = Vec::new();
        write(&mut bytes, &frame).expect("a Vec can be written");
        assert_eq!(read_all(&bytes).expect("is a message"), frame);
        assert!(matches!(read_all(&[]), Err(FrameError::Closed)));
        let cut = &bytes[..bytes.len() - 1];
        assert!(matches!(
            read_all(cut),
            Err(FrameError::Truncated {
                got: 2,
                expected: 3
            })
        ));
        assert!(matches!(
            read_all(&bytes[..6]),
            Err(FrameError::Truncated {
                got: 2,
                expected: 4
            })
        ));
    }

    #[test]
    fn text_and_impossible_lengths_are_errors() {
        let error = read_all(b"Loading weights: 100%\n")
            .expect_err("is text")
            .to_string();
        assert!(error.contains("Loading weights: 100%"), "{error}");
        let huge = [&MAGIC[..], &u32::MAX.to_le_bytes(), &0_u64.to_le_bytes()].concat();
        assert!(matches!(read_all(&huge), Err(FrameError::TooLarge { .. })));
        let huge = [
            &MAGIC[..],
            &2_u32.to_le_bytes(),
            &u64::MAX.to_le_bytes(),
            b"{}",
        ]
        .concat();
        assert!(matches!(read_all(&huge), Err(FrameError::TooLarge { .. })));
    }
}

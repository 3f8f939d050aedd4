//! Parsing of one variable's value, by the rules of the library that reads it.
//!
//! Sources: CUDA programming guide, "CUDA environment variables"; ROCR-Runtime
//! `amd_filter_device.cpp`; clr `rocdevice.cpp`.

use super::variable::VisibleReader::{self, Cuda, Hip, RocmRuntime};
use super::variable::{VisibleEntry, VisibleVariable};

/// How a list ends.
enum ListEnd {
    /// All entries apply.
    Whole,
    /// `-1`: everything after it is hidden, on purpose.
    Terminator,
    /// An invalid entry: it and everything after it is hidden.
    Invalid(String),
    /// An entry that occurs twice.
    Repeated(String),
}

/// Parses `value` as `reader` does.
pub(super) fn variable(name: &'static str, reader: VisibleReader, value: &str) -> VisibleVariable {
    let (mut entries, end) = if value.is_empty() {
        (Vec::new(), ListEnd::Whole)
    } else {
        list(reader, value)
    };
    if reader == Cuda && matches!(end, ListEnd::Repeated(_)) {
        entries.clear();
    }
    // HIP alone treats an empty value as unset.
    let hides_all = entries.is_empty() && !(value.is_empty() && reader == Hip);
    VisibleVariable {
        name,
        reader,
        value: value.to_owned(),
        effect: effect(reader, value, &entries, &end),
        error: error(&end),
        hides_all,
        entries,
    }
}

fn list(reader: VisibleReader, value: &str) -> (Vec<VisibleEntry>, ListEnd) {
    let mut entries = Vec::new();
    for token in value.split(',') {
        // HIP does not trim: `0, 1` ends after its first entry.
        let token = if reader == Hip { token } else { token.trim() };
        if token.parse::<i64>().is_ok_and(|number| number < 0) {
            return (entries, ListEnd::Terminator);
        }
        match entry(reader, token) {
            None => return (entries, ListEnd::Invalid(token.to_owned())),
            Some(entry) if !entries.contains(&entry) => entries.push(entry),
            // HIP skips a repeated entry, the ROCm runtime stops at it, CUDA hides every device.
            Some(_) if reader == Hip => {}
            Some(_) => return (entries, ListEnd::Repeated(token.to_owned())),
        }
    }
    (entries, ListEnd::Whole)
}

fn entry(reader: VisibleReader, token: &str) -> Option<VisibleEntry> {
    let is_index = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
    if is_index {
        return token.parse().ok().map(VisibleEntry::Index);
    }
    let upper = token.to_uppercase();
    let body = match reader {
        Cuda => upper
            .strip_prefix("GPU-")
            .or_else(|| upper.strip_prefix("MIG-")),
        RocmRuntime | Hip => upper.strip_prefix("GPU-"),
    }?;
    // CUDA also takes the older form of a MIG instance, `MIG-GPU-<uuid>/<instance>/<instance>`.
    let is_uuid = !body.is_empty()
        && body.bytes().all(|byte| {
            byte.is_ascii_hexdigit() || matches!(byte, b'-' | b'/' | b'G' | b'P' | b'U')
        });
    is_uuid.then(|| VisibleEntry::Uuid(token.to_owned()))
}

fn effect(reader: VisibleReader, value: &str, entries: &[VisibleEntry], end: &ListEnd) -> String {
    if value.is_empty() {
        return if reader == Hip {
            "empty, which HIP treats as unset"
        } else {
            "empty, hides every device"
        }
        .to_owned();
    }
    if entries.is_empty() {
        return "hides every device".to_owned();
    }
    let shown: Vec<String> = entries.iter().map(describe).collect();
    let after = match end {
        ListEnd::Whole => "",
        ListEnd::Terminator => ", and hides what follows `-1`",
        ListEnd::Invalid(_) | ListEnd::Repeated(_) => ", and hides what follows",
    };
    let counted = if reader == Hip {
        " of those the ROCm runtime leaves"
    } else {
        ""
    };
    let order = if shown.len() > 1 {
        ", in this order"
    } else {
        ""
    };
    format!("shows {}{counted}{order}{after}", shown.join(", "))
}

fn describe(entry: &VisibleEntry) -> String {
    match entry {
        VisibleEntry::Index(index) => format!("device {index}"),
        VisibleEntry::Uuid(uuid) => uuid.clone(),
    }
}

fn error(end: &ListEnd) -> Option<String> {
    match end {
        ListEnd::Whole | ListEnd::Terminator => None,
        ListEnd::Invalid(token) if token.is_empty() => {
            Some("an entry is empty; it ends the list".to_owned())
        }
        ListEnd::Invalid(token) => Some(format!(
            "`{token}` is neither an index nor a UUID (`GPU-...`); it ends the list"
        )),
        ListEnd::Repeated(token) => Some(format!("`{token}` occurs twice")),
    }
}

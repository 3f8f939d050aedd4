//! Mutations of inputs: bytes, lines, numbers, words of the format, and parts of other inputs.
//! Deterministic for a seed.

/// The largest input before it is repaired.
// Larger ones are only slower.
const LARGEST: usize = 64 * 1024;

/// Numbers at the edges of types, and texts that are not numbers.
const NUMBERS: [&str; 14] = [
    "0",
    "-1",
    "1",
    "255",
    "65536",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "1e9",
    "1e999",
    "-0.0",
    "NaN",
    ".inf",
];

/// Characters with a meaning in one of the formats, and such that take several bytes or none on a
/// screen.
const CHARACTERS: [&str; 26] = [
    "\0", "\n", "\r", "\t", " ", "\"", "'", "\\", "{", "}", "[", "]", "%", "#", "&", "*", "!", "|",
    ":", ",", "-", "<", "\u{1b}", "\u{202e}", "é", "🦀",
];

/// Random numbers of SplitMix64.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; 0 when that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap_or(0)
    }

    /// One of `items`, which are not empty.
    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Text of up to `length` characters, many of them with a meaning somewhere.
    pub fn text(&mut self, length: usize) -> String {
        let count = self.below(length + 1);
        let mut text = String::new();
        for _ in 0..count {
            match self.below(3) {
                0 => text.push_str(self.choose::<&str>(&CHARACTERS)),
                1 => text.push(char::from(b' ' + (self.below(95) as u8))),
                // The range ends after the last code point; surrogates are not characters.
                _ => text.push(char::from_u32(self.below(0x11_0000) as u32).unwrap_or('x')),
            }
        }
        text
    }
}

/// Makes new inputs from earlier ones.
pub(crate) struct Mutator {
    random: Random,
    dictionary: &'static [&'static str],
    repair: Option<fn(&mut Vec<u8>, &mut Random)>,
}

impl Mutator {
    pub(crate) fn new(
        seed: u64,
        dictionary: &'static [&'static str],
        repair: Option<fn(&mut Vec<u8>, &mut Random)>,
    ) -> Self {
        Self {
            random: Random::new(seed),
            dictionary,
            repair,
        }
    }

    /// An input with one to six mutations.
    pub(crate) fn mutate(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = self.random.choose(corpus).clone();
        // Where there is a repair, which may mutate as well, half of the inputs have no other
        // mutations: the text of a header survives few.
        let repaired_only = self.repair.is_some() && self.random.below(2) == 0;
        let count = if repaired_only {
            0
        } else {
            1 + self.random.below(6)
        };
        for _ in 0..count {
            self.step(&mut bytes, corpus);
            // An input must not grow from step to step.
            bytes.truncate(LARGEST);
        }
        if let Some(repair) = self.repair {
            repair(&mut bytes, &mut self.random);
        }
        bytes
    }

    fn step(&mut self, bytes: &mut Vec<u8>, corpus: &[Vec<u8>]) {
        // The end is a position, too, at which text is appended.
        let at = self.random.below(bytes.len() + 1);
        let end = at + self.random.below((bytes.len() - at).min(40) + 1);
        match self.random.below(10) {
            0 => flip(bytes, at, self.random.below(8)),
            1 => drop(bytes.drain(at..end)),
            2 => insert(bytes, at, self.random.choose(&CHARACTERS).as_bytes()),
            3 if !self.dictionary.is_empty() => {
                insert(bytes, at, self.random.choose(self.dictionary).as_bytes())
            }
            4 => self.replace_number(bytes, at),
            // Up to 256 copies: a bracket is then nested deeper than the 128 levels that serde_json
            // reads.
            5 => repeat(bytes, at, end, 1 << self.random.below(9)),
            6 => self.replace_line(bytes, at, corpus),
            7 => {
                let other = self.random.choose(corpus);
                let from = self.random.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            8 => self.swap_words(bytes, at),
            _ => {
                let text = self.random.text(12);
                insert(bytes, at, text.as_bytes());
            }
        }
    }

    /// Replaces the next number by one at the edge of a type.
    fn replace_number(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let Some(start) = bytes[at..]
            .iter()
            .position(u8::is_ascii_digit)
            .map(|offset| at + offset)
        else {
            return;
        };
        let length = bytes[start..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        bytes.splice(start..start + length, self.random.choose(&NUMBERS).bytes());
    }

    /// Replaces the line at a position by one of another input, or deletes it.
    fn replace_line(&mut self, bytes: &mut Vec<u8>, at: usize, corpus: &[Vec<u8>]) {
        let start = bytes[..at]
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |line| line + 1);
        let end = bytes[at..]
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(bytes.len(), |length| at + length + 1);
        let lines: Vec<&[u8]> = self
            .random
            .choose(corpus)
            .split_inclusive(|byte| *byte == b'\n')
            .collect();
        // Without bytes, because no line of the corpus deletes another one.
        let line = if lines.is_empty() || self.random.below(4) == 0 {
            &[]
        } else {
            *self.random.choose(&lines)
        };
        bytes.splice(start..end, line.iter().copied());
    }

    /// Replaces the next word by one of the dictionary.
    fn swap_words(&mut self, bytes: &mut Vec<u8>, at: usize) {
        if self.dictionary.is_empty() {
            return;
        }
        let Some(start) = bytes[at..]
            .iter()
            .position(|byte| is_word(*byte))
            .map(|offset| at + offset)
        else {
            return;
        };
        let length = bytes[start..]
            .iter()
            .take_while(|byte| is_word(**byte))
            .count();
        bytes.splice(
            start..start + length,
            self.random.choose(self.dictionary).bytes(),
        );
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn flip(bytes: &mut [u8], at: usize, bit: usize) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << bit;
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, new: &[u8]) {
    bytes.splice(at..at, new.iter().copied());
}

fn repeat(bytes: &mut Vec<u8>, at: usize, end: usize, times: usize) {
    // Limited before it is allocated: a part can be half of the input.
    let part = bytes[at..end].repeat(times.min(LARGEST / (end - at).max(1)));
    insert(bytes, at, &part);
}

//! The properties of a program that its file shows: whether it is STREAM, and the size of its
//! arrays, which are part of it.

use std::io::Read as _;
use std::path::Path;

pub(super) const PROGRAMS: [&str; 3] = ["stream", "stream_c", "stream_c.exe"];

/// The largest program that is read. STREAM has tens of kB, linked statically a few MB.
const LARGEST: u64 = 64 << 20;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Program {
    /// The version, `5.10`.
    pub(super) version: String,
    /// True if it was compiled with OpenMP.
    pub(super) threads: bool,
    /// True if it calls the C library's memcpy, which compilers emit for its Copy.
    pub(super) copies: bool,
    /// The bytes of its arrays, and of the little else in it.
    pub(super) bytes: u64,
}

impl Program {
    /// Reads a file; `None` if it is no STREAM.
    pub(super) fn read(file: &Path) -> Option<Self> {
        let mut bytes = Vec::new();
        std::fs::File::open(file).ok()?.take(LARGEST).read_to_end(&mut bytes).ok()?;
        Self::parse(&bytes)
    }

    fn parse(program: &[u8]) -> Option<Self> {
        const REVISION: &[u8] = b"STREAM version $Revision: ";
        let after = &program[find(program, REVISION)? + REVISION.len()..];
        let version = after.iter().take(16).take_while(|b| b.is_ascii_digit() || **b == b'.');
        let version = version.map(|b| char::from(*b)).collect();
        let has = |text: &[u8]| find(program, text).is_some();
        let threads = has(b"Number of Threads counted");
        let copies = has(b"memcpy") || has(b"memmove");
        Some(Self { version, threads, copies, bytes: in_memory(program)? })
    }
}

fn find(program: &[u8], text: &[u8]) -> Option<usize> {
    program.windows(text.len()).position(|w| w == text)
}

/// Returns the bytes of a loaded program: the segments of a 64-bit ELF file.
fn in_memory(program: &[u8]) -> Option<u64> {
    const LOADED: u64 = 1;
    if !program.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (table, size, n) =
        (number(program, 32, 8)?, number(program, 54, 2)?, number(program, 56, 2)?);
    let mut sum = 0_u64;
    for i in 0..n {
        let entry = usize::try_from(table.checked_add(i * size)?).ok()?;
        if number(program, entry, 4)? == LOADED {
            sum = sum.checked_add(number(program, entry.checked_add(40)?, 8)?)?;
        }
    }
    Some(sum)
}

/// Returns a little-endian number of this many bytes.
fn number(program: &[u8], at: usize, bytes: usize) -> Option<u64> {
    let bytes = program.get(at..at.checked_add(bytes)?)?;
    Some(bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)))
}

/// Returns a fake STREAM program that contains these words and uses this much memory.
#[cfg(test)]
pub(super) fn fake_program(words: &str, memory: u64) -> Vec<u8> {
    let mut program = b"\x7fELF\x02\x01".to_vec();
    program.resize(64 + 2 * 56, 0);
    program[32] = 64;
    program[54] = 56;
    program[56] = 2;
    program[64] = 6;
    program[64 + 40] = 99;
    program[64 + 56] = 1;
    program[64 + 56 + 40..64 + 56 + 48].copy_from_slice(&memory.to_le_bytes());
    program.extend(words.as_bytes());
    program
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WORDS: &str = "\0STREAM version $Revision: 5.10 $\n\0Number of Threads counted = %i\0";

    #[test]
    fn a_program_shows_its_version_threads_and_memory() {
        let program = Program::parse(&fake_program(WORDS, 8_489_763_664)).unwrap();
        let version = "5.10".to_owned();
        let expected = Program { version, threads: true, copies: false, bytes: 8_489_763_664 };
        assert_eq!(program, expected);
        let alone = WORDS.replace("Threads counted", "memcpy");
        let program = Program::parse(&fake_program(&alone, 5)).unwrap();
        assert_eq!((program.threads, program.copies, program.bytes), (false, true, 5));
    }

    #[test]
    fn other_programs_are_not_streams() {
        assert_eq!(Program::parse(&fake_program("STREAM copy latency", 5)), None, "lmbench's");
        assert_eq!(Program::parse(WORDS.as_bytes()), None, "a text");
        assert_eq!(Program::parse(&fake_program(WORDS, 5)[..60]), None);
        assert_eq!(Program::read(Path::new("/no/such/file")), None);
        let mut far = fake_program(WORDS, 5);
        far[32..40].fill(0xff);
        assert_eq!(Program::parse(&far), None, "its table is outside");
    }

    proptest! {
        #[test]
        fn damage_is_survived(at in 0_usize..200, byte: u8, end in 0_usize..300) {
            let mut program = fake_program(WORDS, 5);
            if let Some(b) = program.get_mut(at) {
                *b = byte;
            }
            program.truncate(end);
            let _ = Program::parse(&program);
        }
    }
}

//! Structures of an SMBIOS table: a header of type, length and handle, fields at fixed offsets,
//! then strings. Every length is checked against the table.

const END_OF_TABLE: u8 = 127;
/// Bytes of type, length and handle.
const HEADER: usize = 4;
/// Maximum length of a string; longer ones are cut. Names of slots are shorter.
const LONGEST_STRING: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Structure<'a> {
    /// Type, such as 17 for a memory device.
    pub(super) kind: u8,
    fields: &'a [u8],
    /// The strings, separated by zeros.
    strings: &'a [u8],
}

/// Parses all structures of a table. Fails if any is damaged: missing modules would make the memory
/// look slower than it is.
pub(super) fn structures(table: &[u8]) -> Result<Vec<Structure<'_>>, String> {
    let mut found = Vec::new();
    let mut rest = table;
    while !rest.is_empty() {
        let damaged = || format!("is damaged at byte {}", table.len() - rest.len());
        let (structure, after) = Structure::first(rest).ok_or_else(damaged)?;
        if structure.kind == END_OF_TABLE {
            break;
        }
        found.push(structure);
        rest = after;
    }
    Ok(found)
}

impl<'a> Structure<'a> {
    /// Splits a table into its first structure and the rest.
    fn first(table: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (&kind, &length) = (table.first()?, table.get(1)?);
        let (fields, rest) = table.split_at_checked(usize::from(length).max(HEADER))?;
        // Two zeros end the strings, even if there are none.
        let end = rest.windows(2).position(|two| two == [0, 0])?;
        let whole = usize::from(length) >= HEADER;
        whole.then_some((Self { kind, fields, strings: &rest[..end] }, &rest[end + 2..]))
    }

    /// Returns the byte at an offset if the structure is long enough; `word` and others do
    /// likewise.
    pub(super) fn byte(&self, offset: usize) -> Option<u8> {
        self.fields.get(offset).copied()
    }

    pub(super) fn word(&self, offset: usize) -> Option<u16> {
        Some(u16::from_le_bytes([self.byte(offset)?, self.byte(offset + 1)?]))
    }

    pub(super) fn dword(&self, offset: usize) -> Option<u32> {
        Some(u32::from(self.word(offset)?) | u32::from(self.word(offset + 2)?) << 16)
    }

    /// Returns the string whose number is at an offset, without control characters. Empty if it is
    /// missing or means none.
    pub(super) fn string(&self, offset: usize) -> String {
        let number = usize::from(self.byte(offset).unwrap_or(0));
        let bytes = number.checked_sub(1).and_then(|n| self.strings.split(|b| *b == 0).nth(n));
        let text = String::from_utf8_lossy(bytes.unwrap_or_default());
        let clean: String =
            text.trim().chars().filter(|c| !c.is_control()).take(LONGEST_STRING).collect();
        match clean.to_lowercase().as_str() {
            "not specified" | "unknown" | "none" => String::new(),
            _ => clean,
        }
    }
}

/// Returns the major and minor version of a 32-bit or 64-bit entry point.
pub(super) fn version(entry_point: &[u8]) -> Option<(u8, u8)> {
    let at = |n: usize| Some((*entry_point.get(n)?, *entry_point.get(n + 1)?));
    match entry_point {
        [b'_', b'S', b'M', b'3', b'_', ..] => at(7),
        [b'_', b'S', b'M', b'_', ..] => at(6),
        _ => None,
    }
}

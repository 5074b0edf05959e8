//! Reads files up to a maximum size, so that no file can fill the memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use proofmark_model::format_size;

/// Reads a text file. Fails if it has more than `most` bytes, or is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text");
    String::from_utf8(read_bytes(File::open(path)?, most)?).map_err(not_text)
}

/// Reads bytes. Fails if there are more than `most`.
pub fn read_bytes(from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("larger than {}", format_size(most))));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_is_read_without_a_bound() {
        let error = read_text(Path::new("/dev/zero"), 1000).unwrap_err();
        assert!(error.to_string().contains("larger than"), "{error}");
    }
}

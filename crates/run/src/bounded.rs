//! Text that is read to a bound: nothing that a user names fills the memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use proofmark_model::format_size;

/// Reads a text file; an error if it holds more than so many bytes, or is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    read_bounded(File::open(path)?, most)
}

/// Reads text; an error if it has more than so many bytes, or is not UTF-8.
pub fn read_bounded(from: impl Read, most: u64) -> io::Result<String> {
    let mut text = String::new();
    from.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        return Err(io::Error::other(format!("larger than {}", format_size(most))));
    }
    Ok(text)
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

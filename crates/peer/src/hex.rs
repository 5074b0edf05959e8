//! Bytes as hexadecimal digits.

/// Two lower-case digits a byte.
pub(crate) fn encode(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Exactly `N` bytes, in digits of either case.
pub(crate) fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}

fn value(digit: u8) -> Option<u8> {
    u8::try_from(char::from(digit).to_digit(16)?).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_full_length_and_digits_will_do() {
        assert_eq!(decode("00fF10"), Some([0, 255, 16]));
        assert_eq!(decode::<3>("00fF1"), None);
        assert_eq!(decode::<3>("00fF1g"), None);
        assert_eq!(decode::<3>("0x0f10"), None);
        assert_eq!(decode::<1>("é"), None);
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(bytes: [u8; 16]) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,70}") {
            let _ = decode::<32>(&text);
        }
    }
}

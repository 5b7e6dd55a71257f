//! Checks the sizes in a Parquet page header before a decoder allocates memory for them.

/// Maximum size of a decompressed page in bytes. Writers aim at about 1 MiB.
const MAX_BYTES: u64 = 128 << 20;

/// Maximum number of values in a page.
const MAX_VALUES: u64 = 1 << 26;

/// Bytes to search for the sizes, which come first.
pub(crate) const HEADER_BYTES: usize = 64;

/// Returns whether a page header requests more memory than a page should. Anything that is not a
/// header is left to the decoder.
pub(crate) fn is_too_large(start: &[u8]) -> bool {
    let mut fields = Fields { bytes: start, id: 0 };
    while let Some(field) = fields.next() {
        match field {
            // uncompressed_page_size
            Field::Number { id: 2, value } if value > MAX_BYTES => return true,
            // The header of a data or dictionary page: its first field is num_values.
            Field::Struct { id: 5..=8 } => {
                let mut inner = Fields { bytes: fields.bytes, id: 0 };
                let count = inner.next();
                return matches!(count, Some(Field::Number { id: 1, value }) if value > MAX_VALUES);
            }
            _ => {}
        }
    }
    false
}

/// A field of a struct in Thrift's compact protocol.
enum Field {
    Number { id: i16, value: u64 },
    Struct { id: i16 },
}

/// The fields of a struct, up to the first that is neither a 32-bit number nor a struct.
struct Fields<'a> {
    bytes: &'a [u8],
    id: i16,
}

impl Fields<'_> {
    fn next(&mut self) -> Option<Field> {
        let (&header, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        let (delta, kind) = (i16::from(header >> 4), header & 0x0f);
        if delta == 0 {
            return None;
        }
        self.id += delta;
        let id = self.id;
        match kind {
            5 => Some(Field::Number { id, value: self.number()? }),
            12 => Some(Field::Struct { id }),
            _ => None,
        }
    }

    /// Reads a zigzag number. Negative numbers and numbers of more than 32 bits count as very
    /// large.
    fn number(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..35).step_by(7) {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(if value & 1 == 0 { value >> 1 } else { u64::MAX });
            }
        }
        Some(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_pages_are_found() {
        // type 0, uncompressed size 1,000, compressed size 20, data page with 300 values
        let plain = [0x15, 0x00, 0x15, 0xd0, 0x0f, 0x15, 0x28, 0x2c, 0x15, 0xd8, 0x04, 0x15, 0x00];
        assert!(!is_too_large(&plain));
        let large_size = [0x15, 0x00, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 0x28, 0x2c];
        let negative_size = [0x15, 0x00, 0x15, 0x01, 0x15, 0x28, 0x2c];
        let many_values = [0x15, 0x00, 0x15, 0xd0, 0x0f, 0x15, 0x28, 0x2c, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f];
        let overlong = [0x15, 0x04, 0x15, 0x02, 0x15, 0x02, 0x4c, 0x15, 0xdc, 0xff, 0xff, 0xff, 0xff, 0x80, 0x01];
        for header in [&large_size[..], &negative_size, &many_values, &overlong] {
            assert!(is_too_large(header), "{header:?}");
        }
        for end in 0..plain.len() {
            is_too_large(&plain[..end]);
        }
    }
}

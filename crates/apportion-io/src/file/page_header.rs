//! Checks the header of a Parquet page before a decoder allocates memory for the sizes in it.
//!
//! Decoders accept headers that writers never produce: fields in any order, duplicated, or of another type. Here a
//! header must have the standard form, so that the checked sizes are the sizes that the decoder uses.

/// Maximum number of bytes in a decompressed page. Writers aim at about 1 MiB.
const MOST_BYTES: i64 = 128 << 20;

/// Maximum number of values in a page.
const MOST_VALUES: i64 = 1 << 26;

/// Maximum nesting depth of unknown fields.
const MOST_NESTED: usize = 8;

/// Numbers of header bytes to try, in increasing order: headers with long statistics need more.
pub(crate) const WINDOWS: [usize; 3] = [64, 4 << 10, 1 << 20];

/// The problem with a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The header continues beyond the available bytes.
    Incomplete,
    /// The header does not have the standard form, or requires more memory than a page should.
    Invalid,
}

/// Checks the header at the start of these bytes.
pub(crate) fn check(start: &[u8]) -> Result<(), Problem> {
    let mut header = Compact { bytes: start };
    let (mut page_type, mut last, mut described) = (None, 0, false);
    while let Some((id, kind)) = header.field(last)? {
        last = id;
        match (id, kind) {
            (1, I32) => page_type = Some(header.number()?),
            (2, I32) => within(header.number()?, MOST_BYTES)?,
            (3 | 4, I32) => drop(header.number()?),
            (5..=8, STRUCT) => {
                header.page()?;
                // The description for the page type.
                described |= matches!((page_type, id), (Some(0), 5) | (Some(1), 6) | (Some(2), 7) | (Some(3), 8));
            }
            (1..=8, _) => return Err(Problem::Invalid),
            _ => header.skip(kind, MOST_NESTED)?,
        }
    }
    if described { Ok(()) } else { Err(Problem::Invalid) }
}

fn within(value: i64, most: i64) -> Result<(), Problem> {
    if (0..=most).contains(&value) { Ok(()) } else { Err(Problem::Invalid) }
}

// Type codes of Thrift's compact protocol.
const I32: u8 = 5;
const STRUCT: u8 = 12;

/// Reads values in Thrift's compact protocol.
struct Compact<'a> {
    bytes: &'a [u8],
}

impl Compact<'_> {
    fn take(&mut self, length: usize) -> Result<&[u8], Problem> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or(Problem::Incomplete)?;
        self.bytes = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Problem> {
        self.take(1).map(|bytes| bytes[0])
    }

    /// Returns the number and type of the next field of a struct; `None` at its end. Each field number must be larger
    /// than the last.
    fn field(&mut self, last: i16) -> Result<Option<(i16, u8)>, Problem> {
        let header = self.byte()?;
        match (header >> 4, header & 0x0f) {
            (_, 0) => Ok(None),
            (0, _) => Err(Problem::Invalid),
            (delta, kind) => {
                let id = last.checked_add(i16::from(delta)).ok_or(Problem::Invalid)?;
                Ok(Some((id, kind)))
            }
        }
    }

    fn unsigned(&mut self) -> Result<u64, Problem> {
        let mut value = 0;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Problem::Invalid)
    }

    fn number(&mut self) -> Result<i64, Problem> {
        let value = self.unsigned()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Checks the description of a page. The first field is the number of values, except in an index page.
    fn page(&mut self) -> Result<(), Problem> {
        let mut last = 0;
        while let Some((id, kind)) = self.field(last)? {
            last = id;
            match (id, kind) {
                (1, I32) => within(self.number()?, MOST_VALUES)?,
                (1, _) => return Err(Problem::Invalid),
                _ => self.skip(kind, MOST_NESTED)?,
            }
        }
        Ok(())
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Result<(), Problem> {
        let deeper = depth.checked_sub(1).ok_or(Problem::Invalid)?;
        match kind {
            1 | 2 => Ok(()),
            3 => self.take(1).map(drop),
            4 | 5 => self.unsigned().map(drop),
            6 => self.long(),
            7 => self.take(8).map(drop),
            8 => {
                let length = self.unsigned()?;
                self.take(usize::try_from(length).map_err(|_| Problem::Invalid)?).map(drop)
            }
            STRUCT => {
                let mut last = 0;
                while let Some((id, kind)) = self.field(last)? {
                    last = id;
                    self.skip(kind, deeper)?;
                }
                Ok(())
            }
            // Pages contain no lists, sets or maps.
            _ => Err(Problem::Invalid),
        }
    }

    /// Skips a 64-bit number.
    fn long(&mut self) -> Result<(), Problem> {
        for _ in 0..10 {
            if self.byte()? & 0x80 == 0 {
                return Ok(());
            }
        }
        Err(Problem::Invalid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Type 0, uncompressed size 1,000, compressed size 20, data page with 300 values, three encodings.
    const PLAIN: [u8; 20] = [
        0x15, 0x00, 0x15, 0xd0, 0x0f, 0x15, 0x28, 0x2c, 0x15, 0xd8, 0x04, 0x15, 0x00, 0x15, 0x06, 0x15, 0x06, 0, 0,
        0xff,
    ];

    fn replaced(at: std::ops::Range<usize>, bytes: &[u8]) -> Vec<u8> {
        [&PLAIN[..at.start], bytes, &PLAIN[at.end..]].concat()
    }

    #[test]
    fn headers_of_writers_are_accepted_and_others_are_not() {
        assert_eq!(check(&PLAIN), Ok(()));
        for end in 0..PLAIN.len() - 1 {
            assert_eq!(check(&PLAIN[..end]), Err(Problem::Incomplete));
        }
        let large = [0xfe, 0xff, 0xff, 0xff, 0x0f];
        for (problem, header) in [
            ("a large page", replaced(3..5, &large)),
            ("a negative size", replaced(3..5, &[0x01])),
            ("many values", replaced(9..11, &large)),
            ("a number of six bytes", replaced(9..11, &[0xdc, 0xff, 0xff, 0xff, 0xff, 0x01])),
            ("a field by its full number", replaced(2..3, &[0x05, 0x04])),
            ("a number of another type", replaced(8..9, &[0x14])),
            ("values twice", replaced(11..12, &[0x05, 0x02])),
            ("the description of another page", replaced(7..8, &[0x4c])),
            ("no description", PLAIN[..7].iter().copied().chain([0]).collect()),
        ] {
            assert_eq!(check(&header), Err(Problem::Invalid), "{problem}");
        }
    }

    #[test]
    fn statistics_are_skipped() {
        let statistics = [&[0x1c, 0x18, 0x03][..], b"abc", &[0x16, 0x02, 0x00]].concat();
        assert_eq!(check(&replaced(17..17, &statistics)), Ok(()));
        let long = [&[0x1c, 0x18, 0xac, 0x02][..], &[b'a'; 300], &[0x00]].concat();
        assert_eq!(check(&replaced(17..17, &long)), Ok(()));
        assert_eq!(check(&replaced(17..17, &long)[..WINDOWS[0]]), Err(Problem::Incomplete));
    }
}

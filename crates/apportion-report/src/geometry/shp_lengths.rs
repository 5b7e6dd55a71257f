//! Checks that the numbers of parts and points in a .shp fit into their records, because the reader allocates by them.

/// The length of the header of .shp and .shx files.
const HEADER: usize = 100;

/// Returns whether every record of a .shp fits into the file, and every list of parts and points into its record. The
/// records are those at the offsets in the .shx, or those that follow each other if there is none.
pub(super) fn fit(shp: &[u8], shx: Option<&[u8]>) -> bool {
    match shx {
        Some(shx) => are_indexed(shp, shx),
        None => follow_each_other(shp),
    }
}

fn follow_each_other(shp: &[u8]) -> bool {
    let Some(end) = declared_length(shp) else { return false };
    let mut offset = HEADER;
    while offset < end {
        match record_end(shp, offset) {
            Some(next) => offset = next,
            None => return false,
        }
    }
    true
}

fn are_indexed(shp: &[u8], shx: &[u8]) -> bool {
    let Some(end) = declared_length(shx) else { return false };
    shx[HEADER..end].chunks_exact(8).all(|entry| {
        let words = big_endian(entry, 0).and_then(|words| usize::try_from(words).ok());
        words.is_some_and(|words| record_end(shp, 2 * words).is_some())
    })
}

/// Returns the length stated in a header, if the file is at least that long.
fn declared_length(file: &[u8]) -> Option<usize> {
    let length = 2 * usize::try_from(big_endian(file, 24)?).ok()?;
    (HEADER..=file.len()).contains(&length).then_some(length)
}

/// Returns the end of the record at an offset, if the record and its lists fit.
fn record_end(shp: &[u8], offset: usize) -> Option<usize> {
    let content = offset.checked_add(8)?;
    let length = 2 * usize::try_from(big_endian(shp, offset.checked_add(4)?)?).ok()?;
    let end = content.checked_add(length)?;
    let record = shp.get(content..end)?;
    let number = |index: usize| usize::try_from(little_endian(record, index)?).ok();
    // The bounding box takes the bytes from 4 to 36.
    let needed = match little_endian(record, 0)? {
        // Null shape and points.
        0 => 4,
        1 | 11 | 21 => 20,
        // Lines and polygons: parts, points.
        3 | 5 | 13 | 15 | 23 | 25 => {
            44usize.checked_add(number(36)?.checked_mul(4)?)?.checked_add(number(40)?.checked_mul(16)?)?
        }
        // Multipoints.
        8 | 18 | 28 => 40usize.checked_add(number(36)?.checked_mul(16)?)?,
        // Multipatches: two lists of parts.
        31 => 44usize.checked_add(number(36)?.checked_mul(8)?)?.checked_add(number(40)?.checked_mul(16)?)?,
        _ => return None,
    };
    (needed <= length).then_some(end)
}

fn big_endian(bytes: &[u8], index: usize) -> Option<i32> {
    Some(i32::from_be_bytes(*bytes.get(index..)?.first_chunk()?))
}

fn little_endian(bytes: &[u8], index: usize) -> Option<i32> {
    Some(i32::from_le_bytes(*bytes.get(index..)?.first_chunk()?))
}

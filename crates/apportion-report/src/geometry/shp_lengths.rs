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
    let has_parts = matches!(little_endian(record, 0)?, 3 | 5 | 13 | 15 | 23 | 25 | 31);
    let fits = needed <= length && (!has_parts || parts_are_in_order(record, number(36)?, number(40)?));
    fits.then_some(end)
}

/// Returns whether each part of a record starts at one of its points, and after the part before it: the reader allocates
/// by the distances between these starts.
fn parts_are_in_order(record: &[u8], parts: usize, points: usize) -> bool {
    let mut least = 0;
    (0..parts).all(|part| {
        let start = little_endian(record, 44 + 4 * part).and_then(|start| usize::try_from(start).ok());
        let is_in_order = start.is_some_and(|start| (least..=points).contains(&start));
        least = start.unwrap_or(least);
        is_in_order
    })
}

fn big_endian(bytes: &[u8], index: usize) -> Option<i32> {
    Some(i32::from_be_bytes(*bytes.get(index..)?.first_chunk()?))
}

fn little_endian(bytes: &[u8], index: usize) -> Option<i32> {
    Some(i32::from_le_bytes(*bytes.get(index..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a .shp with one polygon of three points, whose parts start at the given points.
    fn polygon(starts: &[i32]) -> Vec<u8> {
        let mut record = 5i32.to_le_bytes().to_vec();
        record.extend([0; 32]);
        record.extend((starts.len() as i32).to_le_bytes());
        record.extend(3i32.to_le_bytes());
        starts.iter().for_each(|start| record.extend(start.to_le_bytes()));
        record.extend([0; 3 * 16]);
        let mut shp = vec![0; HEADER];
        shp.extend(1i32.to_be_bytes());
        shp.extend((record.len() as i32 / 2).to_be_bytes());
        shp.extend(record);
        let words = shp.len() as i32 / 2;
        shp[24..28].copy_from_slice(&words.to_be_bytes());
        shp
    }

    #[test]
    fn parts_start_at_points_in_order() {
        for starts in [&[0][..], &[0, 1], &[0, 3], &[]] {
            assert!(fit(&polygon(starts), None), "{starts:?}");
        }
        for starts in [&[-1][..], &[4], &[2, 1], &[0, i32::MAX], &[i32::MIN]] {
            assert!(!fit(&polygon(starts), None), "{starts:?}");
        }
    }
}

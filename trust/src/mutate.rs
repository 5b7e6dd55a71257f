//! Damage to bytes, to text, and to text inside gzip and Zstandard.

use std::io::{Read, Write};

use crate::draw::Draw;

/// The maximum length of a mutated input.
pub const LONGEST: usize = 1 << 20;

/// Pieces of text that readers treat specially.
const WORDS: [&str; 44] = [
    ",",
    ";",
    "\t",
    "|",
    "\n",
    "\r\n",
    "\r",
    "\"",
    "\"\"",
    "'",
    "\\",
    "\u{feff}",
    "\0",
    " ",
    "",
    "0",
    "1",
    "-1",
    "-0",
    "0.5",
    "1.5",
    "1e308",
    "1e-320",
    "NaN",
    "inf",
    "(S)",
    "1,000",
    "0,5",
    "50%",
    "9223372036854775807",
    "18446744073709551616",
    "null",
    "true",
    "[",
    "]",
    "{",
    "}",
    ":",
    "é",
    "\u{1b}[31m",
    " / ",
    "Uncoded",
    "p_a",
    "class",
];

/// Damages bytes in one to four places.
pub fn bytes(input: &[u8], draw: &mut Draw<'_>) -> Vec<u8> {
    let mut output = input.to_vec();
    for _ in 0..=draw.below(4) {
        one(&mut output, draw);
    }
    output.truncate(LONGEST);
    output
}

fn one(bytes: &mut Vec<u8>, draw: &mut Draw<'_>) {
    if bytes.is_empty() {
        bytes.push(draw.below(256) as u8);
        return;
    }
    let at = draw.index(bytes.len());
    match draw.below(12) {
        0 | 1 => bytes[at] ^= 1 << draw.below(8),
        2 => bytes[at] = draw.below(256) as u8,
        3 => bytes[at] = *draw.pick(&[0, 1, 0x7f, 0x80, 0xff, b'"', b'\n', b',']),
        4 => set_number(bytes, at, draw),
        5 => bytes.truncate(at),
        6 => {
            let end = (at + 1 + draw.index(64)).min(bytes.len());
            bytes.drain(at..end);
        }
        7 => {
            let end = (at + 1 + draw.index(64)).min(bytes.len());
            let copy = bytes[at..end].to_vec();
            let to = draw.index(bytes.len());
            bytes.splice(to..to, copy);
        }
        8 => {
            let to = draw.index(bytes.len());
            bytes.swap(at, to);
        }
        9 => {
            let word = draw.pick(&WORDS).as_bytes();
            bytes.splice(at..at, word.iter().copied());
        }
        10 => {
            let fill = (0..1 + draw.index(16)).map(|_| draw.below(256) as u8).collect::<Vec<_>>();
            bytes.splice(at..at, fill);
        }
        _ => {
            let end = (at + 1 + draw.index(16)).min(bytes.len());
            let fill = draw.below(256) as u8;
            bytes[at..end].fill(fill);
        }
    }
}

/// Overwrites 2, 4 or 8 bytes, at a multiple of that width, with a boundary value.
fn set_number(bytes: &mut [u8], at: usize, draw: &mut Draw<'_>) {
    let width = *draw.pick(&[2, 4, 8]);
    let start = at / width * width;
    let number = integer(0, draw).to_le_bytes();
    let end = (start + width).min(bytes.len());
    bytes[start..end].copy_from_slice(&number[..end - start]);
}

/// Returns another number: near the old one, at the limit of a type, or any.
pub fn integer(old: i64, draw: &mut Draw<'_>) -> i64 {
    const EDGES: [i64; 14] = [
        0,
        1,
        -1,
        2,
        127,
        255,
        65_535,
        65_536,
        i32::MAX as i64,
        i32::MIN as i64,
        u32::MAX as i64,
        i64::MAX,
        i64::MIN,
        1 << 40,
    ];
    match draw.below(5) {
        0 => old.wrapping_add(1),
        1 => old.wrapping_sub(1),
        2 => old.wrapping_mul(2),
        3 => *draw.pick(&EDGES),
        _ => draw.any() as i64 >> draw.below(64),
    }
}

/// Damages lines and words of text, as well as its bytes.
pub fn text(input: &[u8], draw: &mut Draw<'_>) -> Vec<u8> {
    match draw.below(4) {
        0 => bytes(input, draw),
        1 => lines(input, draw),
        2 => number(input, draw),
        _ => {
            let mut output = input.to_vec();
            for _ in 0..=draw.below(3) {
                let word = draw.pick(&WORDS).as_bytes();
                let at = draw.index(output.len() + 1);
                let end = (at + draw.index(4)).min(output.len());
                output.splice(at..end, word.iter().copied());
            }
            output
        }
    }
}

/// Removes, repeats, moves or cuts a line.
fn lines(input: &[u8], draw: &mut Draw<'_>) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = input.split_inclusive(|&byte| byte == b'\n').collect();
    if lines.is_empty() {
        return vec![b'\n'];
    }
    let (at, to) = (draw.index(lines.len()), draw.index(lines.len()));
    match draw.below(4) {
        0 => _ = lines.remove(at),
        1 => lines.insert(to, lines[at]),
        2 => lines.swap(at, to),
        _ => lines[at] = &lines[at][..draw.index(lines[at].len())],
    }
    lines.concat()
}

/// Replaces a number within text.
fn number(input: &[u8], draw: &mut Draw<'_>) -> Vec<u8> {
    let mut output = input.to_vec();
    let is_number = |byte: &u8| byte.is_ascii_digit() || *byte == b'.' || *byte == b'-';
    let starts: Vec<usize> =
        (0..input.len()).filter(|&at| is_number(&input[at]) && (at == 0 || !is_number(&input[at - 1]))).collect();
    if starts.is_empty() {
        return bytes(input, draw);
    }
    let start = *draw.pick(&starts);
    let end = start + input[start..].iter().take_while(|byte| is_number(byte)).count();
    let text = match draw.below(3) {
        0 => integer(0, draw).to_string(),
        1 => format!("{:e}", f64::from_bits(draw.any())),
        _ => {
            (*draw.pick(&["0", "1", "-1", "1e400", "0.5", "1e-9", "-0.0000001", "", "2", "00", "1.", ".5"])).to_owned()
        }
    };
    output.splice(start..end, text.bytes());
    output
}

/// Damages compressed text: its bytes, or the text inside.
pub fn packed(input: &[u8], draw: &mut Draw<'_>) -> Vec<u8> {
    let inside = if draw.one_in(2) { None } else { unpack(input) };
    match inside {
        Some(inside) => {
            let damaged = text(&inside, draw);
            if input.starts_with(&GZIP) { gzip(&damaged) } else { zstandard(&damaged) }
        }
        None => bytes(input, draw),
    }
}

/// The magic number of gzip.
pub const GZIP: [u8; 2] = [0x1f, 0x8b];
/// The magic number of Zstandard.
pub const ZSTANDARD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Returns the decompressed text, up to a megabyte, or `None` if it cannot be decompressed.
pub fn unpack(input: &[u8]) -> Option<Vec<u8>> {
    let mut output = Vec::new();
    let read = if input.starts_with(&GZIP) {
        flate2::bufread::MultiGzDecoder::new(input).take(LONGEST as u64).read_to_end(&mut output)
    } else {
        zstd::Decoder::with_buffer(input).ok()?.take(LONGEST as u64).read_to_end(&mut output)
    };
    read.ok().map(|_| output)
}

/// Compresses bytes with gzip.
pub fn gzip(input: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    // Writing to a vector does not fail.
    let _ = writer.write_all(input);
    writer.finish().unwrap_or_default()
}

/// Compresses bytes with Zstandard.
pub fn zstandard(input: &[u8]) -> Vec<u8> {
    zstd::encode_all(input, 1).unwrap_or_default()
}

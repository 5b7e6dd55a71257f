//! The parts of a Parquet file, and damage to one part that keeps the others readable.

use std::ops::Range;

use crate::draw::Draw;
use crate::mutate;
use crate::thrift::{Value, read_struct};

const MAGIC: &[u8; 4] = b"PAR1";

// Field numbers in parquet.thrift.
const FILE_ROWS: i16 = 3;
const FILE_GROUPS: i16 = 4;
const GROUP_COLUMNS: i16 = 1;
const GROUP_OFFSET: i16 = 5;
const CHUNK_METADATA: i16 = 3;
const CHUNK_OFFSETS: [i16; 3] = [2, 4, 6];
const COLUMN_COMPRESSED: i16 = 7;
const COLUMN_DATA: i16 = 9;
const COLUMN_DICTIONARY: i16 = 11;
const COLUMN_OFFSETS: [i16; 3] = [9, 10, 11];
const PAGE_COMPRESSED: i16 = 3;
const PAGE_CRC: i16 = 4;

/// A Parquet file, split into parts.
#[derive(Clone, Debug)]
pub struct ParquetFile {
    /// Everything before the footer.
    body: Vec<u8>,
    footer: Value,
}

/// The location of a page, and the column chunk that it belongs to.
#[derive(Clone, Debug)]
struct Page {
    group: usize,
    column: usize,
    header: Range<usize>,
    body: Range<usize>,
}

impl ParquetFile {
    /// Splits a file into parts, or returns `None` if its footer cannot be found or read.
    pub fn parse(bytes: &[u8]) -> Option<ParquetFile> {
        let (rest, magic) = bytes.split_last_chunk::<4>()?;
        let (rest, length) = rest.split_last_chunk::<4>()?;
        let start = rest.len().checked_sub(u32::from_le_bytes(*length) as usize)?;
        if magic != MAGIC {
            return None;
        }
        let (footer, _) = read_struct(&rest[start..])?;
        Some(ParquetFile { body: rest[..start].to_vec(), footer })
    }

    /// Returns the number of rows stated in the footer.
    pub fn rows(&self) -> Option<i64> {
        self.footer.field(FILE_ROWS)?.integer()
    }

    /// Writes the file as bytes.
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = self.body.clone();
        let start = bytes.len();
        self.footer.write(&mut bytes);
        let length = (bytes.len() - start) as u32;
        bytes.extend(length.to_le_bytes());
        bytes.extend(MAGIC);
        bytes
    }

    /// Returns the pages of all columns that can be found.
    fn pages(&self) -> Vec<Page> {
        let mut pages = Vec::new();
        let groups = self.footer.field(FILE_GROUPS).map_or(&[][..], Value::elements);
        for (group, own) in groups.iter().enumerate() {
            let columns = own.field(GROUP_COLUMNS).map_or(&[][..], Value::elements);
            for (column, chunk) in columns.iter().enumerate() {
                self.pages_of(group, column, chunk, &mut pages);
            }
        }
        pages
    }

    fn pages_of(&self, group: usize, column: usize, chunk: &Value, pages: &mut Vec<Page>) -> Option<()> {
        let metadata = chunk.field(CHUNK_METADATA)?;
        let number = |field: i16| metadata.field(field).and_then(Value::integer);
        let start = number(COLUMN_DICTIONARY).filter(|&start| start > 0).or(number(COLUMN_DATA))?;
        let mut at = usize::try_from(start).ok()?;
        let end = at.checked_add(usize::try_from(number(COLUMN_COMPRESSED)?).ok()?)?.min(self.body.len());
        while at < end {
            let (header, length) = read_struct(&self.body[at..end])?;
            let size = usize::try_from(header.field(PAGE_COMPRESSED)?.integer()?).ok()?;
            let body = at + length..(at + length).checked_add(size).filter(|&last| last <= end)?;
            let next = body.end;
            pages.push(Page { group, column, header: at..at + length, body });
            at = next;
        }
        Some(())
    }

    /// Replaces bytes of a page, and adjusts all offsets in the footer that are after them.
    fn splice(&mut self, page: &Page, range: Range<usize>, bytes: &[u8]) {
        let (end, moved) = (range.end as i64, bytes.len() as i64 - range.len() as i64);
        self.body.splice(range, bytes.iter().copied());
        let move_field = |value: &mut Value, field: i16| {
            if let Some(Value::Integer(_, offset)) = value.field_mut(field)
                && *offset >= end
            {
                *offset += moved;
            }
        };
        let Some(groups) = self.footer.field_mut(FILE_GROUPS) else { return };
        for (group, own) in groups.elements_mut().iter_mut().enumerate() {
            move_field(own, GROUP_OFFSET);
            let columns = own.field_mut(GROUP_COLUMNS).map_or(&mut [][..], Value::elements_mut);
            for (column, chunk) in columns.iter_mut().enumerate() {
                CHUNK_OFFSETS.into_iter().for_each(|field| move_field(chunk, field));
                let Some(metadata) = chunk.field_mut(CHUNK_METADATA) else { continue };
                COLUMN_OFFSETS.into_iter().for_each(|field| move_field(metadata, field));
                if (group, column) == (page.group, page.column)
                    && let Some(Value::Integer(_, size)) = metadata.field_mut(COLUMN_COMPRESSED)
                {
                    *size += moved;
                }
            }
        }
    }

    fn header(&self, page: &Page) -> Option<Value> {
        read_struct(&self.body[page.header.clone()]).map(|(header, _)| header)
    }

    fn set_header(&mut self, page: &Page, header: &Value) {
        let mut bytes = Vec::new();
        header.write(&mut bytes);
        self.splice(page, page.header.clone(), &bytes);
    }

    /// Sets the checksum of every page.
    pub fn with_checksums(mut self) -> ParquetFile {
        for index in 0..self.pages().len() {
            let Some(page) = self.pages().get(index).cloned() else { break };
            let sum = checksum(&self.body[page.body.clone()]);
            if let Some(mut header) = self.header(&page) {
                set_checksum(&mut header, sum);
                self.set_header(&page, &header);
            }
        }
        self
    }

    /// Damages the body of a page. Its size is corrected and, in most cases, its checksum, if it has one.
    fn damage_body(&mut self, page: &Page, draw: &mut Draw<'_>) -> Option<()> {
        let body = mutate::bytes(&self.body[page.body.clone()], draw);
        let mut header = self.header(page)?;
        if let Some(Value::Integer(_, size)) = header.field_mut(PAGE_COMPRESSED) {
            *size = body.len() as i64;
        }
        if header.field(PAGE_CRC).is_some() && !draw.one_in(8) {
            set_checksum(&mut header, checksum(&body));
        }
        self.splice(page, page.body.clone(), &body);
        self.set_header(page, &header);
        Some(())
    }

    /// Swaps two pages with their headers.
    fn exchange(&mut self, one: &Page, other: &Page) {
        let (first, second) = if one.header.start < other.header.start { (one, other) } else { (other, one) };
        let whole = |page: &Page| page.header.start..page.body.end;
        let (front, back) = (self.body[whole(first)].to_vec(), self.body[whole(second)].to_vec());
        if whole(first).end <= whole(second).start {
            self.splice(second, whole(second), &front);
            self.splice(first, whole(first), &back);
        }
    }
}

/// Returns the checksum of a page: CRC-32 as a signed number.
fn checksum(body: &[u8]) -> i64 {
    let mut sum = flate2::Crc::new();
    sum.update(body);
    i64::from(sum.sum() as i32)
}

fn set_checksum(header: &mut Value, sum: i64) {
    if let Value::Struct(fields) = header {
        fields.retain(|(number, _)| *number != PAGE_CRC);
        let at = fields.iter().take_while(|(number, _)| *number < PAGE_CRC).count();
        fields.insert(at, (PAGE_CRC, Value::Integer(5, sum)));
    }
}

/// Damages one to three parts of a Parquet file. Input that is not Parquet is damaged as bytes.
pub fn mutate(input: &[u8], draw: &mut Draw<'_>) -> Vec<u8> {
    let Some(mut file) = ParquetFile::parse(input).filter(|_| !draw.one_in(12)) else {
        return mutate::bytes(input, draw);
    };
    for _ in 0..=draw.below(3) {
        let pages = file.pages();
        let kind = if pages.is_empty() { 0 } else { draw.below(8) };
        let page = (!pages.is_empty()).then(|| draw.pick(&pages).clone());
        match (kind, page) {
            (0..=2, _) | (_, None) => damage_tree(&mut file.footer, draw),
            (3 | 4, Some(page)) => {
                if let Some(mut header) = file.header(&page) {
                    damage_tree(&mut header, draw);
                    file.set_header(&page, &header);
                }
            }
            (5, Some(page)) => file.exchange(&page, draw.pick(&pages)),
            (6, Some(page)) => {
                if let Some(mut header) = file.header(&page) {
                    let sum = checksum(&file.body[page.body.clone()]);
                    set_checksum(&mut header, if draw.one_in(2) { sum } else { mutate::integer(sum, draw) });
                    file.set_header(&page, &header);
                }
            }
            (_, Some(page)) => _ = file.damage_body(&page, draw),
        }
    }
    let mut output = file.write();
    output.truncate(mutate::LONGEST);
    output
}

/// Changes one value of a tree.
fn damage_tree(tree: &mut Value, draw: &mut Draw<'_>) {
    let index = draw.index(tree.nodes());
    let Some(node) = tree.node_mut(index) else { return };
    match node {
        Value::Bool(value) => *value = !*value,
        Value::Byte(value) => *value = draw.below(256) as u8,
        Value::Integer(kind, value) => {
            *value = mutate::integer(*value, draw);
            if draw.one_in(16) {
                *kind = *draw.pick(&[4, 5, 6]);
            }
        }
        Value::Double(bytes) => *bytes = draw.any().to_le_bytes(),
        Value::Binary(bytes) => *bytes = mutate::bytes(bytes, draw),
        Value::List(_, of, values) => {
            if draw.one_in(8) {
                *of = draw.below(13) as u8;
            }
            damage_items(values, draw);
        }
        Value::Struct(fields) if draw.one_in(2) && !fields.is_empty() => {
            let at = draw.index(fields.len());
            fields[at].0 = draw.below(20) as i16;
        }
        Value::Struct(fields) => damage_items(fields, draw),
    }
}

/// Removes, repeats or swaps items.
fn damage_items<T: Clone>(items: &mut Vec<T>, draw: &mut Draw<'_>) {
    if items.is_empty() {
        return;
    }
    let (at, to) = (draw.index(items.len()), draw.index(items.len()));
    match draw.below(3) {
        0 => _ = items.remove(at),
        1 => items.insert(to, items[at].clone()),
        _ => items.swap(at, to),
    }
}

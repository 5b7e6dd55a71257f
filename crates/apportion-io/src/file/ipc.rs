//! Arrow IPC files and streams, message by message. Lengths are checked before memory is allocated
//! for them.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::{RecordBatchDecoder, read_dictionary, read_footer_length};
use arrow_ipc::{Message, MessageHeader, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::ArrowError;
use arrow_schema::{Schema, SchemaRef};

use super::read_ahead::BatchResult;
use super::stable_file::StableFile;

const MAGIC: &[u8] = b"ARROW1";

/// Maximum number of rows in a batch.
const MAX_ROWS: i64 = 1 << 31;

/// Maximum size of a decompressed batch in bytes.
const MAX_BYTES: i64 = 1 << 33;

/// The batches of an Arrow file or stream.
pub(crate) struct IpcBatches {
    stable: Arc<StableFile>,
    file: File,
    layout: Layout,
    schema: SchemaRef,
    projection: Option<Vec<usize>>,
    dictionaries: HashMap<i64, ArrayRef>,
    /// The format version in the footer.
    version: Option<MetadataVersion>,
    batch_rows: usize,
    /// The unread rest of the current batch.
    remainder: Option<RecordBatch>,
    read: Arc<AtomicU64>,
}

/// The locations of the messages.
enum Layout {
    /// As listed in the footer.
    File(VecDeque<Block>),
    /// One after another, starting at this byte.
    Stream(u64),
}

/// A message: its start, and the lengths of its metadata and body.
#[derive(Clone, Copy, Debug)]
struct Block {
    start: u64,
    metadata: u64,
    body: u64,
}

impl IpcBatches {
    /// Reads the schema and, for a file, its footer and dictionaries.
    pub(crate) fn open(
        stable: &Arc<StableFile>,
        file: File,
        batch_rows: usize,
        read: Arc<AtomicU64>,
    ) -> Result<IpcBatches, ArrowError> {
        let start = stable.read_range(&file, 0, stable.size().min(8))?;
        let mut batches = IpcBatches {
            stable: stable.clone(),
            file,
            layout: Layout::Stream(0),
            schema: Arc::new(Schema::empty()),
            projection: None,
            dictionaries: HashMap::new(),
            version: None,
            batch_rows,
            remainder: None,
            read,
        };
        if start.starts_with(b"FEA1") {
            return Err(invalid("it is Feather version 1; write it again as Arrow or Feather version 2"));
        }
        if start.starts_with(MAGIC) {
            batches.read_footer()?;
        } else {
            batches.read_stream_schema()?;
        }
        Ok(batches)
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Sets the columns to read.
    pub(crate) fn with_columns(self, projection: Vec<usize>) -> IpcBatches {
        IpcBatches { projection: Some(projection), ..self }
    }

    fn read_footer(&mut self) -> Result<(), ArrowError> {
        let size = self.stable.size();
        let short = || invalid("it is too short");
        let trailer = self.stable.read_range(&self.file, size.checked_sub(10).ok_or_else(short)?, 10)?;
        let trailer: [u8; 10] = trailer.try_into().map_err(|_| short())?;
        let length = read_footer_length(trailer)? as u64;
        let footer = self.stable.read_range(&self.file, (size - 10).checked_sub(length).ok_or_else(short)?, length)?;
        let footer = root_as_footer(&footer).map_err(|_| invalid("its footer is damaged"))?;
        self.version = Some(footer.version());
        let schema = footer.schema().ok_or_else(|| invalid("its footer has no schema"))?;
        self.schema = Arc::new(checked_schema(schema)?);
        let block = |block: &arrow_ipc::Block| -> Result<Block, ArrowError> {
            let part = |length: i64| u64::try_from(length).map_err(|_| invalid("its footer is damaged"));
            Ok(Block {
                start: part(block.offset())?,
                metadata: part(i64::from(block.metaDataLength()))?,
                body: part(block.bodyLength())?,
            })
        };
        for dictionary in footer.dictionaries().iter().flatten() {
            let (metadata, body) = self.read_message(block(dictionary)?)?;
            self.add_dictionary(message(&metadata)?, &body)?;
        }
        let blocks = footer.recordBatches().ok_or_else(|| invalid("its footer lists no batches"))?;
        let listed = blocks.len() + footer.dictionaries().map_or(0, |dictionaries| dictionaries.len());
        if listed != self.count_messages(size - 10 - length)? {
            return Err(invalid("its footer does not list all of its batches"));
        }
        self.layout = Layout::File(blocks.iter().map(block).collect::<Result<_, _>>()?);
        Ok(())
    }

    /// Counts the messages with data before the footer, independently of the footer's list.
    fn count_messages(&mut self, footer: u64) -> Result<usize, ArrowError> {
        let mut found = 0;
        // Writers pad the start with zeros, to 8 or to 64 bytes.
        let mut start = MAGIC.len().next_multiple_of(8) as u64;
        while start < footer.min(64) && self.stable.read_range(&self.file, start, 8)? == [0; 8] {
            start += 8;
        }
        self.layout = Layout::Stream(start);
        while let Some(block) = self.next_block(footer)? {
            let metadata = self.stable.read_range(&self.file, block.start, block.metadata)?;
            found += usize::from(message(&metadata)?.header_type() != MessageHeader::Schema);
        }
        Ok(found)
    }

    fn read_stream_schema(&mut self) -> Result<(), ArrowError> {
        let block = self.next_block(self.stable.size())?.ok_or_else(|| invalid("it has no schema"))?;
        let (metadata, _) = self.read_message(block)?;
        let schema =
            message(&metadata)?.header_as_schema().ok_or_else(|| invalid("it does not begin with a schema"))?;
        self.schema = Arc::new(checked_schema(schema)?);
        Ok(())
    }

    /// Returns the next message before byte `end`.
    fn next_block(&mut self, end: u64) -> Result<Option<Block>, ArrowError> {
        let start = match &mut self.layout {
            Layout::File(blocks) => return Ok(blocks.pop_front()),
            Layout::Stream(start) => *start,
        };
        if start >= end {
            return Ok(None);
        }
        let word = |at: u64| -> Result<u32, ArrowError> {
            let bytes = self.stable.read_range(&self.file, at, 4)?;
            Ok(u32::from_le_bytes(bytes.try_into().map_err(|_| invalid("it is too short"))?))
        };
        let (prefix, length) = match word(start)? {
            u32::MAX => (8, word(start + 4)?),
            length => (4, length),
        };
        if length == 0 {
            // The end of a stream. Data after it would be lost.
            return if start + prefix == end { Ok(None) } else { Err(invalid("it has data after its end")) };
        }
        let metadata = prefix + u64::from(length);
        let bytes = self.stable.read_range(&self.file, start, metadata)?;
        let body = message(&bytes)?.bodyLength();
        let body = u64::try_from(body).map_err(|_| invalid("a message has a negative length"))?;
        let next = (start + metadata).checked_add(body).ok_or_else(|| invalid("a message is too long"))?;
        self.layout = Layout::Stream(next);
        Ok(Some(Block { start, metadata, body }))
    }

    /// Reads the metadata and body of a message, and checks the lengths in it.
    fn read_message(&self, block: Block) -> Result<(Vec<u8>, Buffer), ArrowError> {
        let metadata = self.stable.read_range(&self.file, block.start, block.metadata)?;
        let body_start = block.start.checked_add(block.metadata).ok_or_else(|| invalid("a message is too long"))?;
        let body = Buffer::from_vec(self.stable.read_range(&self.file, body_start, block.body)?);
        let read = message(&metadata)?;
        // Some writers omit the version in the footer, which is then read as the first version.
        if self.version.is_some_and(|version| version != MetadataVersion::V1 && version != read.version()) {
            return Err(invalid("its footer and its messages have different versions"));
        }
        check_lengths(read, &body)?;
        self.read.store(body_start + block.body, Ordering::Relaxed);
        Ok((metadata, body))
    }

    fn add_dictionary(&mut self, message: Message<'_>, body: &Buffer) -> Result<(), ArrowError> {
        let batch = message.header_as_dictionary_batch().ok_or_else(|| invalid("a dictionary is damaged"))?;
        read_dictionary(body, batch, &self.schema, &mut self.dictionaries, &message.version())
    }

    /// Returns the next batch as stored in the file.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        while let Some(block) = self.next_block(self.stable.size())? {
            let (metadata, body) = self.read_message(block)?;
            let message = message(&metadata)?;
            match message.header_type() {
                MessageHeader::DictionaryBatch => self.add_dictionary(message, &body)?,
                MessageHeader::RecordBatch => {
                    let batch = message.header_as_record_batch().ok_or_else(|| invalid("a batch is damaged"))?;
                    let version = message.version();
                    let decoder =
                        RecordBatchDecoder::try_new(&body, batch, self.schema.clone(), &self.dictionaries, &version)?;
                    return decoder.with_projection(self.projection.as_deref()).read_record_batch().map(Some);
                }
                _ => return Err(invalid("it holds something other than a table")),
            }
        }
        Ok(None)
    }

    fn next_rows(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let Some(batch) = self.remainder.take().map_or_else(|| self.next_batch(), |batch| Ok(Some(batch)))? else {
            return Ok(None);
        };
        if batch.num_rows() <= self.batch_rows {
            return Ok(Some(batch));
        }
        self.remainder = Some(batch.slice(self.batch_rows, batch.num_rows() - self.batch_rows));
        Ok(Some(batch.slice(0, self.batch_rows)))
    }
}

impl Iterator for IpcBatches {
    type Item = BatchResult;

    fn next(&mut self) -> Option<BatchResult> {
        self.next_rows().transpose()
    }
}

/// Returns the schema; refuses a file with another byte order.
fn checked_schema(schema: arrow_ipc::Schema<'_>) -> Result<Schema, ArrowError> {
    if schema.endianness().equals_to_target_endianness() {
        return Ok(fb_to_schema(schema));
    }
    Err(invalid("it was written with a different byte order"))
}

fn invalid(problem: &str) -> ArrowError {
    ArrowError::IpcError(problem.to_owned())
}

/// Parses a message that follows its length prefix.
fn message(metadata: &[u8]) -> Result<Message<'_>, ArrowError> {
    let prefix = if metadata.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let message = metadata.get(prefix..).ok_or_else(|| invalid("a message is too short"))?;
    let message = root_as_message(message).map_err(|_| invalid("a message is damaged"))?;
    check_version(message.version())?;
    Ok(message)
}

/// Refuses versions of the format other than 4 and 5, which Arrow 0.8 and later write.
fn check_version(version: MetadataVersion) -> Result<(), ArrowError> {
    match version {
        MetadataVersion::V4 | MetadataVersion::V5 => Ok(()),
        _ => Err(invalid("it has an unknown format version; write it as version 5")),
    }
}

/// Refuses buffers outside the message body and implausible lengths.
fn check_lengths(message: Message<'_>, body: &[u8]) -> Result<(), ArrowError> {
    let dictionary = message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
    let Some(batch) = message.header_as_record_batch().or(dictionary) else { return Ok(()) };
    let is_possible = |rows: i64| (0..=MAX_ROWS).contains(&rows);
    let nodes = batch.nodes();
    if !is_possible(batch.length()) || !nodes.iter().flatten().all(|node| is_possible(node.length())) {
        return Err(invalid("a batch has an impossible number of rows"));
    }
    let mut bytes = 0i64;
    for buffer in batch.buffers().iter().flatten() {
        let range = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
        let range = range.and_then(|(start, length)| Some(start..start.checked_add(length)?));
        let part = range.and_then(|range| body.get(range)).ok_or_else(|| invalid("a buffer lies outside its batch"))?;
        if batch.compression().is_some() && !part.is_empty() {
            let length = part.first_chunk().ok_or_else(|| invalid("a compressed buffer is too short"))?;
            bytes = bytes.saturating_add(i64::from_le_bytes(*length).max(0));
        }
    }
    if bytes > MAX_BYTES {
        return Err(io::Error::other("a batch needs more than 8 GiB of memory; write it in smaller batches").into());
    }
    Ok(())
}

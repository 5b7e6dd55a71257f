//! An input file that is read several times and must not change in between.
//!
//! Two checks: each time the file is opened, its identity (device, inode, size, modification time)
//! is compared with the first one; and each range of bytes that is read again must have the same
//! checksum. Therefore labels are never joined to rows for which they were not computed.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::FOOTER_SIZE;
use parquet::file::reader::{ChunkReader, Length};
use twox_hash::XxHash3_64;

use super::page_header::{self, Problem};
use crate::file_id::{FileId, is_same_file};
use crate::read_at::{read_at, read_some_at};

/// A file with its identity and the checksums of the ranges read so far.
#[derive(Debug)]
pub(crate) struct StableFile {
    path: PathBuf,
    identity: Identity,
    /// Ranges read so far: start → (length, checksum).
    ranges: Mutex<BTreeMap<u64, (u64, u64)>>,
    /// The first handle, kept for the header so that the path need not be opened again for it.
    first_handle: Mutex<Option<File>>,
}

/// Properties that change when a file is replaced or written to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Identity {
    size: u64,
    modified: Option<SystemTime>,
    /// The attribute change time is left out: new links and permissions do not change rows.
    id: Option<FileId>,
}

impl Identity {
    fn of(metadata: &Metadata) -> Identity {
        Identity { size: metadata.len(), modified: metadata.modified().ok(), id: FileId::of(metadata) }
    }
}

/// Reports that a file changed between two reads. It is wrapped in an [`io::Error`] to pass through
/// decoders.
#[derive(Debug, thiserror::Error)]
#[error("the file changed while it was being read")]
pub(crate) struct FileChanged;

/// Returns whether an error, or one of its sources, is [`FileChanged`].
pub(crate) fn is_changed(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.is::<FileChanged>() {
            return true;
        }
        // An io::Error does not expose the error that it wraps through `source`.
        if let Some(inner) = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref)
            && is_changed(inner)
        {
            return true;
        }
        next = error.source();
    }
    // Some decoders keep only the text.
    error.to_string().contains(&FileChanged.to_string())
}

fn changed() -> io::Error {
    io::Error::other(FileChanged)
}

impl StableFile {
    /// Records the identity of an open file.
    pub(crate) fn new(path: &Path, file: &File) -> io::Result<StableFile> {
        let identity = Identity::of(&file.metadata()?);
        Ok(StableFile { path: path.to_owned(), identity, ranges: Mutex::default(), first_handle: Mutex::default() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether an existing path with this metadata refers to this file. On Unix this makes no system call, so
    /// that thousands of outputs can be compared with thousands of inputs.
    pub(crate) fn is_at(&self, path: &Path, metadata: &Metadata) -> bool {
        let is_same = match (self.identity.id, FileId::of(metadata)) {
            (Some(own), Some(other)) => own == other,
            _ => metadata.is_file() && is_same_file(&self.path, path),
        };
        is_same || self.path == path
    }

    /// Returns a value that is the same for all paths of this file.
    pub(crate) fn unique_id(&self) -> io::Result<(Option<FileId>, PathBuf)> {
        let id = self.identity.id;
        Ok((id, if id.is_some() { PathBuf::new() } else { self.path.canonicalize()? }))
    }

    /// Returns the size in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.identity.size
    }

    /// Opens the file again and checks its identity.
    pub(crate) fn open(&self) -> io::Result<File> {
        let file = File::open(&self.path)?;
        self.check_identity(&file.metadata()?)?;
        Ok(file)
    }

    /// Keeps a handle for [`StableFile::open_header`].
    pub(crate) fn keep_handle(&self, file: File) {
        *self.first_handle.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
    }

    /// Opens the file to read its header or footer. Uses the kept handle if there is one, after the
    /// same identity check as [`StableFile::open`].
    pub(crate) fn open_header(&self) -> io::Result<File> {
        let kept = self.first_handle.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut file) = kept else { return self.open() };
        self.check_identity(&std::fs::metadata(&self.path)?)?;
        self.check_identity(&file.metadata()?)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(file)
    }

    /// Checks that the path still refers to the unchanged file.
    pub(crate) fn check(&self) -> io::Result<()> {
        match std::fs::metadata(&self.path) {
            Ok(metadata) => self.check_identity(&metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(changed()),
            Err(error) => Err(error),
        }
    }

    fn check_identity(&self, metadata: &Metadata) -> io::Result<()> {
        if Identity::of(metadata) == self.identity { Ok(()) } else { Err(changed()) }
    }

    /// Records the checksum of a range, or compares it with that of an earlier read.
    pub(crate) fn verify_or_record(&self, start: u64, bytes: &[u8]) -> io::Result<()> {
        self.verify_or_record_checksum(start, bytes.len() as u64, XxHash3_64::oneshot(bytes))
    }

    fn verify_or_record_checksum(&self, start: u64, length: u64, checksum: u64) -> io::Result<()> {
        let mut ranges = self.ranges.lock().unwrap_or_else(PoisonError::into_inner);
        match ranges.get(&start) {
            Some((known, expected)) if *known == length => {
                if *expected == checksum {
                    Ok(())
                } else {
                    Err(changed())
                }
            }
            // A reader that stopped early saw less of the range; the longer range is kept.
            Some((known, _)) if *known > length => Ok(()),
            _ => {
                ranges.insert(start, (length, checksum));
                Ok(())
            }
        }
    }

    /// Returns the start and length of the first recorded range that starts at or after a byte.
    fn next_range(&self, at: u64) -> Option<(u64, u64)> {
        let ranges = self.ranges.lock().unwrap_or_else(PoisonError::into_inner);
        ranges.range(at..).next().map(|(start, (length, _))| (*start, *length))
    }

    /// Reads a range of bytes.
    pub(crate) fn read_range(&self, file: &File, start: u64, length: u64) -> io::Result<Vec<u8>> {
        if start.checked_add(length).is_none_or(|end| end > self.size()) {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it is shorter than its footer says"));
        }
        let mut bytes = vec![0; length as usize];
        read_at(file, &mut bytes, start)?;
        self.verify_or_record(start, &bytes)?;
        Ok(bytes)
    }
}

/// Bytes of a sequential reader that share a checksum.
const BLOCK: usize = 1 << 20;

/// Reads a file from its start, with checksums.
pub(crate) struct SequentialReader {
    stable: Arc<StableFile>,
    file: File,
    hash: XxHash3_64,
    /// Start of the current block, and how much of it has been read.
    start: u64,
    filled: usize,
}

impl SequentialReader {
    /// Reads from an open handle of the file, which is at its start.
    pub(crate) fn new(stable: &Arc<StableFile>, file: File) -> SequentialReader {
        SequentialReader { stable: stable.clone(), file, hash: XxHash3_64::with_seed(0), start: 0, filled: 0 }
    }

    fn end_block(&mut self) -> io::Result<()> {
        use std::hash::Hasher;
        let hash = std::mem::replace(&mut self.hash, XxHash3_64::with_seed(0));
        let (start, filled) = (self.start, std::mem::take(&mut self.filled));
        self.start += filled as u64;
        self.stable.verify_or_record_checksum(start, filled as u64, hash.finish())
    }
}

impl Read for SequentialReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        use std::hash::Hasher;
        let limit = into.len().min(BLOCK - self.filled);
        let read = self.file.read(&mut into[..limit])?;
        self.hash.write(&into[..read]);
        self.filled += read;
        if self.filled == BLOCK || read == 0 && self.filled > 0 && limit > 0 {
            self.end_block()?;
        }
        if read == 0 && limit > 0 && self.start != self.stable.size() {
            return Err(changed()); // truncated, or longer than at first
        }
        Ok(read)
    }
}

/// A Parquet file in which ranges that are read twice must be the same.
#[derive(Clone)]
pub(crate) struct StableChunks {
    stable: Arc<StableFile>,
    file: Arc<File>,
}

impl StableChunks {
    /// Reads from an open handle of the file.
    pub(crate) fn new(stable: &Arc<StableFile>, file: File) -> StableChunks {
        StableChunks { stable: stable.clone(), file: Arc::new(file) }
    }
}

impl Length for StableChunks {
    fn len(&self) -> u64 {
        self.stable.size()
    }
}

impl ChunkReader for StableChunks {
    type T = io::BufReader<ReadFrom>;

    /// Starts reading a page; decoders read page headers through this function.
    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        // The footer's length and magic bytes are read in the same way.
        let is_page = start.saturating_add(FOOTER_SIZE as u64) < self.len();
        for window in page_header::WINDOWS.into_iter().filter(|_| is_page) {
            let mut header = vec![0; window];
            let length = read_some_at(&self.file, &mut header, start)?;
            match page_header::check(&header[..length]) {
                Ok(()) => break,
                Err(Problem::Incomplete) if window < page_header::WINDOWS[2] => {}
                Err(_) => return Err(ParquetError::General("a page has an impossible size".into())),
            }
        }
        Ok(io::BufReader::new(ReadFrom { file: self.file.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        let bytes = self.stable.read_range(&self.file, start, length as u64);
        bytes.map(Bytes::from).map_err(|error| ParquetError::External(Box::new(error)))
    }
}

/// Reads a file from a given byte.
pub(crate) struct ReadFrom {
    file: Arc<File>,
    at: u64,
}

impl Read for ReadFrom {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = read_some_at(&self.file, into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// A Parquet file that is copied: each range that was read before is verified during the copy.
pub(crate) struct VerifiedChunks(pub(crate) StableChunks);

impl Length for VerifiedChunks {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for VerifiedChunks {
    type T = VerifyingReader;

    fn get_read(&self, start: u64) -> parquet::errors::Result<VerifyingReader> {
        let StableChunks { stable, file } = self.0.clone();
        let range = stable.next_range(start);
        Ok(VerifyingReader { stable, reader: ReadFrom { file, at: start }, range, buffer: Vec::new() })
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}

/// Reads from a given byte and verifies the ranges that were read before.
pub(crate) struct VerifyingReader {
    stable: Arc<StableFile>,
    reader: ReadFrom,
    /// The next range to verify.
    range: Option<(u64, u64)>,
    /// The bytes of that range read so far.
    buffer: Vec<u8>,
}

impl Read for VerifyingReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let begin = self.reader.at;
        let read = self.reader.read(into)?;
        let mut bytes = &into[..read];
        let mut at = begin;
        while let Some((start, length)) = self.range {
            let ahead = start.saturating_sub(at) as usize;
            if ahead >= bytes.len() {
                break;
            }
            bytes = &bytes[ahead..];
            at += ahead as u64;
            let missing = length as usize - self.buffer.len();
            let part = &bytes[..missing.min(bytes.len())];
            self.buffer.extend_from_slice(part);
            if part.len() < missing {
                break;
            }
            self.stable.verify_or_record(start, &self.buffer)?;
            self.buffer.clear();
            at += part.len() as u64;
            self.range = self.stable.next_range(at.max(start + 1));
            bytes = &bytes[part.len()..];
        }
        Ok(read)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::io::Write;

    fn stable(bytes: &[u8]) -> (tempfile::NamedTempFile, Arc<StableFile>) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let stable = StableFile::new(file.path(), &File::open(file.path()).unwrap()).unwrap();
        (file, Arc::new(stable))
    }

    /// Changes one byte and keeps the modification time, so that only the checksum differs.
    fn flip_bit(file: &tempfile::NamedTempFile, at: u64) {
        let mut handle = std::fs::OpenOptions::new().read(true).write(true).open(file.path()).unwrap();
        let mut byte = [0];
        handle.seek(SeekFrom::Start(at)).unwrap();
        handle.read_exact(&mut byte).unwrap();
        handle.seek(SeekFrom::Start(at)).unwrap();
        handle.write_all(&[byte[0] ^ 1]).unwrap();
    }

    #[test]
    fn a_changed_byte_is_found_by_its_checksum() {
        let bytes: Vec<u8> = (0..3 * BLOCK + 7).map(|byte| byte as u8).collect();
        for at in [0, BLOCK as u64, 3 * BLOCK as u64 + 6] {
            let (file, stable) = stable(&bytes);
            let open = || File::open(file.path()).unwrap();
            let again = |stable: &Arc<StableFile>| SequentialReader::new(stable, open()).read_to_end(&mut Vec::new());
            assert_eq!(again(&stable).unwrap(), bytes.len());
            assert_eq!(again(&stable).unwrap(), bytes.len());
            flip_bit(&file, at);
            assert!(is_changed(&again(&stable).unwrap_err()), "byte {at}");
        }
    }

    #[test]
    fn a_file_that_was_replaced_or_cut_is_refused() {
        let (file, stable) = stable(b"some rows");
        assert!(stable.open().is_ok() && stable.check().is_ok());
        std::fs::write(file.path(), b"more rows than before").unwrap();
        assert!(is_changed(&stable.open().unwrap_err()) && is_changed(&stable.check().unwrap_err()));
        std::fs::remove_file(file.path()).unwrap();
        assert!(is_changed(&stable.check().unwrap_err()));
    }

    #[test]
    fn a_kept_handle_is_used_once_and_only_for_the_same_file() {
        let (file, stable) = stable(b"some rows");
        let keep = || stable.keep_handle(File::open(file.path()).unwrap());
        keep();
        let mut text = String::new();
        stable.open_header().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "some rows");
        assert!(stable.first_handle.lock().unwrap().is_none());
        assert!(stable.open_header().is_ok(), "the path is opened again");
        keep();
        let other = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(other.path(), b"like rows").unwrap();
        std::fs::rename(other.path(), file.path()).unwrap();
        assert!(is_changed(&stable.open_header().unwrap_err()), "the handle is the old file");
        assert!(is_changed(&stable.open_header().unwrap_err()), "the path is another file");
    }

    #[test]
    fn copied_chunks_are_compared_range_by_range() {
        let bytes: Vec<u8> = (0..100_000u32).map(|byte| byte as u8).collect();
        let (file, stable) = stable(&bytes);
        let chunks = StableChunks::new(&stable, File::open(file.path()).unwrap());
        for (start, length) in [(10, 50), (60, 1), (20_000, 30_000), (99_999, 1)] {
            chunks.get_bytes(start, length).unwrap();
        }
        let copy = || {
            let mut read = VerifiedChunks(chunks.clone()).get_read(5).unwrap();
            let mut all = Vec::new();
            read.read_to_end(&mut all).map(|_| all)
        };
        assert_eq!(copy().unwrap(), &bytes[5..]);
        flip_bit(&file, 70); // was not read before
        assert!(copy().is_ok());
        flip_bit(&file, 49_999);
        assert!(is_changed(&copy().unwrap_err()));
    }
}

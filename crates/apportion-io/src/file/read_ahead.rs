//! Reads ahead: other threads decode batches while earlier ones are used. Batches arrive in file
//! order.
//!
//! The end of a part is a separate message, so that a thread that panicked is never mistaken for the
//! end of a file.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

use super::guard::guarded;

pub(crate) type BatchResult = Result<RecordBatch, ArrowError>;
pub(crate) type BatchIter = Box<dyn Iterator<Item = BatchResult> + Send>;
/// Opens one part of a file.
pub(crate) type OpenPart = Box<dyn FnOnce() -> Result<BatchIter, ArrowError> + Send>;

/// Maximum number of queued batches per part.
const QUEUE_LENGTH: usize = 6;
/// Maximum number of reading threads; more would take more memory than they save time.
const MAX_READERS: usize = 4;

/// A message from a reading thread.
enum Message {
    Batch(BatchResult),
    /// All batches of the part have been sent.
    End,
}

/// Returns the batches of some parts, part by part; parts are read in parallel if there are several
/// threads.
pub(crate) fn read_in_order(parts: Vec<OpenPart>) -> BatchIter {
    let threads = rayon::current_num_threads().min(parts.len()).min(MAX_READERS);
    if rayon::current_num_threads() == 1 || threads == 0 {
        return Box::new(until_error(parts.into_iter().flat_map(batches_of)));
    }
    // Each reader takes every n-th part, so that the part needed next is always being read.
    let mut receivers = VecDeque::new();
    let mut work: Vec<Vec<(OpenPart, SyncSender<Message>)>> = (0..threads).map(|_| Vec::new()).collect();
    for (index, part) in parts.into_iter().enumerate() {
        let (sender, receiver) = sync_channel(QUEUE_LENGTH);
        work[index % threads].push((part, sender));
        receivers.push_back(receiver);
    }
    for parts in work {
        let reader = move || parts.into_iter().try_for_each(|(part, sender)| send(part, &sender));
        if let Err(error) = thread::Builder::new().spawn(reader) {
            return Box::new(std::iter::once(Err(ArrowError::from(error))));
        }
    }
    Box::new(until_error(InOrder { receivers }))
}

/// Returns the batches that a function passes to its argument, which returns false if no more are needed. The function
/// runs in a thread of its own, so it can borrow from its own variables while it decodes.
pub(crate) fn produce(
    work: impl FnOnce(&dyn Fn(RecordBatch) -> bool) -> Result<(), ArrowError> + Send + 'static,
) -> BatchIter {
    let (sender, receiver) = sync_channel(QUEUE_LENGTH);
    let reader = move || {
        let done = guarded(|| work(&|batch| sender.send(Message::Batch(Ok(batch))).is_ok()));
        // The receiver may be gone, because the consumer stopped early.
        let _ = sender.send(done.map_or_else(|error| Message::Batch(Err(error)), |()| Message::End));
    };
    match thread::Builder::new().spawn(reader) {
        Ok(_) => Box::new(until_error(InOrder { receivers: VecDeque::from([receiver]) })),
        Err(error) => Box::new(std::iter::once(Err(ArrowError::from(error)))),
    }
}

/// Returns the batches of a part, with panics turned into errors.
fn batches_of(part: OpenPart) -> impl Iterator<Item = BatchResult> {
    let mut part = Some(part);
    let mut rows: Option<BatchIter> = None;
    std::iter::from_fn(move || {
        let next = guarded(|| {
            if let Some(part) = part.take() {
                rows = Some(part()?);
            }
            rows.as_mut().and_then(Iterator::next).transpose()
        });
        next.transpose()
    })
}

/// Ends the iteration after the first error, because a reader's state is undefined after it.
fn until_error(rows: impl Iterator<Item = BatchResult> + Send) -> impl Iterator<Item = BatchResult> + Send {
    let mut rows = Some(rows);
    std::iter::from_fn(move || {
        let batch = rows.as_mut()?.next();
        if !matches!(batch, Some(Ok(_))) {
            rows = None;
        }
        batch
    })
}

/// Sends all batches of a part. Returns `None` if the receiver is gone or an error was sent.
fn send(part: OpenPart, sender: &SyncSender<Message>) -> Option<()> {
    for batch in batches_of(part) {
        let failed = batch.is_err();
        sender.send(Message::Batch(batch)).ok()?;
        if failed {
            return None;
        }
    }
    sender.send(Message::End).ok()
}

struct InOrder {
    receivers: VecDeque<Receiver<Message>>,
}

impl Iterator for InOrder {
    type Item = BatchResult;

    fn next(&mut self) -> Option<BatchResult> {
        while let Some(receiver) = self.receivers.front() {
            match receiver.recv() {
                Ok(Message::Batch(batch)) => return Some(batch),
                Ok(Message::End) => self.receivers.pop_front(),
                Err(_) => return Some(Err(ArrowError::ExternalError("a reading thread ended early".into()))),
            };
        }
        None
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use arrow_array::Int64Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    use std::sync::Arc;

    fn batch(number: i64) -> RecordBatch {
        RecordBatch::try_from_iter([("n", Arc::new(Int64Array::from(vec![number])) as _)]).unwrap()
    }

    fn part(numbers: std::ops::Range<i64>) -> OpenPart {
        Box::new(move || Ok(Box::new(numbers.map(|number| Ok(batch(number))))))
    }

    #[test]
    fn batches_come_in_their_order() {
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let parts = (0..9).map(|index| part(index * 100..index * 100 + 100)).collect();
            let rows = pool.install(|| read_in_order(parts));
            let found: Vec<i64> =
                rows.map(|batch| batch.unwrap().column(0).as_primitive::<Int64Type>().value(0)).collect();
            assert_eq!(found, (0..900).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_comes_in_file_order() {
        let bad: OpenPart = Box::new(|| Err(ArrowError::ParquetError("cut off".into())));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let mut rows = pool.install(|| read_in_order(vec![part(0..2), bad, part(2..3)]));
        assert!(rows.next().unwrap().is_ok() && rows.next().unwrap().is_ok());
        assert!(rows.next().unwrap().is_err());
    }

    #[test]
    fn nothing_follows_an_error() {
        let error = || Err(ArrowError::CsvError("ragged".into()));
        for threads in [1, 3] {
            let bad: OpenPart = Box::new(move || {
                let rows = (0..5).map(move |number| if number == 2 { error() } else { Ok(batch(number)) });
                Ok(Box::new(rows) as BatchIter)
            });
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let rows = pool.install(|| read_in_order(vec![bad, part(0..9)]));
            assert_eq!(rows.map(|batch| batch.is_ok()).collect::<Vec<_>>(), [true, true, false]);
        }
    }

    #[test]
    fn a_panic_is_an_error_and_not_the_end() {
        for threads in [1, 3] {
            let bad: OpenPart = Box::new(|| {
                let rows = (0..3).map(|number| if number == 1 { panic!("damaged") } else { Ok(batch(number)) });
                Ok(Box::new(rows) as BatchIter)
            });
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let rows: Vec<BatchResult> = pool.install(|| read_in_order(vec![part(0..2), bad, part(0..1)])).collect();
            assert_eq!(rows.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, true, true, false]);
            assert!(rows[3].as_ref().unwrap_err().to_string().contains("damaged"));
        }
    }

    #[test]
    fn batches_are_produced_until_the_end_or_an_error() {
        let produced = |fails: bool| {
            let rows = produce(move |send| {
                (0..20).for_each(|number| assert!(send(batch(number))));
                if fails { panic!("damaged") } else { Ok(()) }
            });
            rows.map(|batch| batch.is_ok()).collect::<Vec<_>>()
        };
        assert_eq!(produced(false), [true; 20]);
        assert_eq!(produced(true), [&[true; 20][..], &[false]].concat());
        let mut few = produce(|send| {
            while send(batch(1)) {}
            Ok(())
        });
        assert!(few.next().unwrap().is_ok());
    }

    #[test]
    fn a_consumer_can_stop_early() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let mut rows = pool.install(|| read_in_order(vec![part(0..1_000_000), part(0..1_000_000)]));
        assert!(rows.next().unwrap().is_ok());
        drop(rows);
    }
}

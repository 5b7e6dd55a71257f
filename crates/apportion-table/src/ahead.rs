//! Reading ahead: batches are decoded by other threads while earlier ones are used, and come in their order.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use arrow::array::RecordBatch;
use arrow::error::ArrowError;

pub(crate) type Batch = Result<RecordBatch, ArrowError>;
pub(crate) type Rows = Box<dyn Iterator<Item = Batch> + Send>;
/// Begins to read a part of a file.
pub(crate) type Part = Box<dyn FnOnce() -> Result<Rows, ArrowError> + Send>;

/// Batches of one part that may wait to be used.
const WAITING: usize = 6;
/// Threads that read at the same time; more would hold more batches than they save time.
const READERS: usize = 4;

/// The rows of some parts, one part after the other; several are read at once, where there are several threads.
pub(crate) fn in_turn(parts: Vec<Part>) -> Rows {
    let threads = rayon::current_num_threads().min(parts.len()).min(READERS);
    if rayon::current_num_threads() == 1 || threads == 0 {
        return Box::new(parts.into_iter().flat_map(rows_of));
    }
    // Each reader takes every n-th part, so that the part which is needed next is always being read.
    let mut receivers = VecDeque::new();
    let mut work: Vec<Vec<(Part, SyncSender<Batch>)>> = (0..threads).map(|_| Vec::new()).collect();
    for (place, part) in parts.into_iter().enumerate() {
        let (sender, receiver) = sync_channel(WAITING);
        work[place % threads].push((part, sender));
        receivers.push_back(receiver);
    }
    for parts in work {
        thread::spawn(move || parts.into_iter().try_for_each(|(part, sender)| send(part, &sender)));
    }
    Box::new(InTurn { receivers })
}

fn rows_of(part: Part) -> Rows {
    part().unwrap_or_else(|error| Box::new(std::iter::once(Err(error))))
}

/// Sends all batches of a part; none, once nobody wants them.
fn send(part: Part, sender: &SyncSender<Batch>) -> Option<()> {
    rows_of(part).try_for_each(|batch| sender.send(batch)).ok()
}

struct InTurn {
    receivers: VecDeque<Receiver<Batch>>,
}

impl Iterator for InTurn {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        while let Some(receiver) = self.receivers.front() {
            if let Ok(batch) = receiver.recv() {
                return Some(batch);
            }
            self.receivers.pop_front();
        }
        None
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use arrow::array::{AsArray, Int64Array};
    use arrow::datatypes::Int64Type;
    use std::sync::Arc;

    fn batch(number: i64) -> RecordBatch {
        RecordBatch::try_from_iter([("n", Arc::new(Int64Array::from(vec![number])) as _)]).unwrap()
    }

    fn part(numbers: std::ops::Range<i64>) -> Part {
        Box::new(move || Ok(Box::new(numbers.map(|number| Ok(batch(number))))))
    }

    #[test]
    fn batches_come_in_their_order() {
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let parts = (0..9).map(|place| part(place * 100..place * 100 + 100)).collect();
            let rows = pool.install(|| in_turn(parts));
            let found: Vec<i64> =
                rows.map(|batch| batch.unwrap().column(0).as_primitive::<Int64Type>().value(0)).collect();
            assert_eq!(found, (0..900).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_comes_in_its_place() {
        let bad: Part = Box::new(|| Err(ArrowError::ParquetError("cut off".into())));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let mut rows = pool.install(|| in_turn(vec![part(0..2), bad, part(2..3)]));
        assert!(rows.next().unwrap().is_ok() && rows.next().unwrap().is_ok());
        assert!(rows.next().unwrap().is_err());
    }

    #[test]
    fn whoever_stops_early_waits_for_nobody() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let mut rows = pool.install(|| in_turn(vec![part(0..1_000_000), part(0..1_000_000)]));
        assert!(rows.next().unwrap().is_ok());
        drop(rows);
    }
}

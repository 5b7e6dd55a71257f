//! Another program, such as Python, in place of files and a terminal: what it lends to a command, and what it is given.
//!
//! A command is the same whoever calls it: its words are those of the command line, its checks and its errors, too.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use apportion::{Label, UNCODED};
use apportion_io::{MemoryTable, Progress, RecordBatch, Table};
use apportion_report::Document;

use crate::rule_result::Assignment;

/// What a program lends to a command, and what it is given.
#[derive(Clone, Default)]
pub struct Host {
    /// The table, in place of files.
    pub table: Option<MemoryTable>,
    /// Shares for the reference, in place of a file.
    pub reference: Option<MemoryTable>,
    /// A decision as JSON, in place of a file.
    pub decision: Option<String>,
    /// Is told how far the work has come, and says when it is to stop.
    pub progress: Option<Arc<dyn Progress>>,
    given: Arc<Mutex<Results>>,
}

/// What a command gave.
#[derive(Default)]
pub struct Results {
    /// What it would have printed.
    pub printed: Vec<String>,
    /// What it would have said on the way.
    pub said: Vec<String>,
    /// For each draw the class of each row, −1 where it has none; or, of rows that stand for several people, how many of
    /// these have each class, and last those who have none.
    pub columns: Vec<ResultColumn>,
    /// The classes.
    pub classes: Vec<String>,
    /// What there is to look at.
    pub document: Option<Document>,
    /// Rows that were made up.
    pub rows: Vec<RecordBatch>,
}

/// What the rows were given.
pub enum ResultColumn {
    /// The class of each row, −1 where it has none.
    Codes(Vec<i16>),
    /// How many people of each row have a class; nothing in rows that were left out.
    People(Vec<Option<u64>>),
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("table", &self.table.is_some()).finish_non_exhaustive()
    }
}

impl Host {
    /// What was given so far; it is given once.
    pub fn take(&self) -> Results {
        std::mem::take(&mut self.results())
    }

    pub(crate) fn results(&self) -> MutexGuard<'_, Results> {
        // Whoever panicked while holding it had at most added to it.
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what rows were given.
    pub(crate) fn keep(&self, table: &Table, given: &Assignment) {
        let columns = match given {
            Assignment::Labels(draws) => draws.iter().map(|labels| codes(table, labels.values())).collect(),
            Assignment::People(allotment) => {
                let people = |class: usize| (0..table.rows()).map(move |row| allotment.row(row)[class]);
                let column = |class| ResultColumn::People(table.row_mask().spread(people(class)).collect());
                (0..=table.classes().len()).map(column).collect()
            }
        };
        let mut results = self.results();
        results.columns = columns;
        results.classes = table.classes().names().to_vec();
    }
}

/// The class of each row of the whole table; −1 where it has none, or was left out.
fn codes(table: &Table, labels: &[Label]) -> ResultColumn {
    let code = |&label: &Label| if label == UNCODED { -1 } else { i16::from(label) };
    if table.row_mask().total() == labels.len() {
        return ResultColumn::Codes(labels.iter().map(code).collect());
    }
    let all = table.row_mask().spread(labels.iter().map(code));
    ResultColumn::Codes(all.map(|code| code.unwrap_or(-1)).collect())
}

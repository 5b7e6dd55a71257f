//! Helpers of the targets for table files: reading a file through the library and through the whole program.

use std::path::Path;
use std::sync::OnceLock;

use apportion::{Match, Reference, Rule, Settings};
use apportion_app::input::Source;
use apportion_app::{Context, label};
use apportion_io::{Input, InputOptions, Table, TableOptions};
use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_cast::cast;
use arrow_schema::DataType;
use rayon::ThreadPool;

use crate::check_message;
use crate::parquet_file::ParquetFile;

/// A file as the library reads it.
pub(super) struct Read {
    pub(super) names: Vec<String>,
    pub(super) batches: Vec<RecordBatch>,
}

impl Read {
    /// Reads all columns of all rows. Checks the message if there is an error.
    pub(super) fn file(path: &str, options: &InputOptions) -> Option<Read> {
        let read = || -> apportion_io::Result<Read> {
            let input = Input::new(&[path.to_owned()], options.clone())?;
            let batches = input.open(0)?;
            let names = batches.names();
            let batches = batches.collect::<apportion_io::Result<Vec<_>>>()?;
            Ok(Read { names, batches })
        };
        checked(read())
    }

    pub(super) fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Returns all cells as text, row by row; missing values are empty.
    pub(super) fn cells(&self) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for batch in &self.batches {
            let columns: Vec<_> =
                batch.columns().iter().filter_map(|column| cast(column, &DataType::Utf8).ok()).collect();
            assert_eq!(columns.len(), batch.num_columns(), "a column of text is not text");
            for row in 0..batch.num_rows() {
                let cell = |column: &arrow_array::ArrayRef| {
                    let column = column.as_string::<i32>();
                    if column.is_null(row) { String::new() } else { column.value(row).to_owned() }
                };
                rows.push(columns.iter().map(cell).collect());
            }
        }
        rows
    }

    /// Checks that every array is valid for its type: offsets within the data, text in UTF-8, codes within the
    /// dictionary.
    pub(super) fn check_arrays(&self) {
        for column in self.batches.iter().flat_map(RecordBatch::columns) {
            let valid = column.to_data().validate_full();
            assert!(valid.is_ok(), "an array is not valid: {valid:?}");
        }
    }
}

/// Returns the value of a result, and checks the message of an error.
pub(super) fn checked<T, E: std::fmt::Display>(result: Result<T, E>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            check_message(&error.to_string());
            None
        }
    }
}

/// Reads a file as a table of scores and labels it in memory. Returns whether there were labels.
///
/// # Panics
/// If the table has another number of rows, or the labels are not proved optimal.
pub(super) fn check_table(path: &str, options: &InputOptions, rows: usize) -> bool {
    let read = || -> apportion_io::Result<Table> {
        Table::read(&Input::new(&[path.to_owned()], options.clone())?, &TableOptions::default())
    };
    let Some(table) = checked(read()) else { return false };
    assert_eq!(table.rows(), rows, "the table has another number of rows than its file");
    let Some(scores) = checked(table.scores()) else { return false };
    let rule = Rule::Match(Match::overall(Reference::Posterior));
    let Some(labeled) = checked(rule.label(&scores, &Settings::default())) else { return false };
    assert_eq!(labeled.labels.values().len(), rows, "one label for each row");
    assert!(labeled.joint.is_some_and(|joint| joint.certificate.is_closed()), "labels are not proved");
    true
}

/// Labels a file with the whole `label` job. The output file must have the same number of rows, or not exist.
///
/// # Panics
/// If the output has another number of rows, or other files remain.
pub(super) fn check_program(folder: &Path, input: &str, output: &str, rows: usize) -> bool {
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let (input, to) = (path(input), path(output));
    let before = files_in(folder);
    let mut request = label::Request::default();
    request.table.source = Source::files([input]);
    request.output.output.clone_from(&to);
    let done = checked(label::run(&request, &Context::default())).is_some();
    let new: Vec<String> = files_in(folder).into_iter().filter(|name| !before.contains(name)).collect();
    if !done {
        assert!(new.is_empty(), "a run that failed left {new:?} behind");
        return false;
    }
    assert_eq!(new, [output], "a run that succeeded wrote other files");
    let bytes = std::fs::read(&to).unwrap_or_default();
    let written = if output.ends_with(".parquet") {
        ParquetFile::parse(&bytes).and_then(|file| file.rows()).unwrap_or(-1)
    } else {
        let mut reader = csv::ReaderBuilder::new().from_reader(&bytes[..]);
        reader.byte_records().map(|record| i64::from(record.is_ok())).sum()
    };
    assert_eq!(written, rows as i64, "rows of the output, where the input has {rows}");
    true
}

fn files_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Calls a function in a pool of one thread or of three. With several threads, readers decode in separate threads.
pub(super) fn in_threads<T: Send>(several: bool, call: impl FnOnce() -> T + Send) -> T {
    static POOLS: OnceLock<[Option<ThreadPool>; 2]> = OnceLock::new();
    let pools =
        POOLS.get_or_init(|| [1, 3].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()));
    match &pools[usize::from(several)] {
        Some(pool) => pool.install(call),
        None => call(),
    }
}

//! Files that change between the two reads: labels are never joined to rows for which they were not
//! computed.
#![allow(clippy::unwrap_used)]

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use apportion_io::{
    Input, InputOptions, Output, PlainColumn, PlainValues, Table, TableOptions, write_plain_columns,
    write_with_plain_columns,
};

const ROWS: u64 = 3_000;

fn rows(first: u64) -> Vec<PlainColumn> {
    let score = |row: u64| ((first + row) % 97) as f32 / 97.0;
    vec![
        PlainColumn::new("id", PlainValues::Whole((first..first + ROWS).collect())),
        PlainColumn::new("p_a", PlainValues::Single((0..ROWS).map(score).collect())),
        PlainColumn::new("p_b", PlainValues::Single((0..ROWS).map(|row| 1.0 - score(row)).collect())),
    ]
}

fn write(path: &Path, first: u64) {
    let output = Output { path: path.to_str().unwrap().into(), force: true, ..Output::default() };
    write_plain_columns(&output, rows(first)).unwrap();
}

fn labels(rows: usize) -> Vec<PlainColumn> {
    vec![PlainColumn::new("label", PlainValues::Text(std::iter::repeat_n("a", rows).collect()))]
}

/// Reads scores, changes the file, and writes it with labels.
fn label(input: &Path, output: &Path, between: impl FnOnce()) -> apportion_io::Result<Vec<PathBuf>> {
    let input = Input::new(&[input.to_str().unwrap().into()], InputOptions::default())?;
    let table = Table::read(&input, &TableOptions::default())?;
    between();
    let output = Output { path: output.to_str().unwrap().into(), ..Output::default() };
    let rows = Some(table.row_mask().total());
    write_with_plain_columns(&input, &output, &labels(0), rows, &mut |_, rows| Ok(labels(rows)))
}

#[test]
fn a_file_that_changed_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    for (from, to) in [
        ("csv", "csv"),
        ("csv.gz", "parquet"),
        ("tsv.zst", "csv"),
        ("parquet", "parquet"),
        ("parquet", "csv"),
        ("arrow", "arrow"),
    ] {
        let input = folder.path().join(format!("in.{from}"));
        let output = folder.path().join(format!("out.{to}"));
        let other = folder.path().join(format!("other.{from}"));
        write(&other, 1_000_000);
        let replaced = || drop(fs::rename(&other, &input));
        let rewritten = || {
            let times = fs::metadata(&input).unwrap().modified().unwrap();
            write(&input, 7);
            File::options().write(true).open(&input).unwrap().set_modified(times).unwrap();
        };
        let cut = || File::options().write(true).open(&input).unwrap().set_len(700).unwrap();
        let removed = || fs::remove_file(&input).unwrap();
        let changes: [(&str, &dyn Fn()); 4] =
            [("replaced", &replaced), ("rewritten", &rewritten), ("cut", &cut), ("removed", &removed)];
        for (what, change) in changes {
            write(&input, 0);
            let failed = label(&input, &output, change).unwrap_err().to_string();
            let expected = if what == "removed" { "in." } else { "it changed while it was being read" };
            assert!(failed.contains(expected), "{from} {to} {what}: {failed}");
            assert!(!output.exists(), "{from} {to} {what}");
        }
        write(&input, 0);
        label(&input, &output, || ()).unwrap();
        fs::remove_file(&output).unwrap();
        fs::remove_file(&input).unwrap();
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn the_schema_is_that_of_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("state=NC")).unwrap();
    for ending in ["csv", "csv.gz", "tsv.zst", "parquet", "arrow"] {
        let path = folder.path().join(format!("state=NC/in.{ending}"));
        write(&path, 0);
        let input = Input::new(&[folder.path().to_str().unwrap().into()], InputOptions::default()).unwrap();
        let schema = input.schema(0).unwrap();
        assert_eq!(&schema, input.open(0).unwrap().schema(), "{ending}");
        assert_eq!(input.columns(0).unwrap(), ["id", "p_a", "p_b", "state"], "{ending}");
        fs::remove_file(&path).unwrap();
        assert_eq!(input.schema(0).unwrap(), schema, "it is read once");
    }
}

#[test]
fn a_file_replaced_before_its_schema_is_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for ending in ["csv", "parquet", "arrow"] {
        let (path, other) = (folder.path().join(format!("in.{ending}")), folder.path().join(format!("other.{ending}")));
        write(&path, 0);
        write(&other, 1_000_000);
        let input = Input::new(&[path.to_str().unwrap().into()], InputOptions::default()).unwrap();
        fs::rename(&other, &path).unwrap();
        let failed = input.schema(0).unwrap_err().to_string();
        assert!(failed.contains("it changed while it was being read"), "{ending}: {failed}");
    }
}

//! Files that exceed the memory limit, excluded rows, and nested units.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::{json, misused, refused, run};
use tempfile::TempDir;

/// Returns the labels of all rows, with options.
fn labels(folder: &Path, input: &str, options: &str) -> String {
    let options = options.split_whitespace();
    let args: Vec<&str> =
        ["label", input, "-o", "out.csv", "--force", "--only-label", "--id", "id"].into_iter().chain(options).collect();
    run(folder, &args);
    fs::read_to_string(folder.join("out.csv")).unwrap()
}

/// The file has enough rows to be read in several batches.
#[test]
fn labels_do_not_depend_on_memory_batches_or_threads() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    for (file, rows, more) in [("single.parquet", "70000", &[][..]), ("double.csv", "7000", &["--double"])] {
        run(folder, &[&["simulate", "voters", "--rows", rows, "--seed", "4", "-q", "-o", file], more].concat());
        for rule in ["--rule match", "--rule match --by county", "--rule balance --gamma 0.95", "--rule threshold"] {
            let expected = labels(folder, file, &format!("{rule} --memory 4G"));
            for room in ["--memory 0", "--memory 300K --batch-rows 999 --threads 1"] {
                assert!(labels(folder, file, &format!("{rule} {room}")) == expected, "{file}, {rule}, {room}");
            }
        }
    }
    let said = common::apportion(folder, &["audit", "single.parquet", "--label", "race", "--memory", "1M"]);
    assert!(common::text(&said.stderr).contains("temporary file"), "{}", common::text(&said.stderr));
    assert_eq!(common::names_in(folder), ["double.csv", "out.csv", "single.parquet"]);
}

#[test]
fn all_commands_work_from_a_temporary_file() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    run(folder, &["simulate", "voters", "--rows", "3000", "-o", "voters.parquet", "-q"]);
    for command in
        ["compare voters.parquet --truth race --by county --json -q", "frontier voters.parquet --points 9 -q"]
    {
        let words: Vec<&str> = command.split(' ').collect();
        let expected = run(folder, &words);
        assert_eq!(run(folder, &[&words[..], &["--memory", "1K"]].concat()), expected, "{command}");
    }
    run(folder, &["fit", "voters.parquet", "-o", "a.json", "-q", "--by", "county", "--no-provenance"]);
    run(
        folder,
        &["fit", "voters.parquet", "-o", "b.json", "-q", "--by", "county", "--no-provenance", "--memory", "1K"],
    );
    assert_eq!(fs::read(folder.join("a.json")).unwrap(), fs::read(folder.join("b.json")).unwrap());
    assert!(misused(folder, &["label", "voters.parquet", "-o", "x.csv", "--memory", "much"]).contains("--memory"));
}

#[test]
fn rows_without_scores_can_be_left_out() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let people = "id,p_a,p_b\n1,0.6,0.4\n2,,NA\n3,0.7,0.3\n4,NaN,\n5,0.9,0.1\n";
    fs::write(folder.join("people.csv"), people).unwrap();
    let message = refused(folder, &["label", "people.csv", "-o", "out.csv"]);
    assert!(message.starts_with("people.csv: row 2, column \"p_a\": the score is missing"), "{message}");
    let found = json(folder, &["label", "people.csv", "-o", "out.csv", "--skip-missing", "--json"]);
    assert_eq!((&found["rows"], &found["counts"]), (&3.into(), &serde_json::json!([2, 1])));
    let out = fs::read_to_string(folder.join("out.csv")).unwrap();
    assert_eq!(
        out,
        "id,p_a,p_b,label,label_score\n1,0.6,0.4,b,0.4\n2,,NA,,\n3,0.7,0.3,a,0.7\n4,NaN,,,\n5,0.9,0.1,a,0.9\n"
    );

    // So can rows with only some scores missing. Row numbers in messages are those of the file.
    fs::write(folder.join("half.csv"), people.replace("5,0.9,0.1", "5,0.9,")).unwrap();
    let found = json(folder, &["label", "half.csv", "-o", "half-out.csv", "--skip-missing", "--json"]);
    assert_eq!((&found["rows"], &found["counts"]), (&2.into(), &serde_json::json!([1, 1])));
    assert!(fs::read_to_string(folder.join("half-out.csv")).unwrap().ends_with("\n5,0.9,,,\n"));
    fs::write(folder.join("word.csv"), people.replace("5,0.9,0.1", "5,0.9,x")).unwrap();
    let message = refused(folder, &["label", "word.csv", "-o", "x.csv", "--skip-missing"]);
    assert!(message.starts_with("word.csv: row 5, column \"p_b\": \"x\" is not a number"), "{message}");
    fs::write(folder.join("none.csv"), "p_a,p_b\n,\n,\n").unwrap();
    let message = refused(folder, &["label", "none.csv", "-o", "x.csv", "--skip-missing"]);
    assert!(message.contains("all rows are left out"), "{message}");
}

#[test]
fn rows_without_truth_can_be_left_out() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let people = "race,p_a,p_b\na,0.6,0.4\n,0.1,0.9\nb,0.7,0.3\nU,0.2,0.8\na,0.9,0.1\n";
    fs::write(folder.join("people.csv"), people).unwrap();
    let truth = ["--truth", "race", "--truth-exclude", "U"];
    let all = json(folder, &[&["label", "people.csv", "-o", "all.csv", "--json"], &truth[..]].concat());
    assert_eq!(all["rows"], 5);
    let known = ["label", "people.csv", "-o", "known.csv", "--json", "--only-with-truth"];
    let known = json(folder, &[&known[..], &truth].concat());
    assert_eq!((&known["rows"], &known["counts"]), (&3.into(), &serde_json::json!([2, 1])));
    let out = fs::read_to_string(folder.join("known.csv")).unwrap();
    assert_eq!(out.lines().nth(2), Some(",0.1,0.9,,"));
    misused(folder, &["label", "people.csv", "-o", "x.csv", "--only-with-truth"]);
}

/// The counts of each state match its scores, and with one level of units the overall counts match those of all rows.
#[test]
fn units_inside_units_add_up() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let mut people = String::from("state,county,p_a,p_b,p_c\n");
    let mut scores: BTreeMap<String, [f64; 3]> = BTreeMap::new();
    for row in 0..600u32 {
        let (state, county) = (row % 3, row * 7919 % 23);
        let (a, b) = (f64::from(row * 37 % 50) / 100.0, f64::from(row * 91 % 49) / 100.0);
        let row = [a, b, 1.0 - a - b];
        people += &format!("S{state},C{county},{},{},{}\n", row[0], row[1], row[2]);
        let sums = scores.entry(format!("S{state}")).or_default();
        sums.iter_mut().zip(row).for_each(|(sum, score)| *sum += score);
    }
    fs::write(folder.join("people.csv"), &people).unwrap();
    run(folder, &["label", "people.csv", "-o", "out.csv", "--nested", "state,county", "-q"]);
    let mut counts: BTreeMap<String, [f64; 3]> = BTreeMap::new();
    for line in fs::read_to_string(folder.join("out.csv")).unwrap().lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        counts.entry(cells[0].into()).or_default()[["a", "b", "c"].iter().position(|c| *c == cells[5]).unwrap()] += 1.0;
    }
    for (state, sums) in &scores {
        for (sum, count) in sums.iter().zip(counts[state]) {
            assert!((sum - count).abs() < 1.0, "{state}: {sum} and {count}");
        }
    }
    // Units of one level are nested in the whole file, so the overall counts equal those of a match of all rows.
    let whole = json(folder, &["label", "people.csv", "-o", "whole.csv", "--json", "-q"]);
    let nested = json(folder, &["label", "people.csv", "-o", "nested.csv", "--nested", "county", "--json", "-q"]);
    let apart = json(folder, &["label", "people.csv", "-o", "apart.csv", "--by", "county", "--json", "-q"]);
    assert_eq!(nested["counts"], whole["counts"]);
    assert_ne!(apart["counts"], whole["counts"]);
    let both = ["label", "people.csv", "-o", "x.csv", "--nested", "state,county", "--by", "state"];
    assert!(misused(folder, &both).contains("cannot be used with"));
}

/// The counts of nested units are rounded by unit name, not by order of appearance.
#[test]
fn nested_labels_do_not_depend_on_the_order_of_the_rows() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let mut rows: Vec<String> = Vec::new();
    for row in 0..300u32 {
        let a = f64::from(row * 37 % 4) / 4.0;
        rows.push(format!("{row},S{},C{},{a},{}", row % 2, row * 7919 % 11, 1.0 - a));
    }
    let labels_of = |name: &str, rows: &[String]| {
        fs::write(folder.join(name), format!("id,state,county,p_a,p_b\n{}\n", rows.join("\n"))).unwrap();
        let mut lines: Vec<String> =
            labels(folder, name, "--nested state,county --reference uniform").lines().map(String::from).collect();
        lines.sort();
        lines
    };
    let expected = labels_of("rows.csv", &rows);
    rows.reverse();
    assert_eq!(labels_of("reversed.csv", &rows), expected);
    rows.rotate_left(77);
    assert_eq!(labels_of("turned.csv", &rows), expected);
}

/// The random draw of a row depends on its row number in the file, even if other rows are excluded.
#[test]
fn rows_that_are_left_out_leave_the_draws_of_others_alone() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let table = |first: &str| {
        let rest: String = (0..200).map(|_| "0.5,0.5\n").collect();
        format!("p_a,p_b\n{first}\n{rest}")
    };
    let drawn = |name: &str, first: &str| {
        fs::write(folder.join(name), table(first)).unwrap();
        run(folder, &["label", name, "-o", "out.csv", "--force", "--rule", "thompson", "--skip-missing", "-q"]);
        let out = fs::read_to_string(folder.join("out.csv")).unwrap();
        out.lines().skip(2).map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(drawn("all.csv", "0.5,0.5"), drawn("missing.csv", ","));
}

#[test]
fn files_of_one_output_are_put_below_each_other_by_the_names_of_their_columns() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::write(folder.join("a.csv"), "id,p_a,p_b\n1,0.9,0.1\n").unwrap();
    fs::write(folder.join("b.csv"), "p_b,id,p_a\n0.8,2,0.2\n").unwrap();
    fs::write(folder.join("c.csv"), "id,p_a,p_b,x\n3,0.9,0.1,y\n").unwrap();
    run(folder, &["label", "a.csv", "b.csv", "-o", "out.csv", "-q"]);
    let expected = "id,p_a,p_b,label,label_score\n1,0.9,0.1,a,0.9\n2,0.2,0.8,b,0.8\n";
    assert_eq!(fs::read_to_string(folder.join("out.csv")).unwrap(), expected);
    for output in ["other.csv", "-"] {
        let message = refused(folder, &["label", "a.csv", "c.csv", "-o", output]);
        assert!(message.starts_with("c.csv: it has a column \"x\" that is not in a.csv;"), "{message}");
    }
    run(folder, &["label", "a.csv", "c.csv", "-o", "each/", "-q"]);
    assert_eq!(common::names_in(&folder.join("each")), ["a.csv", "c.csv"]);
    // Columns of different numeric types cannot be combined either, but they can if only labels are written.
    run(folder, &["label", "a.csv", "-o", "text.parquet", "--as", "x", "-q"]);
    run(folder, &["simulate", "voters", "--rows", "5", "-o", "v.parquet", "-q"]);
    run(folder, &["simulate", "voters", "--rows", "5", "-o", "w.parquet", "--double", "-q"]);
    let message = refused(folder, &["label", "v.parquet", "w.parquet", "-o", "vw.parquet"]);
    assert!(message.starts_with("w.parquet: its column \"p_white\" contains Float64, not Float32"), "{message}");
    run(folder, &["label", "v.parquet", "w.parquet", "-o", "vw.csv", "--only-label", "--id", "ID", "-q"]);
    assert!(fs::read_to_string(folder.join("vw.csv")).unwrap().starts_with("id,label\n1,"));
}

/// Existing Parquet columns of any type are copied unchanged, with the file's metadata.
#[test]
fn parquet_columns_are_copied_whole() {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int32Type;
    use arrow_array::*;
    use arrow_schema::{DataType, Field, Schema};
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use parquet::file::properties::{EnabledStatistics, WriterProperties};
    use std::sync::Arc;
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let dictionary: DictionaryArray<Int32Type> = ["x", "y", "x", "z"].into_iter().collect();
    let list =
        ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)]), None, Some(vec![]), Some(vec![None])]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("p_a", Arc::new(Float32Array::from(vec![0.9, 0.2, 0.6, 0.5]))),
        ("p_b", Arc::new(Float32Array::from(vec![0.1, 0.8, 0.4, 0.5]))),
        ("when", Arc::new(TimestampMicrosecondArray::from(vec![1, 2, 3, 4]).with_timezone("UTC"))),
        ("county", Arc::new(dictionary)),
        ("list", Arc::new(list)),
        ("money", Arc::new(Decimal128Array::from(vec![1, 2, 3, 4]).with_precision_and_scale(9, 2).unwrap())),
        ("none", Arc::new(NullArray::new(4))),
    ];
    let fields: Vec<Field> =
        columns.iter().map(|(name, column)| Field::new(*name, column.data_type().clone(), true)).collect();
    let metadata = [("made by".to_owned(), "hand".to_owned())].into();
    let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
    let batch = RecordBatch::try_new(schema.clone(), columns.into_iter().map(|(_, column)| column).collect()).unwrap();
    // With and without a page index, in several row groups.
    for (name, statistics, indexed) in
        [("indexed", EnabledStatistics::Page, true), ("plain", EnabledStatistics::None, false)]
    {
        let options = WriterProperties::builder().set_statistics_enabled(statistics);
        let options = options.set_offset_index_disabled(!indexed).set_max_row_group_row_count(Some(3)).build();
        let file = fs::File::create(folder.join(format!("{name}.parquet"))).unwrap();
        let mut writer = ArrowWriter::try_new(file, schema.clone(), Some(options)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }
    let inputs = ["indexed.parquet", "plain.parquet"];
    for (inputs, output) in [(&inputs[..1], "a.parquet"), (&inputs[1..], "b.parquet"), (&inputs[..], "c.parquet")] {
        run(folder, &[&["label"], inputs, &["-o", output, "-q", "--seed", "1"]].concat());
        let file = fs::File::open(folder.join(output)).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        assert_eq!(reader.schema().metadata().get("made by").map(String::as_str), Some("hand"));
        let reader = reader.build().unwrap();
        let found: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
        let found = arrow_select::concat::concat_batches(&found[0].schema(), &found).unwrap();
        assert_eq!(found.num_rows(), 4 * inputs.len());
        assert_eq!(found.schema().field(7), &Field::new("label", DataType::Utf8, false));
        let old = found.project(&[0, 1, 2, 3, 4, 5, 6]).unwrap();
        for place in 0..inputs.len() {
            assert_eq!(old.slice(4 * place, 4).columns(), batch.columns(), "{output}");
        }
        let labels: Vec<&str> = found.column(7).as_string::<i32>().iter().flatten().take(2).collect();
        assert_eq!(labels, ["a", "b"]);
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_plain_file_or_no_table_is_told() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::write(folder.join("people.csv"), "id,p_a,p_b\n1,0.9,0.1\n2,0.2,0.8\n").unwrap();
    let program = assert_cmd::cargo::cargo_bin("apportion");
    let line = format!("cat people.csv | '{}' label /dev/stdin -o out.csv -q", program.display());
    let output = std::process::Command::new("sh").current_dir(folder).args(["-c", &line]).output().unwrap();
    assert!(output.status.success(), "{}", common::text(&output.stderr));
    assert_eq!(fs::read_to_string(folder.join("out.csv")).unwrap().lines().count(), 3);
    let message = refused(folder, &["label", "-", "-", "-o", "x.csv"]);
    assert_eq!(message, "standard input is given twice, but it can be read only once; give it once");
    for output in ["x.parquet.gz", "x.arrow.zst"] {
        assert!(refused(folder, &["label", "people.csv", "-o", output]).contains("already compressed"), "{output}");
    }
    let message = refused(folder, &["fit", "people.csv", "-o", "people.csv", "--force"]);
    assert!(message.contains("inputs are never overwritten"), "{message}");
    fs::write(folder.join("bare.csv"), "7,0.9,0.1\n8,0.2,0.8\n").unwrap();
    let message = refused(folder, &["label", "bare.csv", "-o", "x.csv"]);
    assert_eq!(message, "bare.csv: its first line contains numbers; add a line with column names");
}

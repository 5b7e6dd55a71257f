//! Inputs are never overwritten, groups are never confused, limits hold, and messages are safe to print.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use common::{apportion, json, message, misused, names_in, refused, run, text};
use serde_json::{Value, json};
use tempfile::TempDir;

const SCORES: &str = "id,county,p_a,p_b\n1,x,0.6,0.4\n2,x,0.3,0.7\n3,y,0.9,0.1\n4,y,0.2,0.8\n";
const PEOPLE: &str = "surname,county_fips\nSMITH,37001\nGARCIA,37183\n";

fn folder_with(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    folder
}

/// Returns the values of the last column but one: the labels of `-o -`.
fn labels(csv: &str) -> Vec<String> {
    csv.lines().skip(1).map(|line| line.rsplit(',').nth(1).unwrap().to_owned()).collect()
}

// Groups of several columns

/// Pairs of values that give the same text if they are simply joined.
const ALIKE: &str = "id,state,county,p_a,p_b\n1,a / b,c,0.6,0.4\n2,a,b / c,0.6,0.4\n3,a /,/ c,0.6,0.4\n4,a,/ / c,0.6,0.4\n\
                     5,\"\"\"a\",b,0.6,0.4\n6,\"\"\"a / b\"\"\",\"\",0.6,0.4\n";

#[test]
fn groups_of_several_columns_are_never_one() {
    let folder = folder_with(&[("j.csv", ALIKE)]);
    let folder = folder.path();
    // Each group has one row, which must get its more likely class; two rows in one group would get one of each class.
    let labeled = run(folder, &["label", "j.csv", "-o", "-", "-q", "--by", "state,county"]);
    assert_eq!(labels(&labeled), ["a"; 6]);
    let all = json(
        folder,
        &[
            "audit",
            "j.csv",
            "--label",
            "county",
            "--by",
            "state,county",
            "--json",
            "-q",
            "--uncoded",
            "c,b / c,/ c,/ / c,b=keep",
        ],
    );
    let names: Vec<&str> =
        all["groups"].as_array().unwrap().iter().map(|group| group["group"].as_str().unwrap()).collect();
    let mut different = names.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!((names.len(), different.len()), (6, 6), "{names:?}");
    assert!(names.contains(&"\"a / b\" / c") && names.contains(&"a / \"b / c\""), "{names:?}");
}

/// States whose names contain the separator are distinct: each has the counts of its own scores.
#[test]
fn nested_units_are_told_apart() {
    let mut rows = String::from("state,county,p_a,p_b\n");
    for (state, county, score) in [("a / b", "c", 0.9), ("a", "b / c", 0.1)] {
        for _ in 0..10 {
            writeln!(rows, "{state},{county},{score},{}", 1.0 - score).unwrap();
        }
    }
    let folder = folder_with(&[("n.csv", &rows)]);
    let labeled = run(folder.path(), &["label", "n.csv", "-o", "-", "-q", "--nested", "state,county"]);
    let found = labels(&labeled);
    let first = found[..10].iter().filter(|label| *label == "a").count();
    let second = found[10..].iter().filter(|label| *label == "a").count();
    assert_eq!((first, second), (9, 1));
}

#[test]
fn decisions_and_references_know_such_groups() {
    let folder = folder_with(&[
        ("j.csv", ALIKE),
        (
            "r.csv",
            "state,county,class,share\na / b,c,a,0\na / b,c,b,1\na,b / c,a,1\na,b / c,b,0\na /,/ c,a,1\na /,/ c,b,0\n\
          a,/ / c,a,1\na,/ / c,b,0\n\"\"\"a\",b,a,1\n\"\"\"a\",b,b,0\n\"\"\"a / b\"\"\",\"\",a,1\n\"\"\"a / b\"\"\",\"\",b,0\n",
        ),
    ]);
    let folder = folder.path();
    let by = ["--by", "state,county", "-q"];
    let label = run(folder, &[&["label", "j.csv", "-o", "-", "--reference", "r.csv"], &by[..]].concat());
    assert_eq!(labels(&label), ["b", "a", "a", "a", "a", "a"]);
    run(folder, &[&["fit", "j.csv", "-o", "d.json", "--reference", "r.csv"], &by[..]].concat());
    let applied = run(folder, &["apply", "j.csv", "-o", "-", "--decision", "d.json", "-q"]);
    assert_eq!(applied, label);
    // The SQL distinguishes ambiguous groups by quotes; other groups are joined as before.
    let sql = run(folder, &["export", "d.json", "--sql", "duckdb", "-q"]);
    assert!(sql.contains("WHEN '\"a / b\" / c' THEN") && sql.contains("LIKE '% / %'"), "{sql}");
}

// Inputs are never overwritten

#[test]
fn inputs_of_every_option_are_kept() {
    let shares = "class,share\na,0.5\nb,0.5\n";
    let margin = "class,share\nwhite,0.6\nblack,0.2\nhispanic,0.1\nasian,0.05\naian,0.03\nother,0.02\n";
    let folder = folder_with(&[("s.csv", SCORES), ("r.csv", shares), ("p.csv", PEOPLE), ("m.csv", margin)]);
    let folder = folder.path();
    run(folder, &["fit", "s.csv", "-o", "d.json", "-q"]);
    fs::copy(folder.join("d.json"), folder.join("d.csv")).unwrap();
    fs::copy(folder.join("r.csv"), folder.join("r.html")).unwrap();
    fs::hard_link(folder.join("r.csv"), folder.join("hard.csv")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("r.csv", folder.join("soft.csv")).unwrap();
    #[cfg(not(unix))]
    fs::hard_link(folder.join("r.csv"), folder.join("soft.csv")).unwrap();
    run(folder, &["tables", "export", "surnames-2020", "-o", "names.csv"]);
    fs::create_dir(folder.join("in")).unwrap();
    fs::create_dir(folder.join("out")).unwrap();
    fs::copy(folder.join("s.csv"), folder.join("in/r.csv")).unwrap();
    fs::copy(folder.join("r.csv"), folder.join("out/r.csv")).unwrap();
    let before = contents(folder);
    let kept = |args: &[&str], option: &str| {
        let said = refused(folder, &[args, &["--force", "-q"]].concat());
        assert!(
            said.contains(&format!("this is the file of {option}, and inputs are never overwritten")),
            "{args:?}: {said}"
        );
        assert_eq!(contents(folder), before, "{args:?}");
    };
    kept(&["label", "s.csv", "-o", "r.csv", "--reference", "r.csv"], "--reference");
    kept(&["label", "s.csv", "-o", "hard.csv", "--reference", "r.csv"], "--reference");
    kept(&["label", "s.csv", "-o", "soft.csv", "--reference", "r.csv"], "--reference");
    kept(&["label", "s.csv", "-o", "./in/../r.csv", "--reference", "r.csv"], "--reference");
    kept(&["label", "in", "-o", "out/", "--reference", "out/r.csv"], "--reference");
    kept(&["label", "s.csv", "-o", "new.csv", "--reference", "r.html", "--report", "r.html"], "--reference");
    kept(&["fit", "s.csv", "-o", "r.csv", "--reference", "r.csv"], "--reference");
    kept(&["apply", "s.csv", "-o", "d.csv", "--decision", "d.csv"], "--decision");
    kept(&["predict", "p.csv", "-o", "m.csv", "--model", "rake", "--margin", "m.csv"], "--margin");
    kept(&["predict", "p.csv", "-o", "m.csv", "--model", "rake", "--surname-margin", "m.csv"], "--surname-margin");
    kept(&["predict", "p.csv", "-o", "m.csv", "--model", "rake", "--place-margin", "m.csv"], "--place-margin");
    kept(&["predict", "p.csv", "-o", "names.csv", "--surnames", "names.csv"], "--surnames");
    kept(&["predict", "p.csv", "-o", "names.csv", "--geography", "names.csv"], "--geography");
    // The main input.
    let said = refused(folder, &["export", "d.json", "--sql", "duckdb", "-o", "d.json", "--force", "-q"]);
    assert!(said.contains("this is an input, and inputs are never overwritten"), "{said}");
    assert_eq!(contents(folder), before);
    fs::hard_link(folder.join("s.csv"), folder.join("same.csv")).unwrap();
    let said = refused(folder, &["label", "s.csv", "-o", "same.csv", "--force", "-q"]);
    assert!(said.contains("this is an input, and inputs are never overwritten"), "{said}");
}

/// Returns all files below a folder, with their contents.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for name in names_in(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            all.extend(contents(&path));
        } else {
            all.push((name, fs::read(path).unwrap()));
        }
    }
    all
}

// Classes

#[test]
fn a_class_cannot_be_called_as_rows_without_a_label_are() {
    let folder = folder_with(&[("u.csv", "p_Uncoded,p_b\n0.6,0.4\n0.3,0.7\n"), ("s.csv", SCORES)]);
    let folder = folder.path();
    let reserved = "reserved for unlabeled rows; class names must be unique, not empty and not Uncoded";
    assert_eq!(
        refused(folder, &["label", "u.csv", "-o", "o.csv"]),
        format!("class name \"uncoded\" is {reserved}; rename the classes with --classes")
    );
    for classes in ["Uncoded,b", "a, UNCODED ", "uncoded,b"] {
        let said = refused(folder, &["label", "s.csv", "-o", "o.csv", &format!("--classes={classes}")]);
        assert!(said.ends_with(reserved), "{said}");
    }
    let said = refused(folder, &["label", "s.csv", "-o", "o.csv", "--classes", "a,"]);
    assert!(said.contains("class name \"\" is empty"), "{said}");
    run(folder, &["label", "u.csv", "-o", "o.csv", "--classes", "a,b", "-q"]);
    // A decision with such a class is invalid.
    let decision = json!({"version": 2, "classes": ["Uncoded", "b"], "seed": 0, "rule": "argmax"});
    fs::write(folder.join("d.json"), decision.to_string()).unwrap();
    let said = refused(folder, &["apply", "u.csv", "-o", "p.csv", "--decision", "d.json"]);
    assert!(said.contains("reserved for unlabeled rows"), "{said}");
}

#[test]
fn a_single_score_column_has_its_class() {
    let folder = folder_with(&[("one.csv", "id,p_c0\n1,1\n2,1\n")]);
    let labeled = run(folder.path(), &["label", "one.csv", "-o", "-", "-q", "--scores", "p_c0"]);
    assert_eq!(labels(&labeled), ["c0", "c0"]);
    let said = refused(folder.path(), &["label", "one.csv", "-o", "-"]);
    assert!(said.starts_with("one.csv: \"p_c0\" is its only score column"), "{said}");
}

// Margins

#[test]
fn shares_of_a_margin_have_a_sum() {
    let folder = folder_with(&[("p.csv", PEOPLE)]);
    let folder = folder.path();
    let rest = "hispanic,0.1\nasian,0.05\naian,0.03\nother,0.02\n";
    let margin = |white: &str, black: &str, rest: &str| {
        fs::write(folder.join("m.csv"), format!("class,share\nwhite,{white}\nblack,{black}\n{rest}")).unwrap();
        ["predict", "p.csv", "-o", "-", "-q", "--model", "rake", "--margin", "m.csv"]
    };
    for (white, black, sum) in [("1.6", "0.2", "2.0000"), ("0.56", "0.2", "0.9600"), ("12.5", "0.2", "12.9000")] {
        let said = refused(folder, &margin(white, black, rest));
        assert!(said.starts_with(&format!("--margin m.csv: its shares sum to {sum}; they must sum to 1")), "{said}");
    }
    run(folder, &margin("0.6", "0.2", rest));
    run(folder, &margin("60.5", "20", "hispanic,10\nasian,5\naian,3\nother,1.5\n"));
    run(folder, &margin("60000", "20000", "hispanic,10000\nasian,5000\naian,300\nother,20\n"));
    run(folder, &margin("6", "2", "hispanic,1\nasian,1\naian,1\nother,1\n"));
}

// Limits

#[test]
fn counts_on_the_command_line_are_bounded() {
    let folder = folder_with(&[("s.csv", SCORES), ("p.csv", PEOPLE)]);
    let folder = folder.path();
    for args in [
        &["label", "s.csv", "-o", "o.csv", "--threads", "1025"][..],
        &["label", "s.csv", "-o", "o.csv", "--threads", "1000000"],
        &["label", "s.csv", "-o", "o.csv", "--threads", "0"],
        &["predict", "p.csv", "-o", "o.csv", "--threads", "5000"],
        &["label", "s.csv", "-o", "o.csv", "--rule", "thompson", "--draws", "1001"],
        &["label", "s.csv", "-o", "o.csv", "--rule", "thompson", "--draws", "1000000000"],
        &["label", "s.csv", "-o", "o.csv", "--rule", "top-k", "--k", "256"],
        &["frontier", "s.csv", "--points", "1000001"],
        &["simulate", "worst-case", "--classes", "251", "-o", "o.csv"],
        &["simulate", "voters", "--rows", "10000000000000", "-o", "o.csv"],
        &["demo", "--rows", "10000000000000"],
    ] {
        let said = misused(folder, args);
        assert!(said.contains("it must be from "), "{args:?}: {said}");
    }
    let said =
        misused(folder, &["label", "s.csv", "-o", "o.csv", "--rule", "thompson", "--draws", "9", "--memory", "20"]);
    assert!(said.starts_with("--draws 9: the draws of 4 rows need 1 MB, but --memory allows 0 MB"), "{said}");
    run(folder, &["label", "s.csv", "-o", "o.csv", "--rule", "thompson", "--draws", "1000", "--threads", "64", "-q"]);
}

#[test]
fn too_many_classes_are_refused_before_any_row_is_read() {
    let names: Vec<String> = (0..70_000).map(|class| format!("p_c{class}")).collect();
    // The second line would be refused if it were read.
    let folder = folder_with(&[("wide.csv", &format!("{}\nnothing\n", names.join(",")))]);
    let expected =
        "there are 70,000 score columns, but at most 250 classes are supported; name those to use with --scores";
    for args in [&["label", "wide.csv", "-o", "o.csv"][..], &["fit", "wide.csv", "-o", "d.json", "--scores", "p_*"]] {
        assert_eq!(refused(folder.path(), args), expected);
    }
}

#[test]
fn a_count_that_is_too_large_is_called_so() {
    let folder = folder_with(&[("n.csv", "p_a,p_b,n\n0.6,0.4,1\n0.6,0.4,1e18\n")]);
    assert_eq!(
        refused(folder.path(), &["label", "n.csv", "-o", "o.csv", "--count", "n"]),
        "n.csv: row 2, column \"n\": a count of 1e18 is too large: the total may be at most 1,099,511,627,776 people; \
         correct it, or split the file"
    );
}

// Content of messages

#[test]
fn names_cannot_send_sequences_to_a_terminal() {
    let escape = "\u{1b}]0;title\u{7}\u{1b}[31m\u{9b}2J\u{202e}";
    let table = format!("id,g,p_{escape}a,p_b\n1,{escape}x,0.6,0.4\n2,{escape}x,0.3,0.7\n3,x,0.3,0.7\n4,x,0.3,0.7\n");
    let folder = folder_with(&[("e.csv", &table), (&format!("{escape}.csv"), "nothing\n1\n")]);
    let folder = folder.path();
    let label = format!("{escape}a");
    let audited = run(folder, &["label", "e.csv", "-o", "o.csv", "--by", "g", "-q"]);
    assert_eq!(audited, "");
    for args in [
        &["label", "e.csv", "-o", "n.csv", "--by", "g", "--force"][..],
        &["compare", "e.csv", "--by", "g"],
        &["frontier", "e.csv"],
        &["fit", "e.csv", "-o", "d.json", "--force"],
        &["audit", "o.csv", "--label", "label", "--by", "g"],
        &["audit", "o.csv", "--label", "id", "--by", "g"],
        &["label", "e.csv", "-o", "n.csv", "--at", &format!("{label}z=0.1"), "--rule", "threshold"],
        &["label", &format!("{escape}.csv"), "-o", "n.csv"],
        &["label", "e.csv", "-o", escape, "--force"],
    ] {
        let output = apportion(folder, args);
        for stream in [text(&output.stdout), text(&output.stderr)] {
            let unsafe_letter = |letter: &char| letter.is_control() && *letter != '\n' || *letter == '\u{202e}';
            assert_eq!(stream.chars().find(unsafe_letter), None, "{args:?}: {stream:?}");
        }
        assert!(!output.stderr.is_empty() || !output.stdout.is_empty(), "{args:?}");
    }
    // JSON contains the names unchanged.
    let told = json(folder, &["compare", "e.csv", "--json", "-q"]);
    assert!(told.to_string().contains("title"), "{told}");
}

#[test]
fn errors_show_little_of_a_cell_and_no_identifiers() {
    let mut rows = String::from("id,ssn,mail,race,few,p_a,p_b\n");
    for row in 0..30 {
        let (a, few) = (if row % 2 == 0 { "0.6,0.4" } else { "0.3,0.7" }, ["red", "green", "blue"][row % 3]);
        writeln!(rows, "{row},900-55-{row:04},p{row}@x.org,v{row},{few},{a}").unwrap();
    }
    let long = "z".repeat(5000);
    let folder = folder_with(&[
        ("v.csv", &rows),
        ("three.csv", "id,ssn,p_a,p_b\n1,900-55-1234,0.6,0.4\n2,900-55-1235,0.6,0.4\n"),
        ("long.csv", &format!("id,t,p_a,p_b\n1,{long},0.6,0.4\n2,a,{long},0.4\n")),
        ("r.csv", &format!("class,share\n{long},0.4\n")),
        ("q.csv", &format!("class,share\na,{long}\n")),
    ]);
    let folder = folder.path();
    for column in ["ssn", "mail", "race"] {
        for args in [&["label", "v.csv", "-o", "o.csv", "--truth", column][..], &["audit", "v.csv", "--label", column]]
        {
            let said = refused(folder, args);
            assert!(said.contains("different values that are not classes"), "{said}");
            assert!(!said.contains("900-55") && !said.contains("@x.org") && !said.contains("v1"), "{said}");
        }
    }
    let said = refused(folder, &["label", "three.csv", "-o", "o.csv", "--truth", "ssn"]);
    assert!(said.contains("column \"ssn\" has 2 different values") && !said.contains("900"), "{said}");
    let said = refused(folder, &["label", "v.csv", "-o", "o.csv", "--truth", "few"]);
    assert!(said.contains("\"red\" (10 rows), \"green\" (10 rows), \"blue\" (10 rows)"), "{said}");
    for args in [
        &["label", "long.csv", "-o", "o.csv", "--truth", "t", "--truth-exclude", "a"][..],
        &["label", "long.csv", "-o", "o.csv"],
        &["label", "long.csv", "-o", "o.csv", "--count", "t"],
        &["label", "three.csv", "-o", "o.csv", "--reference", "r.csv"],
        &["label", "three.csv", "-o", "o.csv", "--reference", "q.csv"],
        &["disparity", "three.csv", "--outcome", "id", "--outcome-value", &long],
        &["label", "three.csv", "-o", "o.csv", "--by", &long],
    ] {
        let said = refused(folder, args);
        assert!(said.contains("… (5000 characters)"), "{args:?}: {said}");
        assert!(said.matches('z').count() <= 41 && said.len() < 400, "{args:?}: {said}");
    }
}

#[test]
fn small_groups_are_not_named_on_the_terminal() {
    let mut rows = String::from("g,p_a,p_b,label\n");
    for row in 0..14 {
        let group = ["large", "tiny"][usize::from(row % 5 == 4)];
        writeln!(rows, "{group},0.6,0.4,a").unwrap();
    }
    let folder = folder_with(&[("l.csv", &rows)]);
    let args = ["audit", "l.csv", "--label", "label", "--by", "g", "-q"];
    let said = run(folder.path(), &args);
    assert!(said.contains("large") && !said.contains("tiny"), "{said}");
    assert!(said.contains("1 group with fewer than 5 people not shown; use --json to see all groups"), "{said}");
    let all: Value = json(folder.path(), &[&args[..], &["--json"]].concat());
    assert_eq!(all["groups"].as_array().unwrap().len(), 2);
}

// The command line

#[test]
fn a_value_that_begins_with_a_dash_has_a_hint_that_helps() {
    let folder = folder_with(&[("s.csv", SCORES)]);
    let output = apportion(folder.path(), &["label", "s.csv", "-o", "-", "--classes", "-1,2"]);
    let said = text(&output.stderr);
    message(&output, 2);
    assert!(said.contains("--classes=-1,2") && !said.contains("-- -1"), "{said}");
    let labeled = run(folder.path(), &["label", "s.csv", "-o", "-", "-q", "--classes=-1,2"]);
    assert_eq!(labels(&labeled), ["-1", "2", "-1", "2"]);
    // Other errors and the help are unchanged.
    let said = misused(folder.path(), &["label", "s.csv", "--nothing"]);
    assert!(said.contains("unexpected argument '--nothing'"), "{said}");
    assert!(run(folder.path(), &["label", "--help"]).contains("Usage:"));
}

#[test]
fn safe_csv_is_for_text() {
    let folder = folder_with(&[("s.csv", SCORES)]);
    let said = misused(folder.path(), &["label", "s.csv", "-o", "o.parquet", "--safe-csv"]);
    assert!(said.starts_with("--safe-csv: it applies only to CSV and TSV outputs"), "{said}");
}

#[test]
fn formulas_are_neutralized_if_that_is_asked_for() {
    let table = "id,=note,p_a,p_b\n=1+1,@x,0.6,0.4\n-2,-0.5,0.3,0.7\n";
    let folder = folder_with(&[("f.csv", table)]);
    let plain = run(folder.path(), &["label", "f.csv", "-o", "-", "-q"]);
    assert!(plain.contains("\n=1+1,@x,"), "{plain}");
    let safe = run(folder.path(), &["label", "f.csv", "-o", "-", "-q", "--safe-csv"]);
    assert!(safe.starts_with("id,'=note,") && safe.contains("\n'=1+1,'@x,") && safe.contains("\n-2,-0.5,"), "{safe}");
}

// Reports of written files

#[test]
#[cfg(unix)]
fn a_report_that_fails_says_that_the_labels_were_written() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder_with(&[("s.csv", SCORES)]);
    let folder = folder.path();
    fs::create_dir(folder.join("closed")).unwrap();
    fs::set_permissions(folder.join("closed"), fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(folder.join("closed/x"), "").is_ok() {
        return; // root can write to read-only folders
    }
    let said = refused(folder, &["label", "s.csv", "-o", "o.csv", "--report", "closed/r.html", "-q"]);
    assert!(said.starts_with("the labels were written to o.csv, but the report failed: "), "{said}");
    assert!(folder.join("o.csv").exists());
}

#[test]
fn nested_columns_are_refused_before_any_work() {
    use arrow_array::types::Int32Type;
    use arrow_array::{ArrayRef, Float64Array, Int32Array, ListArray};
    use std::sync::Arc;
    let folder = TempDir::new().unwrap();
    let scores = |scores: [f64; 2]| Arc::new(Float64Array::from_iter_values(scores)) as ArrayRef;
    let lists = [Some(vec![Some(1), Some(2)]), None];
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists));
    let id: ArrayRef = Arc::new(Int32Array::from_iter_values([1, 2]));
    // The scores of the second row sum to 2, which would be reported if they were read first.
    let columns = [("id", id), ("p_a", scores([0.6, 1.0])), ("p_b", scores([0.4, 1.0])), ("phones", lists)];
    let batch = arrow_array::RecordBatch::try_from_iter(columns).unwrap();
    let file = fs::File::create(folder.path().join("n.parquet")).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    for output in ["o.csv", "o.tsv.gz", "-"] {
        let said = refused(folder.path(), &["label", "n.parquet", "-o", output]);
        assert!(
            said.starts_with("n.parquet: column \"phones\" contains lists, which CSV cannot store; write Parquet"),
            "{said}"
        );
    }
    for args in [&["-o", "o.parquet"][..], &["-o", "o.csv", "--only-label", "--id", "id"]] {
        let args = [&["label", "n.parquet", "--normalize", "-q"], args].concat();
        run(folder.path(), &args);
    }
}

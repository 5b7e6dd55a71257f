//! Damaged files and full disks: each gives one message with the location and the next step, and leaves no files
//! behind.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // also in helpers

mod common;

use std::fs;
use std::io::Write;
use std::path::Path;

use common::{message, names_in, refused, run, text};
use tempfile::TempDir;

const GOOD: &str = "id,p_white,p_black,race\n1,0.6,0.4,white\n2,0.3,0.7,black\n";

/// Labels files that must be refused, and checks that no files were added to the folder.
fn refuses(folder: &Path, cases: &[(&str, &str)]) {
    let before = names_in(folder);
    for (args, expected) in cases {
        let args: Vec<&str> = ["label"].into_iter().chain(args.split(' ')).chain(["-o", "out.csv"]).collect();
        let found = refused(folder, &args);
        assert_eq!(&found, expected, "{args:?}");
        assert_eq!(names_in(folder), before, "{args:?}");
    }
}

fn packed(text: &str) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(text.as_bytes()).unwrap();
    writer.finish().unwrap()
}

/// A row with a missing score is skipped only if its other scores are valid.
#[test]
fn invalid_scores_are_not_skipped() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let label = ["label", "some.csv", "-o", "out.csv", "--force", "--skip-missing"];
    for row in ["nan,oops", "oops,nan", ",oops", "oops,"] {
        fs::write(folder.join("some.csv"), format!("p_a,p_b\n0.6,0.4\n{row}\n")).unwrap();
        let message = refused(folder, &label);
        let column = if row.starts_with("oops") { "p_a" } else { "p_b" };
        let expected = format!("some.csv: row 2, column \"{column}\": \"oops\" is not a number; ");
        assert!(message.starts_with(&expected), "{row}: {message}");
    }
    fs::write(folder.join("some.csv"), "p_a,p_b\n0.6,0.4\nnan,0.3\n").unwrap();
    let output = common::apportion(folder, &label);
    assert!(text(&output.stderr).contains("1 of 2 rows is left out, 1 of them with only some scores"));
}

#[test]
fn text_that_is_no_table() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    write("good.csv", GOOD.as_bytes());
    write("text.csv", b"id,p_white,p_black\n1,0.6,0.4\n2,much,0.7\n");
    write("nothing.csv", b"id,p_white,p_black\n1,0.6,0.4\n2,,0.7\n");
    write("negative.csv", b"id,p_white,p_black\n1,0.6,0.4\n2,-0.1,1.1\n");
    write("infinite.csv", b"id,p_white,p_black\n1,0.6,0.4\n2,inf,0.5\n");
    write("sum.csv", b"id,p_white,p_black\n1,0.6,0.4\n2,0.5,0.75\n");
    write("people.csv", b"p_white,p_black,n\n0.6,0.4,3\n0.6,0.4,1.5\n");
    write("ragged.csv", b"id,p_white,p_black\n1,0.6,0.4\n2,0.3\n3,0.6,0.4\n");
    write("long.csv", b"id,p_white,p_black\n1,0.6,0.4\n2,0.3,0.7,0.1\n");
    write("latin.csv", b"id,p_white,p_black,name\n1,0.6,0.4,Mu\xc3\xb1oz\n2,0.6,0.4,Mu\xf1oz\n");
    write("empty.csv", b"");
    write("header.csv", b"id,p_white,p_black\n");
    write("twice.csv", b"id,p_white,p_black,p_white\n1,0.6,0.4,0.6\n");
    write("semicolons.csv", b"id;p_white;p_black\n1;0.6;0.4\n");
    write("other.csv", b"id,p_white,p_red\n1,0.6,0.4\n");
    refuses(
        folder,
        &[
            (
                "text.csv",
                "text.csv: row 2, column \"p_white\": \"much\" is not a number; correct it, or name another column",
            ),
            (
                "nothing.csv",
                "nothing.csv: row 2, column \"p_white\": the score is missing; add it, or skip rows with missing scores with --skip-missing",
            ),
            (
                "negative.csv",
                "negative.csv: row 2, column \"p_white\": the score of \"white\" is -0.1; scores must not be negative",
            ),
            (
                "infinite.csv",
                "infinite.csv: row 2, column \"p_white\": the score of \"white\" is inf; scores must be finite numbers",
            ),
            (
                "sum.csv",
                "sum.csv: row 2: the scores sum to 1.25 (classes white, black), not to 1; to divide each row by its sum, use --normalize",
            ),
            (
                "people.csv --count n",
                "people.csv: row 2, column \"n\": a count of 1.5; counts must be nonnegative whole numbers; correct it",
            ),
            (
                "ragged.csv",
                "ragged.csv: line 3 has 2 fields, expected 3; fix or quote that line, or name the separator with --delimiter",
            ),
            (
                "long.csv",
                "long.csv: line 3 has 4 fields, expected 3; fix or quote that line, or name the separator with --delimiter",
            ),
            (
                "latin.csv",
                "latin.csv: line 3, column 4: not valid UTF-8; use --encoding windows-1252, or convert the file to UTF-8",
            ),
            ("empty.csv", "empty.csv: the file is empty; make it again, or leave it out"),
            ("header.csv", "header.csv: it has a header but no rows; check how it was made"),
            ("twice.csv", "twice.csv: two columns are named \"p_white\"; rename one of them"),
            (
                "semicolons.csv --delimiter ,",
                "semicolons.csv: no score columns were recognized among id;p_white;p_black; if it is separated by semicolons, use \
                 --delimiter ';'",
            ),
            ("missing.csv", "missing.csv: no such file; check the path"),
            ("missing*.csv", "missing*.csv: no file matches; check the pattern"),
            ("good.csv --by county", "--by: there is no column \"county\"; the columns are id, p_white, p_black, race"),
            // All files must have the columns of the first one.
            (
                "good.csv other.csv",
                "other.csv: it has no column \"p_black\", unlike good.csv; use files with the same columns, or write one file per input: -o FOLDER/",
            ),
            (
                "good.csv --truth id",
                "--truth: unknown classes in column \"id\": \"1\" (1 row), \"2\" (1 row); the classes are white, black; map them with \
                 --truth-map VALUE=CLASS, or treat them as missing with --truth-exclude VALUE",
            ),
        ],
    );
}

#[test]
fn files_that_are_cut_off_or_of_another_kind() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    let rows: String = (0..2000).map(|row| format!("{row},0.{},0.{}\n", 100 + row % 800, 900 - row % 800)).collect();
    let table = format!("id,p_white,p_black\n{rows}");
    write("whole.csv", table.as_bytes());
    let gz = packed(&table);
    write("cut.csv.gz", &gz[..gz.len() / 2]);
    write("no.csv.gz", table.as_bytes());
    write("no.csv.zst", table.as_bytes());
    write("no.parquet", table.as_bytes());
    for ending in ["parquet", "arrow", "csv.zst"] {
        let name = format!("whole.{ending}");
        run(folder, &["label", "whole.csv", "-o", &name, "-q"]);
        let bytes = fs::read(folder.join(&name)).unwrap();
        write(&format!("cut.{ending}"), &bytes[..bytes.len() / 2]);
    }
    write("parquet.csv", &fs::read(folder.join("whole.parquet")).unwrap());
    write("gz.parquet.gz", &packed("PAR1"));
    write("book.csv", b"PK\x03\x04\x14\0\x06\0");
    write("book.xlsx", b"PK\x03\x04\x14\0\x06\0");
    write("book.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1");
    write("table.zip", b"PK\x03\x04\x14\0\x06\0");
    refuses(
        folder,
        &[
            (
                "cut.csv.gz",
                "cut.csv.gz: it cannot be decompressed (incomplete deflate stream); it may be damaged or cut off: copy it again",
            ),
            (
                "cut.csv.zst",
                "cut.csv.zst: it cannot be decompressed (incomplete frame); it may be damaged or cut off: copy it again",
            ),
            (
                "cut.parquet",
                "cut.parquet: it is not a valid Parquet file (Parquet error: Invalid Parquet file. Corrupt footer); it may be damaged \
                 or cut off: copy it again",
            ),
            (
                "cut.arrow",
                "cut.arrow: it is not a valid Arrow file (Parser error: Arrow file does not contain correct footer); it may be \
                 damaged or cut off: copy it again",
            ),
            (
                "no.csv.gz",
                "no.csv.gz: its extension says gzip, but its content is plain text; rename it, or copy it again",
            ),
            (
                "no.csv.zst",
                "no.csv.zst: its extension says Zstandard, but its content is plain text; rename it, or copy it again",
            ),
            (
                "no.parquet",
                "no.parquet: its extension says Parquet, but its content is plain text; rename it, or copy it again",
            ),
            (
                "parquet.csv",
                "parquet.csv: its extension says plain text, but its content is Parquet; rename it, or copy it again",
            ),
            (
                "book.csv",
                "book.csv: its extension says plain text, but its content is an Excel workbook; rename it, or copy it again",
            ),
            (
                "book.xlsx",
                "book.xlsx: it is not a valid Excel workbook (invalid Zip archive: Could not find EOCD); it may be damaged or \
                 cut off: copy it again",
            ),
            (
                "book.xls",
                "book.xls: old Excel workbooks (.xls) and workbooks with a password cannot be read; in Excel, save it as .xlsx \
                 without a password, or as CSV",
            ),
            ("table.zip", "table.zip: ZIP archives cannot be read; unpack it first"),
            (
                "gz.parquet.gz",
                "gz.parquet.gz: Parquet, Arrow and Excel files must not be compressed as a whole; decompress it first",
            ),
        ],
    );
}

/// A folder whose name ends like a file's, a file without read permission, and one that causes a system error.
#[test]
fn files_that_cannot_be_read() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::write(folder.join("good.csv"), GOOD).unwrap();
    fs::create_dir(folder.join("x.csv")).unwrap();
    let holds_none =
        "x.csv: the folder contains no table (.csv, .tsv, .txt, .parquet, .arrow; .gz, .zst); name another";
    refuses(folder, &[("x.csv", holds_none)]);
    if Path::new("/proc/self/mem").exists() {
        let mem = "/proc/self/mem: Input/output error (os error 5); check the path and the disk";
        refuses(folder, &[("/proc/self/mem", mem)]);
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.join("secret.csv");
        fs::write(&path, GOOD).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o0)).unwrap();
        if fs::read(&path).is_ok() {
            eprintln!("skipped: whoever runs this may read everything");
        } else {
            let denied = "secret.csv: permission denied; change its permissions, or use another folder";
            refuses(folder, &[("secret.csv", denied)]);
        }
    }
    let found = refused(folder, &["apply", "good.csv", "--decision", "x.csv", "-o", "out.csv"]);
    assert!(found.starts_with("x.csv: cannot be read ("), "{found}");
    let found = refused(folder, &["apply", "good.csv", "--decision", "good.csv", "-o", "out.csv"]);
    assert!(found.starts_with("good.csv: not a valid decision (") && found.contains("`apportion fit`"), "{found}");
    let found = refused(folder, &["fit", "good.csv", "-o", "nowhere/decision.json"]);
    assert_eq!(found, "nowhere: the folder does not exist; create it first");
    let found = refused(folder, &["label", "good.csv", "-o", "nowhere/out.csv"]);
    assert_eq!(found, "nowhere: the folder does not exist; create it first");
}

/// The row number is correct beyond the first batches.
#[test]
fn a_missing_number_far_down_is_found() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let table = ["p_a,p_b\n", &".6,.4\n".repeat(3_000_000), ",.4\n", &".6,.4\n".repeat(99)].concat();
    fs::write(folder.join("long.csv"), table).unwrap();
    let expected = "long.csv: row 3000001, column \"p_a\": the score is missing; add it, or skip rows with missing scores with --skip-missing";
    refuses(folder, &[("long.csv", expected)]);
}

/// Runs a line in a shell, with the program as $0.
#[cfg(unix)]
fn shell(folder: &Path, line: &str) -> std::process::Output {
    let program = assert_cmd::cargo::cargo_bin("apportion");
    let mut command = std::process::Command::new("sh");
    command.current_dir(folder).arg("-c").arg(line).arg(program).output().unwrap()
}

/// A file size limit simulates a full disk. The limit raises a signal that would end the program, unless the program
/// handles it or its parent process ignores it.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_file() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    run(folder, &["simulate", "voters", "--rows", "5000", "-o", "voters.csv", "-q"]);
    fs::write(folder.join("good.csv"), GOOD).unwrap();
    let before = names_in(folder);
    let full = |name: &str| {
        format!("{name}: File too large (os error 27); free some space, or write elsewhere. No file was left behind")
    };
    for prepare in ["ulimit -f 20", "trap '' XFSZ; ulimit -f 20"] {
        for name in ["out.csv", "out.csv.gz", "out.csv.zst", "out.parquet", "out.arrow"] {
            let output = shell(folder, &format!("{prepare}; \"$0\" label voters.csv -o {name} -q"));
            assert_eq!(message(&output, 1), full(name));
            assert_eq!(names_in(folder), before, "{name}");
        }
        let output = shell(folder, &format!("{prepare}; \"$0\" simulate voters -o made.csv -q"));
        assert_eq!(message(&output, 1), full("made.csv"));
    }
    let output = shell(folder, "ulimit -f 0; \"$0\" fit good.csv -o decision.json -q");
    assert_eq!(message(&output, 1), full("decision.json"));
    assert_eq!(names_in(folder), before);
}

/// A full standard output is an error; a reader that closes the pipe early is not.
#[cfg(target_os = "linux")]
#[test]
fn standard_output_may_be_full_or_closed() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    run(folder, &["simulate", "voters", "--rows", "5000", "-o", "voters.csv", "-q"]);
    let commands = [
        "label voters.csv -o -",
        "simulate voters --rows 50 -o -",
        "audit voters.csv --label race",
        "compare voters.csv --json",
        "frontier voters.csv",
    ];
    for command in commands {
        let quiet = if command.starts_with("simulate") { "-q" } else { "--quiet" };
        let found = message(&shell(folder, &format!("\"$0\" {command} {quiet} > /dev/full")), 1);
        let expected = "standard output: No space left on device (os error 28); free some space, or write elsewhere";
        assert!(found.starts_with(expected), "{command}: {found}");
    }
    for command in ["label voters.csv -o -", "frontier voters.csv"] {
        let output = shell(folder, &format!("\"$0\" {command} -q | head -1"));
        assert_eq!((text(&output.stderr).as_str(), text(&output.stdout).lines().count()), ("", 1), "{command}");
    }
    assert_eq!(names_in(folder), ["voters.csv"]);
}

//! No data are lost or partially written: limits, links, output folders, and files left by an earlier run.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use common::{names_in, refused, run};
use tempfile::TempDir;

const TWO_ROWS: &str = "id,p_white,p_black\n1,0.6,0.4\n2,0.3,0.7\n";

fn gzipped(path: &Path, pieces: &[(&[u8], usize)]) {
    let mut writer = flate2::write::GzEncoder::new(fs::File::create(path).unwrap(), flate2::Compression::fast());
    for (bytes, times) in pieces {
        (0..*times).for_each(|_| writer.write_all(bytes).unwrap());
    }
    writer.finish().unwrap();
}

#[test]
fn small_files_cannot_fill_the_memory() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let zeros = vec![b'x'; 1 << 20];
    gzipped(&folder.join("header.csv.gz"), &[(&zeros, 20)]);
    gzipped(&folder.join("field.csv.gz"), &[(TWO_ROWS.as_bytes(), 1), (&zeros, 20), (b",0.5,0.5\n", 1)]);
    gzipped(&folder.join("columns.csv.gz"), &[(b"x,", 200_000)]);
    let label = |input: &str| refused(folder, &["label", input, "-o", "out.csv", "--memory", "512M"]);
    let too_long = "is longer than 16 MiB; check its quotes and line endings, or allow longer lines with --max-line";
    assert_eq!(label("header.csv.gz"), format!("header.csv.gz: line 1 {too_long}"));
    assert_eq!(label("field.csv.gz"), format!("field.csv.gz: line 4 {too_long}"));
    assert!(label("columns.csv.gz").contains("more than 100,000 columns"), "{}", label("columns.csv.gz"));
    run(folder, &["label", "field.csv.gz", "-o", "out.csv", "--max-line", "100M"]);
    assert_eq!(fs::read_to_string(folder.join("out.csv")).unwrap().lines().count(), 4);
}

#[test]
fn many_inputs_need_few_descriptors() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("in")).unwrap();
    (0..300).for_each(|file| fs::write(folder.join(format!("in/{file}.csv")), TWO_ROWS).unwrap());
    let program = assert_cmd::cargo::cargo_bin("apportion");
    let command = format!("ulimit -n 40; '{}' label in -o out/ -q", program.display());
    let done = Command::new("sh").args(["-c", &command]).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!((names_in(&folder.join("out")).len(), names_in(folder)), (300, vec!["in".into(), "out".into()]));
}

#[cfg(unix)]
#[test]
fn links_neither_repeat_rows_nor_lead_outputs_elsewhere() {
    use std::os::unix::fs::symlink;
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    for name in ["loop/sub", "twice", "linked/sub", "out", "elsewhere"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    for name in ["loop/a.csv", "twice/a.csv", "linked/sub/a.csv"] {
        fs::write(folder.join(name), TWO_ROWS).unwrap();
    }
    symlink("..", folder.join("loop/sub/up")).unwrap();
    symlink("a.csv", folder.join("twice/b.csv")).unwrap();
    symlink("../elsewhere", folder.join("out/sub")).unwrap();
    let label = |input: &str, output: &str| refused(folder, &["label", input, "-o", output]);
    assert!(label("loop", "o.csv").starts_with("loop/sub/up: it is a link to a folder that contains it"));
    assert!(label("twice", "o.csv").starts_with("twice/b.csv: it is the same file as twice/a.csv; name it once"));
    assert!(label("linked", "out/").starts_with("out/sub: it is a link, and outputs must stay inside their folder"));
    assert!(names_in(&folder.join("elsewhere")).is_empty());
    assert_eq!(names_in(folder), ["elsewhere", "linked", "loop", "out", "twice"]);
}

#[cfg(unix)]
#[test]
fn outputs_keep_their_mode_and_what_a_killed_run_left_is_removed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::write(folder.join("in.csv"), TWO_ROWS).unwrap();
    fs::write(folder.join("out.csv"), "old").unwrap();
    fs::write(folder.join(".apportion-unfinished-gone"), "personal data").unwrap();
    fs::set_permissions(folder.join("out.csv"), fs::Permissions::from_mode(0o600)).unwrap();
    run(folder, &["label", "in.csv", "-o", "out.csv", "--force"]);
    assert_eq!(fs::metadata(folder.join("out.csv")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(names_in(folder), ["in.csv", "out.csv"]);
}

#[test]
fn files_of_other_kinds_are_named() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let mut twice = Vec::new();
    let mut writer = flate2::write::GzEncoder::new(&mut twice, flate2::Compression::fast());
    writer.write_all(b"a,b\n").unwrap();
    writer.finish().unwrap();
    gzipped(&folder.join("twice.csv.gz"), &[(&twice, 1)]);
    fs::write(folder.join("trailing.csv.gz"), [&twice[..], b"something that is not gzip at all"].concat()).unwrap();
    let utf16: Vec<u8> = "id,p_a,p_b\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (name, bytes, expected) in [
        ("utf16.csv", &utf16[..], "it contains zero bytes: it may be UTF-16 or UTF-32"),
        ("sqlite.csv", b"SQLite format 3\0...", "SQLite databases cannot be read; export the table as CSV"),
        ("page.csv", b"<!DOCTYPE html><html>", "web pages and XML files cannot be read; "),
        ("data.csv", b"{\"p_a\": 0.5}", "JSON files cannot be read; "),
        ("blank.csv", b"\n\n\n", "it has no header; its first line must name the columns"),
        (
            "split.csv",
            b"id,g,h,p_a,p_b\n1,\xdc,\x9e,0.6,0.4\n2,\xc3\xa9,x,0.5,0.5\n",
            "line 2, column 2: not valid UTF-8",
        ),
    ] {
        fs::write(folder.join(name), bytes).unwrap();
        let found = refused(folder, &["label", name, "-o", "out.csv", "--by", "g"]);
        assert!(found.starts_with(&format!("{name}: {expected}")), "{found}");
    }
    let label = |name: &str| refused(folder, &["label", name, "-o", "out.csv"]);
    assert!(label("twice.csv.gz").contains("it is compressed twice"), "{}", label("twice.csv.gz"));
    assert!(label("trailing.csv.gz").contains("something that is not gzip"), "{}", label("trailing.csv.gz"));
    assert!(!folder.join("out.csv").exists());
}

#[test]
fn marks_and_damage_of_encodings_are_seen() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let table = "id,name,p_a,p_b\n1,Peña,0.6,0.4\n";
    let utf16 = |text: &str| -> Vec<u8> {
        [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
    };
    fs::write(folder.join("good.csv"), utf16(table)).unwrap();
    fs::write(folder.join("cut.csv"), &utf16(table)[..40]).unwrap();
    let mut lone = utf16(table);
    let letter = lone.len() - 20;
    lone[letter..letter + 2].copy_from_slice(&[0x00, 0xd8]);
    fs::write(folder.join("lone.csv"), lone).unwrap();
    fs::write(folder.join("mark.csv"), format!("\u{feff}{table}")).unwrap();
    for name in ["good.csv", "mark.csv"] {
        let written = run(folder, &["label", name, "-o", "-", "-q", "--encoding", "latin1"]);
        assert!(written.contains("\n1,Peña,"), "{name}: {written}");
    }
    let found = refused(folder, &["label", "lone.csv", "-o", "out.csv"]);
    assert!(found.starts_with("lone.csv: it is not valid UTF-16"), "{found}");
    refused(folder, &["label", "cut.csv", "-o", "out.csv"]);
}

#[test]
fn text_tables_in_folders_are_read_and_no_file_counts_twice() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("in")).unwrap();
    fs::write(folder.join("in/a.csv"), TWO_ROWS).unwrap();
    fs::write(folder.join("in/b.txt"), TWO_ROWS).unwrap();
    fs::write(folder.join("in/README.txt"), "Dear all, these are scores.\nThe columns are id and two classes\n")
        .unwrap();
    run(folder, &["label", "in", "-o", "out.csv", "-q"]);
    assert_eq!(fs::read_to_string(folder.join("out.csv")).unwrap().lines().count(), 5);
    let found = refused(folder, &["label", "in/a.csv", "in/../in/a.csv", "-o", "twice.csv"]);
    assert!(found.contains("it is the same file as in/a.csv; name it once"), "{found}");
}

#[test]
fn many_classes_that_need_too_much_memory_are_refused() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let names: Vec<String> = (0..120).map(|class| format!("p_c{class}")).collect();
    let row = vec!["1"; 120].join(",");
    fs::write(folder.join("in.csv"), format!("{}\n{}", names.join(","), format!("{row}\n").repeat(300))).unwrap();
    let label = ["label", "in.csv", "-o", "out.csv", "-q", "--normalize", "--memory"];
    let found = refused(folder, &[&label[..], &["1M"]].concat());
    assert!(found.starts_with("300 rows of 120 classes need about 2 MiB of memory, but 1 MiB are allowed"), "{found}");
    run(folder, &[&label[..], &["2M"]].concat());
}

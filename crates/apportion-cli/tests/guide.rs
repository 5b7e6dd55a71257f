//! Runs the commands of the guide, file by file and in order, and compares their output with the output that it shows.
//!
//! Every shell block in docs/guide is run. A text block marked by `<!-- checked -->` must equal the output of the
//! commands before it. If the output changed on purpose, `GUIDE=write cargo test -p apportion-cli --test guide` updates
//! the guide; review the changes before committing them.
//!
//! `<!-- expects: WORDS | MORE WORDS -->` after a checked text protects the prose that explains it: the text must contain
//! the words, regardless of spaces. `GUIDE=write` does not change them, so the test fails until the prose is reviewed.
//! `make test-docs` checks the links.
#![cfg(unix)] // the commands are for a shell
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::text;
use tempfile::TempDir;

const MARK: &str = "<!-- checked -->";
const EXPECTS: &str = "<!-- expects: ";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide")
}

/// Returns the files of the guide, in order.
fn files() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    files.sort();
    files
}

/// A piece of a file: lines outside of blocks, or a block with its language.
struct Piece {
    language: Option<String>,
    body: String,
}

fn pieces(file: &str) -> Vec<Piece> {
    let mut pieces = vec![Piece { language: None, body: String::new() }];
    for line in file.lines() {
        let inside = pieces.last().unwrap().language.is_some();
        match line.strip_prefix("```") {
            Some(_) if inside => pieces.push(Piece { language: None, body: String::new() }),
            Some(language) => pieces.push(Piece { language: Some(language.to_owned()), body: String::new() }),
            None => pieces.last_mut().unwrap().body.push_str(&format!("{line}\n")),
        }
    }
    assert!(pieces.last().unwrap().language.is_none(), "a block is not closed");
    pieces
}

/// Returns the output of a block on standard output and standard error, without trailing spaces.
fn run(folder: &Path, script: &str) -> Result<String, String> {
    let program = assert_cmd::cargo::cargo_bin("apportion");
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    let script = format!("exec 2>&1\n{script}");
    // Reports contain this date, 2026-01-01, instead of today's.
    let shell = shell.current_dir(folder).env("PATH", path).env("SOURCE_DATE_EPOCH", "1767225600");
    let output = shell.env("APPORTION_PROGRESS", "off").args(["-eu", "-c", &script]).output().unwrap();
    let printed = trimmed(&text(&output.stdout));
    if output.status.success() { Ok(printed) } else { Err(printed) }
}

fn trimmed(text: &str) -> String {
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_matches('\n').to_owned()
}

/// Returns a text with single spaces and no line breaks, so that the widths of columns do not matter.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Checks that the last checked text contains the words that the prose after it expects.
fn check_expectations(prose: &str, shown: &str) {
    for line in prose.lines().filter(|line| line.starts_with("<!--") && *line != MARK) {
        let expected = line.strip_prefix(EXPECTS).and_then(|rest| rest.strip_suffix(" -->"));
        for expected in expected.unwrap_or_else(|| panic!("unknown comment: {line}")).split(" | ").map(words) {
            assert!(
                !expected.is_empty() && words(shown).contains(&expected),
                "the text explains {expected:?}, which is not printed; review the text, then the comment:\n{shown}"
            );
        }
    }
}

/// Runs the blocks of a file. Returns the file with the actual output, and the number of checked blocks.
fn follow(file: &str, folder: &Path) -> (String, usize) {
    let (mut printed, mut shown, mut checked, mut whole) = (None, String::new(), 0, String::new());
    let pieces = pieces(file);
    for (place, piece) in pieces.iter().enumerate() {
        let mut body = piece.body.clone();
        match piece.language.as_deref() {
            None => {
                check_expectations(&body, &shown);
                whole.push_str(&body);
                continue;
            }
            Some("sh") => {
                printed = Some(run(folder, &body).unwrap_or_else(|said| panic!("{body}failed:\n{said}")));
            }
            Some("text") if pieces[place - 1].body.trim() == MARK => {
                body = printed.take().expect("a checked text comes after commands") + "\n";
                shown.clone_from(&body);
                checked += 1;
            }
            _ => printed = None,
        }
        whole.push_str(&format!("```{}\n{body}```\n", piece.language.as_deref().unwrap()));
    }
    let marks = file.lines().filter(|line| *line == MARK).count();
    assert_eq!(marks, checked, "every {MARK} stands between a block of commands and the text that they print");
    (whole, checked)
}

/// Adds the files of other tools, which the guide cannot create.
fn put_files_of_other_tools(folder: &Path) {
    let conventions = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conventions");
    for file in fs::read_dir(conventions).unwrap().map(|entry| entry.unwrap().path()) {
        fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
    }
}

#[test]
fn commands_run_and_print_what_the_guide_shows() {
    let mut all = 0;
    for path in files() {
        let folder = TempDir::new().unwrap();
        if path.ends_with("from-other-tools.md") {
            put_files_of_other_tools(folder.path());
        }
        let file = fs::read_to_string(&path).unwrap();
        let (followed, checked) = follow(&file, folder.path());
        all += checked;
        if file != followed && std::env::var("GUIDE").is_ok_and(|what| what == "write") {
            fs::write(&path, followed).unwrap();
            continue;
        }
        let differ = file.lines().zip(followed.lines()).find(|(shown, printed)| shown.trim_end() != *printed);
        assert!(differ.is_none() && file == followed, "{}: shown, and printed: {differ:#?}", path.display());
    }
    assert!(all > 10, "{all} texts are checked");
}

#[test]
fn pieces_are_told_apart() {
    let folder = TempDir::new().unwrap();
    let file = "a\n```sh\necho one   \necho two >&2\n```\n<!-- checked -->\n```text\nold\n```\nb\n```r\nx\n```\n";
    let (whole, checked) = follow(file, folder.path());
    assert_eq!((whole.replace("one\ntwo", "old"), checked), (file.to_owned(), 1));
    assert!(run(folder.path(), "false\ntrue").is_err() && run(folder.path(), "echo $nothing").is_err());
}

/// A file whose command prints two columns, and whose prose expects `words`.
fn expecting(words: &str) -> String {
    let output = "```sh\necho 'black   -31.7%'\n```\n<!-- checked -->\n```text\nold\n```\n";
    format!("{output}<!-- expects: {words} -->\n\nProse.\n")
}

#[test]
fn prose_expects_the_output_that_it_explains() {
    let folder = TempDir::new().unwrap();
    assert!(follow(&expecting("black -31.7% | -31"), folder.path()).0.contains("black   -31.7%"));
}

#[test]
#[should_panic(expected = "the text explains \"black -31.8%\"")]
fn prose_that_expects_other_output_fails() {
    follow(&expecting("black | black -31.8%"), TempDir::new().unwrap().path());
}

#[test]
#[should_panic(expected = "unknown comment: <!-- expect: old -->")]
fn unknown_comments_fail() {
    check_expectations("<!-- expect: old -->\n", "old");
}

//! Text files as other programs write them: encodings, and a first line that names the separator.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

use apportion::text::Message;
use apportion_io::{Input, InputOptions, Progress, Table, TableOptions, TextEncoding, TextTable};
use tempfile::TempDir;

fn open(path: &Path, encoding: TextEncoding) -> apportion_io::Result<Input> {
    Input::new(&[path.to_str().unwrap().into()], InputOptions { encoding, ..InputOptions::default() })
}

/// Reads a file, plain and compressed; both must be the same.
fn read(bytes: &[u8], encoding: TextEncoding) -> Result<TextTable, String> {
    let folder = TempDir::new().unwrap();
    let (plain, packed) = (folder.path().join("t.csv"), folder.path().join("t.csv.gz"));
    fs::write(&plain, bytes).unwrap();
    let mut writer = flate2::write::GzEncoder::new(fs::File::create(&packed).unwrap(), flate2::Compression::fast());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap();
    let read = |path: &Path| {
        let table = open(path, encoding).and_then(|input| input.read_text(0));
        table.map_err(|error| error.to_string().replacen(&format!("{}: ", path.display()), "", 1))
    };
    let (plain, packed) = (read(&plain), read(&packed));
    assert_eq!(plain, packed);
    plain
}

#[test]
fn the_first_line_may_name_the_separator() {
    for text in [
        "sep=;\nid;name\n1;a,b\n",
        "\u{feff}sep=;\r\nid;name\r\n1;a,b\r\n",
        "SEP=|\nid|name\n1|a,b\n",
        "sep=\t\nid\tname\n1\ta,b\n",
        "sep=,\nid,name\n1,\"a,b\"\n",
        "sep=^\nid^name\n1^a,b\n",
    ] {
        let table = read(text.as_bytes(), TextEncoding::Auto).unwrap();
        assert_eq!((table.names, table.rows), (vec!["id".into(), "name".into()], vec![vec!["1".into(), "a,b".into()]]));
    }
    let utf16: Vec<u8> = "\u{feff}sep=;\nid;name\n1;é\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(read(&utf16, TextEncoding::Auto).unwrap().rows, [["1", "é"]]);
    // Lines are counted as in the file.
    let ragged = read(b"sep=;\nid;name\n1;a\n2\n", TextEncoding::Auto).unwrap_err();
    assert!(ragged.starts_with("line 4 has 1 field"), "{ragged}");
}

#[test]
fn a_named_separator_is_noted() {
    let folder = TempDir::new().unwrap();
    for (text, expected) in
        [("sep=;\na;b\n", Some("semicolons")), ("sep=^\na^b\n", Some("'^'")), ("sep=,\na,b\n", None), ("a,b\n", None)]
    {
        let path = folder.path().join("t.csv");
        fs::write(&path, text).unwrap();
        let note = open(&path, TextEncoding::Auto).unwrap().format_note().map(|note| note.to_string());
        assert_eq!(note.is_some(), expected.is_some());
        assert!(expected.is_none_or(|word| note.is_some_and(|note| note.contains(word))), "{text:?}");
    }
}

/// Text before and after the buffers of the reader, so that the first invalid byte is found late.
fn long(name: &[u8]) -> Vec<u8> {
    let line = b"Lee,0.5,0.5\n".repeat(20_000);
    [&b"name,p_a,p_b\n"[..], &line, name, b",0.25,0.75\n", &line].concat()
}

#[test]
fn windows_1252_is_detected_if_nothing_is_utf8() {
    for bytes in [b"name,p_a,p_b\nMu\xf1oz\x80,0.25,0.75\n".to_vec(), long(b"Mu\xf1oz\x80")] {
        let table = read(&bytes, TextEncoding::Auto).unwrap();
        assert!(table.rows.iter().any(|row| row[0] == "Muñoz€"));
        assert_eq!(read(&bytes, TextEncoding::Windows1252).unwrap(), table);
        let refused = read(&bytes, TextEncoding::Utf8).unwrap_err();
        assert!(refused.contains("line ") && refused.contains("encoding"), "{refused}");
    }
    let header = read(b"n\xf1m,p_a\nx,1\n", TextEncoding::Auto).unwrap();
    assert_eq!(header.names[0], "nñm");
}

/// A file with UTF-8 anywhere is damaged UTF-8, and so is a file with bytes that Windows-1252 does not define.
#[test]
fn damaged_utf8_is_refused() {
    for name in [&b"Mu\xf1oz,1,0\nMu\xc3\xb1oz"[..], b"Mu\xc3\xb1oz,1,0\nMu\xf1oz", b"Mu\xf1oz\x81", b"\x9d"] {
        for bytes in [[b"name,p_a,p_b\n", name, b",1,0\n"].concat(), long(name)] {
            let refused = read(&bytes, TextEncoding::Auto).unwrap_err();
            let expected = "not valid UTF-8; use `encoding` windows-1252";
            assert!(refused.starts_with("line ") && refused.contains(expected), "{refused}");
        }
    }
    // A byte order mark says that the file is UTF-8.
    assert!(read(b"\xef\xbb\xbfname\nMu\xf1oz\n", TextEncoding::Auto).is_err());
}

/// Collects notes.
#[derive(Debug, Default)]
struct Notes(Mutex<Vec<String>>);

impl Progress for Notes {
    fn begin(&self, _: &'static str, _: u64) {}
    fn update(&self, _: u64, _: u64) {}
    fn end(&self) {}
    fn note(&self, message: Message) {
        self.0.lock().unwrap().push(message.to_string());
    }
}

#[test]
fn a_detected_encoding_is_noted_once() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.csv");
    for (bytes, expected) in [(long(b"Mu\xf1oz"), 1), (long("Muñoz".as_bytes()), 0)] {
        fs::write(&path, bytes).unwrap();
        let notes = Arc::new(Notes::default());
        let input = open(&path, TextEncoding::Auto).unwrap().with_progress(Box::new(notes.clone()));
        for _ in 0..2 {
            Table::read(&input, &TableOptions::default()).unwrap();
        }
        let notes = notes.0.lock().unwrap();
        assert_eq!(notes.len(), expected, "{notes:?}");
        assert!(notes.iter().all(|note| note.contains("Windows-1252") && note.contains("t.csv")));
    }
}

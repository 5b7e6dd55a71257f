//! Excel workbooks: the cells of a sheet as text columns, and workbooks that are refused.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use apportion_io::{
    Input, InputOptions, Output, PlainColumn, PlainValues, Table, TableOptions, TextTable, write_with_plain_columns,
};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A workbook with the sheets `Scores` and `Notes`, written by XlsxWriter: shared strings, numbers, dates, a formula,
/// Booleans, empty cells and an empty row.
const PEOPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/people.xlsx");

fn options(sheet: Option<&str>) -> InputOptions {
    InputOptions { sheet: sheet.map(str::to_owned), ..InputOptions::default() }
}

fn open(path: &Path, sheet: Option<&str>) -> apportion_io::Result<Input> {
    Input::new(&[path.to_str().unwrap().into()], options(sheet))
}

fn read(path: &Path, sheet: Option<&str>) -> apportion_io::Result<TextTable> {
    open(path, sheet)?.read_text(0)
}

const TYPES: &str =
    r#"<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>"#;
const ROOT: &str = r#"<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#;
const PARTS: &str = r#"<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#;
const BOOK: &str = r#"<?xml version="1.0"?><workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Data" sheetId="1" r:id="rId1"/></sheets></workbook>"#;

/// Writes a ZIP archive.
fn archive(folder: &Path, name: &str, parts: &[(&str, &[u8])]) -> PathBuf {
    let path = folder.join(name);
    let mut writer = ZipWriter::new(fs::File::create(&path).unwrap());
    for (name, bytes) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap();
    path
}

/// Writes a workbook with one sheet, given as the XML of its rows.
fn workbook(folder: &Path, rows: &str) -> PathBuf {
    let sheet = format!(
        r#"<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}</sheetData></worksheet>"#
    );
    workbook_parts(folder, sheet.as_bytes())
}

fn workbook_parts(folder: &Path, sheet: &[u8]) -> PathBuf {
    let texts = [
        ("[Content_Types].xml", TYPES.as_bytes()),
        ("_rels/.rels", ROOT.as_bytes()),
        ("xl/workbook.xml", BOOK.as_bytes()),
        ("xl/_rels/workbook.xml.rels", PARTS.as_bytes()),
        ("xl/worksheets/sheet1.xml", sheet),
    ];
    archive(folder, "data.xlsx", &texts)
}

fn text(reference: &str, value: &str) -> String {
    format!(r#"<c r="{reference}" t="inlineStr"><is><t>{value}</t></is></c>"#)
}

#[test]
fn cells_are_read_as_text() {
    let table = read(Path::new(PEOPLE), None).unwrap();
    assert_eq!(table.names, ["id", "zip", "born", "seen", "voted", "p_white", "p_black"]);
    let expected = [
        ["1", "02138", "1980-05-31", "2024-11-05T13:45:00", "TRUE", "0.6", "0.4"],
        ["27713", "27713", "", "", "FALSE", "0.55", "0.45"],
        ["123456789012345", "2138", "2000-02-29", "", "", "1", "0"],
    ];
    assert_eq!(table.rows, expected);
    // Few rows at a time give the same rows.
    let small = InputOptions { batch_rows: 1, ..InputOptions::default() };
    assert_eq!(Input::new(&[PEOPLE.into()], small).unwrap().read_text(0).unwrap(), table);
}

#[test]
fn a_sheet_is_chosen_by_name() {
    let note = open(Path::new(PEOPLE), None).unwrap().format_note().unwrap().to_string();
    assert!(note.contains("\"Scores\"") && note.contains("\"Notes\"") && note.contains("`sheet`"), "{note}");
    let notes = open(Path::new(PEOPLE), Some("Notes")).unwrap();
    assert_eq!(notes.format_note(), None);
    assert_eq!(notes.read_text(0).unwrap().names, ["note"]);
    let refused = open(Path::new(PEOPLE), Some("notes")).unwrap_err().to_string();
    assert!(refused.contains("no sheet \"notes\" (did you mean \"Notes\"?)"), "{refused}");
}

/// The header is the first row with values. Unnamed columns have the letters of Excel, and empty rows are skipped.
#[test]
fn the_table_may_begin_anywhere() {
    let folder = TempDir::new().unwrap();
    let rows = [
        r#"<row r="1"><c r="A1" s="0"/></row><row r="3">"#,
        &text("B3", "p_a"),
        &text("D3", "p_b"),
        r#"</row><row r="4"><c r="A4"><v>0</v></c><c r="B4"><v>0.5</v></c><c r="D4"><v>0.5</v></c></row>"#,
        r#"<row r="6"><c r="A6"><v>1</v></c><c r="B6" t="str"><f>1/2</f><v>0.25</v></c><c r="D6"><v>7.5E-1</v></c></row>"#,
        r#"<row r="7"><c r="B7" s="0"/></row>"#,
    ];
    let table = read(&workbook(folder.path(), &rows.concat()), None).unwrap();
    assert_eq!(table.names, ["A", "p_a", "C", "p_b"]);
    assert_eq!(table.rows, [["0", "0.5", "", "0.5"], ["1", "0.25", "", "0.75"]]);
}

#[test]
fn errors_name_the_cell() {
    let folder = TempDir::new().unwrap();
    let header = format!(r#"<row r="1">{}{}</row>"#, text("A1", "p_a"), text("B1", "p_b"));
    let good = r#"<row r="2"><c r="A2"><v>0.5</v></c><c r="B2"><v>0.5</v></c></row>"#;
    for (rows, expected) in [
        (
            r#"<row r="4"><c r="A4"><v>1</v></c><c r="B4" t="e"><v>#DIV/0!</v></c></row>"#,
            "sheet \"Data\", row 2, column \"p_b\" (cell B4): the value is the error #DIV/0!; ",
        ),
        (
            r#"<row r="4"><c r="A4" t="e"><v>#N/A</v></c></row>"#,
            "sheet \"Data\", row 2, column \"p_a\" (cell A4): the value is the error #N/A; ",
        ),
        (
            r#"<row r="4"><c r="C4"><v>1</v></c></row>"#,
            "sheet \"Data\", cell C4: its column has no name in the first row; ",
        ),
        (r#"<row r="2"><c r="A2"><v>1</v></c></row>"#, "not a valid Excel workbook (the cell A2 is out of place)"),
        (r#"<row r="4"><c r="B4"><v>1</v></c><c r="A4"><v>1</v></c></row>"#, "the cell A4 is out of place"),
    ] {
        let path = workbook(folder.path(), &format!("{header}{good}{rows}"));
        let failed = read(&path, None).unwrap_err().to_string();
        assert!(failed.contains(expected), "{failed}");
        assert!(failed.starts_with(path.to_str().unwrap()) && !failed.contains('\n'), "{failed}");
    }
    let empty = read(&workbook(folder.path(), ""), None).unwrap_err().to_string();
    assert!(empty.contains("the sheet \"Data\" is empty"), "{empty}");
    let repeated = format!(r#"<row r="1">{}{}</row>"#, text("A1", "p_a"), text("B1", "p_a"));
    let twice = open(&workbook(folder.path(), &repeated), None).unwrap().columns(0).unwrap_err().to_string();
    assert!(twice.contains("\"p_a\""), "{twice}");
}

/// An error value matters only in columns that are used. It is copied as text.
#[test]
fn errors_of_unused_columns_are_copied() {
    let folder = TempDir::new().unwrap();
    let header = format!(r#"<row r="1">{}{}{}</row>"#, text("A1", "p_a"), text("B1", "p_b"), text("C1", "note"));
    let cells = r#"<row r="2"><c r="A2"><v>0.5</v></c><c r="B2"><v>0.5</v></c><c r="C2" t="e"><v>#N/A</v></c></row>"#;
    let path = workbook(folder.path(), &format!("{header}{cells}"));
    let input = open(&path, None).unwrap();
    let options = TableOptions { memory: 1 << 20, ..TableOptions::default() };
    assert_eq!(Table::read(&input, &options).unwrap().rows(), 1);
    let output = folder.path().join("out.csv");
    let place = Output { path: output.to_str().unwrap().into(), ..Output::default() };
    let labels = |rows| vec![PlainColumn::new("label", PlainValues::Whole(vec![7; rows]))];
    write_with_plain_columns(&input, &place, &labels(0), None, &mut |_, rows| Ok(labels(rows))).unwrap();
    assert_eq!(fs::read_to_string(&output).unwrap(), "p_a,p_b,note,label\n0.5,0.5,#N/A,7\n");
    let by = TableOptions { by: vec!["note".into()], ..options };
    let failed = Table::read(&input, &by).unwrap_err().to_string();
    assert!(failed.contains("column \"note\" (cell C2): the value is the error #N/A; correct the formula"), "{failed}");
}

#[test]
fn other_archives_are_refused() {
    let folder = TempDir::new().unwrap();
    for (parts, expected) in [
        (&[("xl/workbook.bin", &b""[..])][..], ".xlsb"),
        (&[("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"), ("content.xml", b"")], ".ods"),
        (&[("table.csv", b"p_a,p_b\n")], "ZIP archive"),
    ] {
        for name in ["unknown", "named.xlsx"] {
            let path = archive(folder.path(), name, parts);
            let failed = open(&path, None).unwrap_err().to_string();
            assert!(failed.contains(expected), "{failed}");
            // Input from a pipe has no extension.
        }
    }
    let path = folder.path().join("named.csv");
    fs::copy(PEOPLE, &path).unwrap();
    let failed = open(&path, None).unwrap_err().to_string();
    assert!(failed.contains("Excel workbook"), "{failed}");
    fs::rename(&path, folder.path().join("named.xlsx.gz")).unwrap();
    assert!(open(&folder.path().join("named.xlsx.gz"), None).is_err());
}

#[test]
fn damaged_workbooks_give_one_line() {
    let folder = TempDir::new().unwrap();
    let (bytes, path) = (fs::read(PEOPLE).unwrap(), folder.path().join("damaged.xlsx"));
    let whole = read(Path::new(PEOPLE), None).unwrap();
    let mut refused = 0;
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        fs::write(&path, damaged).unwrap();
        match read(&path, None) {
            Ok(table) => assert_eq!(table, whole, "byte {at} changes a cell"),
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().contains('\n'), "{error}");
            }
        }
    }
    assert!(refused > bytes.len() / 20, "{refused} of {}", bytes.len() / 7);
    for length in (5..bytes.len()).step_by(97) {
        fs::write(&path, &bytes[..length]).unwrap();
        let failed = read(&path, None).unwrap_err().to_string();
        assert!(failed.contains("not a valid Excel workbook") && !failed.contains('\n'), "{failed}");
    }
}

#[test]
fn a_workbook_that_changes_is_refused() {
    let folder = TempDir::new().unwrap();
    let (path, output) = (folder.path().join("in.xlsx"), folder.path().join("out.csv"));
    let header = format!(r#"<row r="1">{}</row>"#, text("A1", "id"));
    let other = workbook(folder.path(), &format!(r#"{header}<row r="2"><c r="A2"><v>1</v></c></row>"#));
    let write = |input: &Input| {
        let place = Output { path: output.to_str().unwrap().into(), ..Output::default() };
        let labels = |rows| vec![PlainColumn::new("label", PlainValues::Whole(vec![0; rows]))];
        write_with_plain_columns(input, &place, &labels(0), None, &mut |_, rows| Ok(labels(rows)))
    };
    let same_time = || {
        let mut bytes = fs::read(&path).unwrap();
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&path, bytes).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    };
    let changes: [&dyn Fn(); 2] = [&|| drop(fs::copy(&other, &path)), &same_time];
    for change in changes {
        fs::copy(PEOPLE, &path).unwrap();
        let input = open(&path, None).unwrap();
        change();
        let failed = write(&input).unwrap_err().to_string();
        assert!(failed.contains("changed while it was being read"), "{failed}");
        assert!(!output.exists());
    }
    fs::copy(PEOPLE, &path).unwrap();
    write(&open(&path, None).unwrap()).unwrap();
    assert_eq!(fs::read_to_string(&output).unwrap().lines().count(), 4);
}

#[test]
fn workbooks_are_not_written() {
    let folder = TempDir::new().unwrap();
    let output = Output { path: folder.path().join("out.xlsx").to_str().unwrap().into(), ..Output::default() };
    let refused = output.check(None).unwrap_err().to_string();
    assert!(refused.contains(".csv"), "{refused}");
    // In a folder of outputs, the table of a workbook is a CSV file.
    fs::create_dir(folder.path().join("in")).unwrap();
    fs::copy(PEOPLE, folder.path().join("in/people.xlsx")).unwrap();
    let input = open(&folder.path().join("in"), None).unwrap();
    let output = Output { path: folder.path().join("out/").to_str().unwrap().into(), ..Output::default() };
    let label = || PlainColumn::new("label", PlainValues::Whole(Vec::new()));
    let written = write_with_plain_columns(&input, &output, &[label()], None, &mut |_, rows| {
        Ok(vec![PlainColumn::new("label", PlainValues::Whole(vec![0; rows]))])
    });
    assert_eq!(written.unwrap(), [folder.path().join("out/people.csv")]);
}

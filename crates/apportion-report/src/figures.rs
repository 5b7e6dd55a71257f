//! Every chart as two files: its numbers (CSV) and its Plotly specification (JSON).

use std::borrow::Cow;

use serde_json::Value;

use crate::document::{Chart, Document, MAKER, Sheet};

pub(crate) fn files(document: &Document) -> Vec<(String, Vec<u8>)> {
    let both = |chart: &Chart| {
        let specification = document.specification(chart).to_string().into_bytes();
        [(format!("{}.csv", chart.id), csv(&chart.sheet)), (format!("{}.json", chart.id), specification)]
    };
    document.charts().flat_map(both).collect()
}

/// Returns whether the bytes of a file are a specification that this crate wrote.
pub fn is_own_figure(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Value>(bytes).is_ok_and(|own| own["layout"]["meta"] == MAKER)
}

/// Writes a sheet as CSV (RFC 4180, with line feeds).
fn csv(sheet: &Sheet) -> Vec<u8> {
    let mut text = String::new();
    for row in std::iter::once(&sheet.columns).chain(&sheet.rows) {
        for (index, cell) in row.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            text += &quoted(&guarded(cell), row.len() == 1);
        }
        text.push('\n');
    }
    text.into_bytes()
}

/// Quotes a cell if needed. An empty cell that is alone in its row needs quotes, because readers skip empty lines.
fn quoted(cell: &str, is_alone: bool) -> Cow<'_, str> {
    if cell.contains([',', '"', '\n', '\r']) || is_alone && cell.is_empty() {
        return format!("\"{}\"", cell.replace('"', "\"\"")).into();
    }
    cell.into()
}

/// Puts an apostrophe before text that a spreadsheet would run as a formula. Numbers are unchanged.
fn guarded(cell: &str) -> Cow<'_, str> {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && cell.parse::<f64>().is_err();
    if is_formula { format!("'{cell}").into() } else { cell.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_stay_text_and_numbers_numbers() {
        let mut sheet = Sheet::new(["rule", "=n_a"]);
        for row in [["=1+1", "-0.5"], ["@SUM(A1)", "+2"], ["+cmd|' /C calc'!A0", "-1e-9"], ["-", "a=b"]] {
            sheet.push(row.map(String::from));
        }
        let text = String::from_utf8(csv(&sheet)).unwrap();
        assert_eq!(text, "rule,'=n_a\n'=1+1,-0.5\n'@SUM(A1),+2\n'+cmd|' /C calc'!A0,-1e-9\n'-,a=b\n");
    }

    /// Checks that the csv crate reads every cell back, and writes the same bytes.
    #[test]
    fn cells_are_quoted_where_they_need_it() {
        let mut sheet = Sheet::new(["a,b", "two\nlines", ""]);
        for row in [["said \"x\"", "", "é\r\n"], ["\"", " x ", ","], ["", "", ""], ["a'b", "c;d", "\"\",\""]] {
            sheet.push(row.map(String::from));
        }
        let mut single = Sheet::new(["only"]);
        ["", "x", "\"", ""].into_iter().for_each(|cell| single.push([cell.to_owned()]));
        for sheet in [sheet, single] {
            let own = csv(&sheet);
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(&own[..]);
            let found: Vec<Vec<String>> =
                reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect();
            let rows: Vec<Vec<String>> = std::iter::once(&sheet.columns).chain(&sheet.rows).cloned().collect();
            assert_eq!(found, rows);
            let mut writer = csv::Writer::from_writer(Vec::new());
            rows.iter().for_each(|row| writer.write_record(row).unwrap());
            assert_eq!(String::from_utf8(own).unwrap(), String::from_utf8(writer.into_inner().unwrap()).unwrap());
        }
    }
}

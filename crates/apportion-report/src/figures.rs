//! Every chart as two files: its numbers (CSV), and its specification (JSON), fit for any Plotly.

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

/// Whether the bytes of a file are a specification that was written here.
pub fn is_own_figure(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Value>(bytes).is_ok_and(|own| own["layout"]["meta"] == MAKER)
}

fn csv(sheet: &Sheet) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in std::iter::once(&sheet.columns).chain(&sheet.rows) {
        // Into memory, and rows of one length: it cannot fail.
        let _ = writer.write_record(row.iter().map(|cell| guarded(cell).into_owned()));
    }
    writer.into_inner().unwrap_or_default()
}

/// A text that a spreadsheet would run as a formula has an apostrophe before it; numbers stay as they are.
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
}

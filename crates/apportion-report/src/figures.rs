//! Every chart as two files: its numbers (CSV), and its specification (JSON), fit for any Plotly.

use crate::document::{Chart, Document, Sheet};

pub(crate) fn files(document: &Document) -> Vec<(String, Vec<u8>)> {
    let both = |chart: &Chart| {
        let specification = document.specification(chart).to_string().into_bytes();
        [(format!("{}.csv", chart.id), csv(&chart.sheet)), (format!("{}.json", chart.id), specification)]
    };
    document.charts().flat_map(both).collect()
}

fn csv(sheet: &Sheet) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in std::iter::once(&sheet.columns).chain(&sheet.rows) {
        // Into memory, and rows of one length: it cannot fail.
        let _ = writer.write_record(row);
    }
    writer.into_inner().unwrap_or_default()
}

//! Provenance: the files, the command, the rules and the certificates, so that others can reproduce the results.

use super::Section;
use crate::document::{Block, Cell, Table};
use crate::study::Study;
use crate::text;

pub(super) fn section(study: &Study) -> Section {
    let own = &study.provenance;
    let lead = format!(
        "This report was made from {}{}. It contains no name and no ID of a person. Groups with \
         fewer than five people are left out, but a class within a larger group can have fewer, so check the tables of groups before \
         you share this page.",
        text::counted(own.files.len() as u64, "file"),
        if own.command.is_empty() { "" } else { " by the command below" }
    );
    let mut blocks = Vec::new();
    if !own.command.is_empty() {
        blocks.push(Block::Code(own.command.clone()));
    }
    blocks.extend([files(study), facts(study).folded()].map(Block::Table));
    blocks.extend(proofs(study).map(|table| Block::Table(table.folded())));
    Section { id: "provenance", title: "Provenance", lead, blocks }
}

fn table(id: &str, caption: &str, columns: &[&str], rows: Vec<Vec<Cell>>) -> Table {
    let columns = columns.iter().map(|&name| name.to_owned()).collect();
    Table { columns, rows, ..Table::new(id, caption) }
}

fn files(study: &Study) -> Table {
    let row = |(name, rows, sha): &(String, u64, String)| {
        vec![Cell::text(name), Cell::number(Some(*rows as f64), |_| text::count(*rows)), Cell::text(sha)]
    };
    table("files", "Files", &["File", "Rows", "SHA-256"], study.provenance.files.iter().map(row).collect())
}

fn facts(study: &Study) -> Table {
    let date = study.date.iter().map(|date| vec![Cell::text("Date"), Cell::text(date)]);
    let facts = study.provenance.facts.iter().map(|(name, fact)| vec![Cell::text(name), Cell::text(fact)]);
    table("facts", "Settings", &["Setting", "Value"], date.chain(facts).collect())
}

/// Returns the certificates of the joint rules.
fn proofs(study: &Study) -> Option<Table> {
    let rows = study.label_sets.iter().filter_map(|own| {
        let proof = own.certificate.as_ref()?;
        let verdict =
            if proof.is_closed() { "proved optimal".to_owned() } else { format!("within {:.1e}", proof.gap()) };
        Some(vec![
            Cell::text(&own.name),
            Cell::text(proof.primal.to_string()),
            Cell::text(proof.dual.to_string()),
            Cell::text(verdict),
            Cell::number(Some(own.tied_rows as f64), |_| text::count(own.tied_rows)),
        ])
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    let columns = ["Rule", "Sum of the labels' scores", "Upper bound for all labels", "Result", "Tied rows"];
    let caption = "Proofs that the labels are optimal (sums of scores, in units of 2⁻⁴⁰)";
    (!rows.is_empty()).then(|| table("proofs", caption, &columns, rows))
}

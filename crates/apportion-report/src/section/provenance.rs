//! Provenance: the files, the command, the rules and the certificates, so that others can reproduce the results.

use super::Section;
use crate::document::{Block, Cell, Table};
use crate::study::Study;
use crate::text;

pub(super) fn section(study: &Study) -> Section {
    let own = &study.provenance;
    let lead = format!(
        "This page was made from {} by the command below; it holds no name and no identifier of a person. A group of fewer \
         than five people is not named.",
        text::counted(own.files.len() as u64, "file")
    );
    let mut blocks = vec![Block::Code(own.command.clone()), Block::Table(files(study)), Block::Table(facts(study))];
    blocks.extend(proofs(study).map(Block::Table));
    blocks.push(Block::Text(RATES.into()));
    Section { id: "provenance", title: "Provenance", lead, blocks }
}

const RATES: &str = "The “80% rule” of adverse impact is a ratio of rates, and not a threshold of scores.";

fn table(id: &str, caption: &str, columns: &[&str], rows: Vec<Vec<Cell>>) -> Table {
    let columns = columns.iter().map(|&name| name.to_owned()).collect();
    Table { id: id.into(), caption: caption.into(), columns, rows, note: String::new(), sortable: false }
}

fn files(study: &Study) -> Table {
    let row = |(name, rows, sha): &(String, u64, String)| {
        vec![Cell::text(name), Cell::number(Some(*rows as f64), |_| text::count(*rows)), Cell::text(sha)]
    };
    table("files", "The files", &["File", "Rows", "SHA-256"], study.provenance.files.iter().map(row).collect())
}

fn facts(study: &Study) -> Table {
    let rows = study.provenance.facts.iter().map(|(name, fact)| vec![Cell::text(name), Cell::text(fact)]).collect();
    table("facts", "What was done", &["What", "How"], rows)
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
    let columns = ["Rule", "What the labels reach", "What none can exceed", "So", "Rows tied"];
    let caption = "The proofs of the joint rules, in units of 2⁻⁴⁰";
    (!rows.is_empty()).then(|| table("proofs", caption, &columns, rows))
}

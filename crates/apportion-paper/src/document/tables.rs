//! The section on the paper's tables: the published figures next to those of simulated voters.

use apportion_report::chart::full;
use apportion_report::text::{count, percent, plain};
use apportion_report::{Block, Cell, Section, Sheet, Table};

use super::{order, table};
use crate::Reproduction;
use crate::published::{Published, published};
use crate::voters::{Outcome, VoterFile};

pub(super) fn section(own: &Reproduction) -> Section {
    let mut blocks = vec![Block::Text(why(own))];
    blocks.extend(published().iter().map(|published| Block::Table(side_by_side(own, published))));
    let pairs = own.rule_pairs();
    blocks.push(Block::Text(order::words(own, &pairs)));
    blocks.push(Block::Table(order::table(&pairs)));
    Section { id: "tables", title: "The paper’s tables", lead: order::lead(own, &pairs), blocks }
}

/// Explains why the figures differ from the published ones.
fn why(own: &Reproduction) -> String {
    let public = match &own.public {
        Some(public) => format!(
            "The tables of public data are computed from {}, {} voters of known class in {} cells; their rules are solved \
             over all voters at once, and the paper’s in batches.",
            public.name,
            count(public.voters),
            count(public.cells)
        ),
        None => SIMULATED_PUBLIC.to_owned(),
    };
    format!("{COMMERCIAL} {public} {ONE_STATE}")
}

const COMMERCIAL: &str = "The figures differ from the published ones, because the paper’s commercial voter file is not public. \
                          Ours are of simulated voters, drawn from North Carolina’s counties and the Census surnames. \
                          Their scores use only name and county, while the vendor’s use more, so ours are less accurate. \
                          The vendor’s scores count too many people in the largest class; ours are made overconfident to \
                          do the same.";

const SIMULATED_PUBLIC: &str = "The paper’s BISG scores are nearly calibrated; ours are fully calibrated. Raking counts too few \
                                people in the largest class, as ours do with the shares of all residents.";

const ONE_STATE: &str = "Only North Carolina is simulated: the tables of South Carolina, Florida, the three states and the \
                         United States show the same simulated voters of North Carolina.";

/// Returns the voters that a table is compared with.
fn beside<'a>(own: &'a Reproduction, published: &Published) -> Option<&'a VoterFile> {
    own.voters.iter().find(|file| file.made == published.beside)
}

fn side_by_side(own: &Reproduction, published: &Published) -> Table {
    let file = beside(own, published);
    let row = |(rule, theirs): &(&str, Outcome)| {
        let ours = file.and_then(|file| file.outcome(rule));
        let both = |figure: fn(&Outcome) -> f64, show: fn(f64) -> String| {
            [Cell::number(Some(figure(theirs)), show), Cell::number(ours.map(figure), show)]
        };
        let mut row = vec![Cell::text(*rule)];
        row.extend(both(|own| own.accuracy, |own| plain(own, 3)));
        row.extend(both(|own| own.fidelity_to_truth, |own| plain(own, 3)));
        row.extend(both(|own| own.fidelity_to_posterior, |own| plain(own, 3)));
        row.extend(both(|own| own.coverage, |own| percent(own, 1)));
        row
    };
    let columns = [
        "Rule",
        "Accuracy, published",
        "ours",
        "Fidelity to truth, published",
        "ours",
        "To posterior, published",
        "ours",
        "Labeled, published",
        "ours",
    ];
    let caption = format!("{}: {}", published.within, published.about);
    let mut table = table(published.label, &caption, &columns, published.rows.iter().map(row).collect());
    if let Some(file) = file {
        table.note = format!("Ours: {} {}.", count(file.voters), file.words());
    }
    table
}

/// Returns all tables in one sheet, with the published figures next to ours.
pub(super) fn sheet(own: &Reproduction) -> Sheet {
    let figures = ["coverage", "accuracy", "fidelity_to_truth", "fidelity_to_posterior"];
    let both = figures.iter().flat_map(|figure| [format!("{figure}_published"), format!("{figure}_ours")]);
    let mut sheet = Sheet::new(["table", "part", "rule"].map(String::from).into_iter().chain(both));
    for published in published() {
        let file = beside(own, &published);
        for (rule, theirs) in &published.rows {
            let ours = file.and_then(|file| file.outcome(rule));
            let both = |figure: fn(&Outcome) -> f64| [full(Some(figure(theirs))), full(ours.map(figure))];
            let head = [published.within, published.label, rule].map(String::from).into_iter();
            let figures: [fn(&Outcome) -> f64; 4] =
                [|own| own.coverage, |own| own.accuracy, |own| own.fidelity_to_truth, |own| own.fidelity_to_posterior];
            sheet.push(head.chain(figures.into_iter().flat_map(both)));
        }
    }
    sheet
}

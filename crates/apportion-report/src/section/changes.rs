//! Changes: how many people get another label than with argmax, by class.

use super::Section;
use crate::document::{Block, Cell, Table};
use crate::study::{Changes, Study, part};
use crate::text;

/// Returns the section, or `None` if there is only argmax.
pub(super) fn section(study: &Study) -> Option<Section> {
    let changes = study.changes.as_ref()?;
    let blocks = vec![Block::Table(table(study, changes))];
    Some(Section { id: "changes", title: "Changes", lead: lead(study, changes), blocks })
}

/// Returns the name of a label, given its index.
fn name(study: &Study, label: usize) -> &str {
    study.classes.get(label).map_or("Uncoded", String::as_str)
}

fn lead(study: &Study, changes: &Changes) -> String {
    let (before, after) = (&study.label_sets[changes.before], &study.label_sets[changes.after]);
    let cells = || {
        let row = |(from, row): (usize, &Vec<u64>)| {
            row.iter().copied().enumerate().map(move |(to, people)| (from, to, people)).collect::<Vec<_>>()
        };
        changes.people.iter().enumerate().flat_map(row)
    };
    let all: u64 = cells().map(|(.., people)| people).sum();
    let moved: u64 = cells().filter(|(from, to, _)| from != to).map(|(.., people)| people).sum();
    let largest = cells().filter(|(from, to, _)| from != to).max_by_key(|&(.., people)| people);
    match largest.filter(|(.., people)| *people > 0) {
        None => format!(
            "{} {} everyone the same label as {}.",
            text::begin(&after.name),
            after.does("gives", "give"),
            before.name
        ),
        Some((from, to, people)) => format!(
            "{} {} {} of {} ({}) another label than {}. The most frequent change is from {} to {} ({}).",
            text::begin(&after.name),
            after.does("gives", "give"),
            text::count(moved),
            text::counted(all, "person"),
            text::percent(part(moved, all).unwrap_or(0.0), 1),
            before.name,
            name(study, from),
            name(study, to),
            text::counted(people, "person")
        ),
    }
}

/// Returns the matrix of labels before and after.
fn table(study: &Study, changes: &Changes) -> Table {
    let (before, after) = (&study.label_sets[changes.before], &study.label_sets[changes.after]);
    let with_uncoded = before.uncoded > 0 || after.uncoded > 0;
    let shown = study.k() + usize::from(with_uncoded);
    let (names, columns, by_number) = super::tables::numbered(study, with_uncoded);
    let row = |from: usize| {
        let people = &changes.people[from];
        let cell = |to: usize| Cell::number(Some(people[to] as f64), |_| text::count(people[to]));
        let total: u64 = people.iter().sum();
        let mut row = vec![Cell::text(&names[from])];
        row.extend((0..shown).map(cell));
        row.push(Cell::number(Some(total as f64), |_| text::count(total)));
        row
    };
    let mut columns: Vec<String> = std::iter::once(text::begin(&before.name)).chain(columns).collect();
    columns.push("Total".into());
    Table {
        columns,
        rows: (0..shown).map(row).collect(),
        note: format!("Rows: the label by {}. Columns: the label by {}{by_number}.", before.name, after.name),
        ..Table::new("changes-table", format!("People by label: {} and {}", before.name, after.name))
    }
}

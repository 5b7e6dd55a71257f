//! The audit figures of the labels that the report is about: parts of the bias, agreement with argmax, unlabeled
//! people, intervals.

use apportion::audit::{Interval, Intervals, Section as Figures};

use crate::document::{Cell, Table};
use crate::study::{FEWEST, LabelKind, Study};
use crate::text;

/// Returns the tables, if the labels were audited.
pub(super) fn tables(study: &Study) -> Vec<Table> {
    let Some(audit) = &study.audit else { return Vec::new() };
    let mut tables = Vec::new();
    tables.extend(split(study, audit));
    tables.extend(argmax(study, audit));
    tables.extend(unlabeled(study, audit));
    if let Some(own) = &audit.intervals {
        tables.extend([class_intervals(study, audit, own), intervals(study, audit, own)]);
    }
    tables
}

fn table(id: &str, caption: String, columns: &[&str], rows: Vec<Vec<Cell>>) -> Table {
    let columns = columns.iter().map(|&name| name.to_owned()).collect();
    Table { columns, rows, ..Table::new(id, caption) }
}

/// Returns the parts of the bias against the truth, class by class.
fn split(study: &Study, audit: &Figures) -> Option<Table> {
    audit.confusion.as_ref()?;
    let percent = |percent: Option<f64>| Cell::number(percent, text::signed_percent);
    let mut rows = Vec::with_capacity(audit.classes.len());
    for class in &audit.classes {
        rows.push(vec![
            Cell::text(&class.class),
            percent(class.against_truth.and_then(|bias| bias.percent)),
            percent(class.split.and_then(|split| split.miscalibration.percent)),
            percent(class.split.and_then(|split| split.discretization.percent)),
        ]);
    }
    let caption = format!("Bias of {} against the truth, in percent of the true share", study.subject().name);
    let columns = ["Class", "Bias", "Miscalibration", "Discretization"];
    let note = "Miscalibration comes from the scores, discretization from turning them into labels.";
    Some(Table { note: note.into(), ..table("split", caption, &columns, rows) })
}

/// Returns how often the labels are the argmax class, and how many people have tied scores. `None` for argmax itself.
fn argmax(study: &Study, audit: &Figures) -> Option<Table> {
    let agreement = audit.argmax_agreement.filter(|_| study.subject().kind != LabelKind::ARGMAX)?;
    let tied = audit.tied?;
    let rows = vec![
        vec![
            Cell::text("Labels that equal the label by argmax"),
            Cell::number(Some(agreement), |share| text::percent(share, 1)),
        ],
        vec![
            Cell::text("People with several classes that share the largest score"),
            Cell::number(Some(tied as f64), |_| text::count(tied)),
        ],
    ];
    let caption = format!("Agreement of {} with argmax", study.subject().name);
    Some(table("argmax-agreement", caption, &["Figure", "Value"], rows))
}

/// Describes the scores of unlabeled people, if there are any.
fn unlabeled(study: &Study, audit: &Figures) -> Option<Table> {
    // The scores of very few people would describe each of them.
    let own = audit.uncoded_rows.as_ref().filter(|own| own.people >= FEWEST)?;
    let share = |share: Option<f64>| Cell::number(share, |share| text::plain(share, 3));
    let mut rows = Vec::with_capacity(audit.classes.len());
    for (class, &mean) in audit.classes.iter().zip(&own.mean_scores) {
        rows.push(vec![Cell::text(&class.class), share(Some(mean)), share(class.posterior_share)]);
    }
    let caption = format!(
        "Mean scores of the {} that {} leaves unlabeled",
        text::counted(own.people, "person"),
        study.subject().name
    );
    let [low, middle, high] = own.top_score_quartiles.map(|score| text::plain(score, 3));
    let note = format!("Quartiles of their largest score: {low}, {middle} and {high}.");
    Some(Table { note, ..table("unlabeled", caption, &["Class", "Unlabeled people", "All people"], rows) })
}

/// Returns the bootstrap intervals of shares and biases.
fn class_intervals(study: &Study, audit: &Figures, own: &Intervals) -> Table {
    let with_truth = audit.confusion.is_some();
    let mut columns = vec!["Class", "Share", "Bias against the scores, points"];
    columns.extend(with_truth.then_some("Bias against the truth, points"));
    let mut rows = Vec::with_capacity(audit.classes.len());
    for (class, audit) in audit.classes.iter().enumerate() {
        let share = own.share[class].map(|own| range(own, |share| text::percent(share, 2)));
        let mut row = vec![Cell::text(&audit.class), cell(share), cell(own.bias_against_posterior[class].map(points))];
        row.extend(with_truth.then(|| cell(own.bias_against_truth[class].map(points))));
        rows.push(row);
    }
    let caption = format!("95% bootstrap intervals of the counts of {}", study.subject().name);
    table("class-intervals", caption, &columns, rows)
}

/// Returns the bootstrap intervals of accuracy and fidelity.
fn intervals(study: &Study, audit: &Figures, own: &Intervals) -> Table {
    let mut figures =
        vec![("Expected accuracy", own.expected_accuracy), ("Fidelity to the scores", own.fidelity_to_posterior)];
    if audit.confusion.is_some() {
        figures.extend([("Accuracy", own.accuracy), ("Fidelity to the truth", own.fidelity_to_truth)]);
    }
    let mut rows = Vec::with_capacity(figures.len());
    for (name, interval) in figures {
        let shown = interval.map(|own| range(own, |number| text::plain(number, 4)));
        rows.push(vec![Cell::text(name), cell(shown)]);
    }
    let caption = format!("95% bootstrap intervals of accuracy and fidelity of {}", study.subject().name);
    table("intervals", caption, &["Figure", "95% interval"], rows)
}

fn cell(text: Option<String>) -> Cell {
    Cell::text(text.unwrap_or_else(|| "–".into()))
}

fn points(interval: Interval) -> String {
    range(interval, |difference| text::signed(100.0 * difference, 2))
}

fn range(interval: Interval, show: impl Fn(f64) -> String) -> String {
    format!("{} to {}", show(interval.low), show(interval.high))
}

//! Tables: counts, biases, confusion, rates and unlabeled people, by rule and class.

use apportion::audit::Bias;

use super::Section;
use super::groups::FEW;
use crate::document::{Block, Cell, Table};
use crate::study::{LabelSet, Study, part};
use crate::text;

pub(super) fn section(study: &Study) -> Section {
    let mut tables = vec![counts(study)];
    tables.extend(biases(study));
    tables.extend(super::audit::tables(study));
    tables.extend(confusion(study));
    tables.extend(rates(study));
    tables.extend(coverage(study));
    let blocks = tables.into_iter().map(|table| Block::Table(table.folded())).collect();
    Section {
        id: "tables",
        title: "Tables",
        lead: "More figures, by rule and class. Open a table to see it.".into(),
        blocks,
    }
}

/// Returns the number of people of each class, by rule.
fn counts(study: &Study) -> Table {
    let people = |number: u64| Cell::number(Some(number as f64), |_| text::count(number));
    let mut rows = Vec::new();
    let mut minor = study.minor();
    if let Some(truth) = &study.whole.truth {
        let known = study.whole.with_truth();
        let name = if known == study.whole.people {
            "in truth".into()
        } else {
            format!("in truth, of {}", text::count(known))
        };
        rows.push((name, truth.iter().map(|&number| people(number)).chain([Cell::text("–")]).collect()));
    }
    let sums = (0..study.k()).map(|class| Cell::number(Some(study.whole.posterior_sum(class)), text::sum));
    rows.push(("by the scores".into(), sums.chain([Cell::text("–")]).collect()));
    rows.extend(study.label_sets.iter().map(|own| {
        (own.name.clone(), own.counts.iter().chain([&own.uncoded]).map(|&number| people(number)).collect())
    }));
    let before = rows.len() - study.label_sets.len();
    minor.iter_mut().for_each(|index| *index += before);
    let columns = study.classes.iter().cloned().chain(["Uncoded".into()]).collect();
    Table::crossed("counts-table", "People of each class, by rule", ["Rule", "Class"], columns, rows, minor)
}

/// Returns the bias of each class's share, in points and in percent of the class: against the truth, if known, and
/// against the scores.
fn biases(study: &Study) -> Vec<Table> {
    type Of = fn(&Study, &LabelSet, usize) -> Option<Bias>;
    let table = |id: &str, reference: &str, of: Of| {
        let cell = |off: Option<Bias>| {
            let points = off.map(|off| 100.0 * off.difference);
            let percent = off
                .and_then(|off| off.percent)
                .map_or_else(String::new, |own| format!(" ({})", text::signed_percent(own)));
            Cell::number(points, |points| format!("{}{percent}", text::signed(points, 2)))
        };
        let rows = study
            .label_sets
            .iter()
            .map(|own| (own.name.clone(), (0..study.k()).map(|class| cell(of(study, own, class))).collect()));
        let caption = format!("Share of each class minus that of {reference}, in points (and in percent)");
        Table::crossed(id, &caption, ["Rule", "Class"], study.classes.clone(), rows.collect(), study.minor())
    };
    let truth =
        study.has_truth().then(|| table("bias-truth", &format!("the truth{}", study.among()), Study::off_truth));
    truth.into_iter().chain([table("bias-scores", "the scores", Study::off_posterior)]).collect()
}

/// Returns truth against label, for the subject and the corrected labels.
fn confusion(study: &Study) -> Vec<Table> {
    let shown = [Some(study.subject()), study.corrected()].into_iter().flatten();
    shown.enumerate().filter_map(|(index, own)| one_confusion(study, own, index)).collect()
}

/// Returns the names of classes as rows and as columns of a matrix, and a remark on them. With many classes, columns have
/// numbers instead of names.
pub(super) fn numbered(study: &Study, with_uncoded: bool) -> (Vec<String>, Vec<String>, &'static str) {
    const MOST_NAMES: usize = 9;
    let is_numbered = study.k() > MOST_NAMES;
    let uncoded = || with_uncoded.then(|| "Uncoded".to_owned());
    let number =
        |(class, name): (usize, &String)| if is_numbered { format!("{}. {name}", class + 1) } else { name.clone() };
    let short = |(class, name): (usize, &String)| if is_numbered { (class + 1).to_string() } else { name.clone() };
    let rows = study.classes.iter().enumerate().map(number).chain(uncoded()).collect();
    let columns = study.classes.iter().enumerate().map(short).chain(uncoded()).collect();
    (rows, columns, if is_numbered { ", by number" } else { "" })
}

fn one_confusion(study: &Study, own: &LabelSet, index: usize) -> Option<Table> {
    let confusion = own.confusion.as_ref()?;
    let with_uncoded = own.uncoded > 0;
    let (names, columns, by_number) = numbered(study, with_uncoded);
    let row = |(class, people): (usize, &Vec<u64>)| {
        let flag = if people.iter().sum::<u64>() < FEW { FLAG } else { "" };
        let mut row = vec![Cell::text(format!("{}{flag}", names[class]))];
        let shown = &people[..study.k() + usize::from(with_uncoded)];
        row.extend(shown.iter().map(|&number| Cell::number(Some(number as f64), |_| text::count(number))));
        row
    };
    let rows: Vec<Vec<Cell>> = confusion.iter().enumerate().map(row).collect();
    Some(Table {
        note: format!("Rows: the truth. Columns: the label{by_number}. {}", few(&rows)).trim_end().to_owned(),
        columns: std::iter::once("Truth".to_owned()).chain(columns).collect(),
        rows,
        ..Table::new(format!("confusion-{index}"), format!("Truth and label, by {}", own.name))
    })
}

/// The mark of figures that are mostly chance.
const FLAG: &str = " °";

fn few(rows: &[Vec<Cell>]) -> String {
    let any = rows.iter().flatten().any(|cell| cell.text.ends_with(FLAG));
    if any { format!("° Fewer than {FEW} people: mostly chance.") } else { String::new() }
}

/// The denominator of a rate: returns the number of people in a confusion matrix for a class.
type Whole = fn(&[Vec<u64>], usize) -> u64;

/// Returns the precision and recall of each class, by rule.
fn rates(study: &Study) -> Vec<Table> {
    let labeled: Whole = |confusion, class| confusion.iter().map(|row| row[class]).sum();
    let members: Whole = |confusion, class| confusion[class].iter().sum();
    let table = |id: &str, caption: &str, whole: Whole| {
        let cell = |confusion: &[Vec<u64>], class: usize| {
            let (hits, whole) = (confusion[class][class], whole(confusion, class));
            let flag = if whole < FEW { FLAG } else { "" };
            Cell::number(part(hits, whole), |rate| format!("{}{flag}", text::plain(rate, 3)))
        };
        let row = |own: &LabelSet| {
            let cells = |confusion: &Vec<Vec<u64>>| (0..study.k()).map(|class| cell(confusion, class)).collect();
            let unknown = || vec![Cell::text("–"); study.k()];
            (own.name.clone(), own.confusion.as_ref().map_or_else(unknown, cells))
        };
        let rows = study.label_sets.iter().map(row).collect();
        let table = Table::crossed(id, caption, ["Rule", "Class"], study.classes.clone(), rows, study.minor());
        Table { note: few(&table.rows), sortable: true, ..table }
    };
    if !study.has_truth() {
        return Vec::new();
    }
    vec![
        table("precision", "Precision: the share of the labels of a class that are right", labeled),
        table("recall", "Recall: the share of the people of a class who have its label", members),
    ]
}

/// Returns the share of each class that is labeled, if some people are unlabeled.
fn coverage(study: &Study) -> Option<Table> {
    let share = |share: Option<f64>| Cell::number(share, |share| text::percent(share, 1));
    let mut rows = Vec::new();
    for own in study.label_sets.iter().filter(|own| own.uncoded > 0) {
        if let Some(coverage) = &own.coverage {
            rows.push((format!("{}, by the scores", own.name), coverage.iter().map(|own| share(*own)).collect()));
        }
        if let Some(confusion) = &own.confusion {
            let labeled = |people: &Vec<u64>| {
                let (all, without) = (people.iter().sum::<u64>(), people[study.k()]);
                share(part(all - without, all))
            };
            rows.push((format!("{}, in truth", own.name), confusion.iter().map(labeled).collect()));
        }
    }
    let table = |rows| {
        let caption = "Share of each class that has a label";
        Table::crossed("coverage", caption, ["Rule", "Class"], study.classes.clone(), rows, Vec::new())
    };
    let note = "The rest of each class, up to 100%, is unlabeled.";
    (!rows.is_empty()).then(|| Table { note: note.into(), ..table(rows) })
}

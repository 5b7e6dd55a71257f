//! Tables: the rules side by side (the paper's tab:table-extended), counts, confusion, rates, and who has no label.

use super::Section;
use super::groups::FEW;
use crate::document::{Block, Cell, Table};
use crate::study::{Labelling, Study, part};
use crate::text;

pub(super) fn section(study: &Study) -> Section {
    let mut tables = vec![rules(study), counts(study)];
    tables.extend(confusion(study));
    tables.extend(rates(study));
    tables.extend(coverage(study));
    Section { id: "tables", title: "Tables", lead: lead(study), blocks: tables.into_iter().map(Block::Table).collect() }
}

fn lead(study: &Study) -> String {
    // The best, and all that are as good.
    let most = |of: fn(&Labelling) -> Option<f64>| {
        let all = || study.labellings.iter().filter(|own| own.uncoded == 0).filter_map(|own| Some((own, of(own)?)));
        let best = all().map(|(_, own)| own).max_by(f64::total_cmp)?;
        let names: Vec<&Labelling> = all().filter(|(_, own)| best - own < 1e-12).map(|(own, _)| own).collect();
        Some((names, best))
    };
    let name = |all: &[&Labelling]| text::list(&all.iter().map(|own| &own.name).collect::<Vec<_>>());
    let verb = |all: &[&Labelling], one, many| if let [own] = all { own.does(one, many) } else { many };
    let (accurate, faithful, word) = if study.has_truth() {
        (most(|own| own.accuracy), most(|own| own.fidelity_to_truth), "accuracy")
    } else {
        (most(|own| own.expected_accuracy), most(|own| own.fidelity_to_posterior), "expected accuracy")
    };
    match (accurate, faithful) {
        (Some((first, a)), Some((second, f))) => format!(
            "Of the ways that label everybody, {} {} the most accurate ({word} {}), and {} {} the counts nearest to {} (fidelity {}){}.",
            name(&first),
            verb(&first, "is", "are"),
            text::plain(a, 4),
            name(&second),
            verb(&second, "has", "have"),
            study.reference_word(),
            text::plain(f, 4),
            if study.among().is_empty() { String::new() } else { format!(",{}", study.among()) }
        ),
        _ => "Every rule, class by class.".into(),
    }
}

/// The rules side by side.
fn rules(study: &Study) -> Table {
    let (truth, groups) = (study.has_truth(), study.groups.is_some());
    let mut columns = vec!["Rule".to_owned()];
    if truth {
        columns.extend(["Accuracy", "95% interval"].map(String::from));
    }
    columns.extend(["Expected accuracy", "Fidelity to posterior"].map(String::from));
    columns.extend(groups.then(|| "Fidelity within groups".into()));
    columns.extend(truth.then(|| "Fidelity to truth".into()));
    columns.push("Labelled".into());
    let frontier = study.labellings.iter().any(|own| own.below_frontier.is_some());
    columns.extend(frontier.then(|| "Below the frontier".into()));
    let row = |own: &Labelling| {
        let four = |number: Option<f64>| Cell::number(number, |number| text::plain(number, 4));
        let mut row = vec![Cell::text(&own.name)];
        if truth {
            let interval = own.accuracy_interval();
            let interval = interval.map(|own| format!("{} to {}", text::plain(own.low, 4), text::plain(own.high, 4)));
            row.extend([four(own.accuracy), Cell::text(interval.unwrap_or_else(|| "–".into()))]);
        }
        row.extend([four(own.expected_accuracy), four(own.fidelity_to_posterior)]);
        row.extend(groups.then(|| four(own.fidelity_in_groups)));
        row.extend(truth.then(|| four(own.fidelity_to_truth)));
        let labelled = part(own.labelled(), own.labelled() + own.uncoded);
        row.push(Cell::number(labelled, |share| text::percent(share, 1)));
        row.extend(frontier.then(|| four(own.below_frontier)));
        row
    };
    Table {
        id: "rules".into(),
        caption: "The rules side by side".into(),
        columns,
        rows: study.labellings.iter().map(row).collect(),
        note: if frontier { BELOW.into() } else { String::new() },
        sortable: true,
    }
}

const BELOW: &str = "Below the frontier: how much greater the expected accuracy is of the best labels whose counts are as near to \
                     the posterior. Rules that aim elsewhere, at the truth or at the counts of each group, give it for that.";

/// People of each class, by rule.
fn counts(study: &Study) -> Table {
    let people = |number: u64| Cell::number(Some(number as f64), |_| text::count(number));
    let mut rows = Vec::new();
    if let Some(truth) = &study.whole.truth {
        let known = study.whole.with_truth();
        let name = if known == study.whole.people {
            "in truth".into()
        } else {
            format!("in truth, of {}", text::count(known))
        };
        let mut row = vec![Cell::text(name)];
        row.extend(truth.iter().map(|&number| people(number)));
        row.push(Cell::text("–"));
        rows.push(row);
    }
    let mut row = vec![Cell::text("by the scores")];
    let sums = study.whole.posterior.iter().map(|share| share * study.whole.people as f64);
    row.extend(sums.map(|sum| Cell::number(Some(sum), |sum| text::count(sum.round() as u64))));
    row.push(Cell::text("–"));
    rows.push(row);
    rows.extend(study.labellings.iter().map(|own| {
        let mut row = vec![Cell::text(&own.name)];
        row.extend(own.counts.iter().map(|&number| people(number)));
        row.push(people(own.uncoded));
        row
    }));
    let columns = std::iter::once("People".to_owned()).chain(study.classes.iter().cloned()).chain(["Uncoded".into()]);
    Table {
        id: "counts-table".into(),
        caption: "People of each class".into(),
        columns: columns.collect(),
        rows,
        note: String::new(),
        sortable: false,
    }
}

/// Truth against label, of the subject and of what it is set against.
fn confusion(study: &Study) -> Vec<Table> {
    let shown = [Some(study.subject()), study.remedy()].into_iter().flatten();
    shown.enumerate().filter_map(|(place, own)| one_confusion(study, own, place)).collect()
}

fn one_confusion(study: &Study, own: &Labelling, place: usize) -> Option<Table> {
    let confusion = own.confusion.as_ref()?;
    let with_uncoded = own.uncoded > 0;
    let mut columns = vec!["In truth".to_owned()];
    columns.extend(study.classes.iter().map(|class| format!("labelled {class}")));
    columns.extend(with_uncoded.then(|| "Uncoded".into()));
    let row = |(class, people): (usize, &Vec<u64>)| {
        let flag = if people.iter().sum::<u64>() < FEW { " °" } else { "" };
        let mut row = vec![Cell::text(format!("{}{flag}", study.classes[class]))];
        let shown = &people[..study.k() + usize::from(with_uncoded)];
        row.extend(shown.iter().map(|&number| Cell::number(Some(number as f64), |_| text::count(number))));
        row
    };
    let rows: Vec<Vec<Cell>> = confusion.iter().enumerate().map(row).collect();
    Some(Table {
        id: format!("confusion-{place}"),
        caption: format!("Truth against label, by {}", own.name),
        note: few(&rows),
        columns,
        rows,
        sortable: false,
    })
}

fn few(rows: &[Vec<Cell>]) -> String {
    let any = rows.iter().any(|row| row[0].text.ends_with(" °"));
    if any { format!("° fewer than {FEW} people: mostly chance.") } else { String::new() }
}

/// What a rate is of: so many people in a confusion, for a class.
type Whole = fn(&[Vec<u64>], usize) -> u64;

/// Precision and recall of each class by each rule.
fn rates(study: &Study) -> Vec<Table> {
    let labelled: Whole = |confusion, class| confusion.iter().map(|row| row[class]).sum();
    let members: Whole = |confusion, class| confusion[class].iter().sum();
    let table = |id: &str, caption: &str, whole: Whole| {
        let row = |own: &Labelling| {
            let confusion = own.confusion.as_ref()?;
            let rate = |class: usize| part(confusion[class][class], whole(confusion, class));
            let rates = (0..study.k()).map(|class| Cell::number(rate(class), |rate| text::plain(rate, 3)));
            Some(std::iter::once(Cell::text(&own.name)).chain(rates).collect())
        };
        Table {
            id: id.into(),
            caption: caption.into(),
            columns: std::iter::once("Rule".to_owned()).chain(study.classes.iter().cloned()).collect(),
            rows: study.labellings.iter().filter_map(row).collect(),
            note: String::new(),
            sortable: true,
        }
    };
    if !study.has_truth() {
        return Vec::new();
    }
    vec![
        table("precision", "Precision: of those labelled so, how many are", labelled),
        table("recall", "Recall: of those who are, how many are labelled so", members),
    ]
}

/// Of each class, who has a label, where not everybody has.
fn coverage(study: &Study) -> Option<Table> {
    let some: Vec<&Labelling> = study.labellings.iter().filter(|own| own.uncoded > 0).collect();
    let mut rows = Vec::new();
    for own in &some {
        if let Some(coverage) = &own.coverage {
            let mut row = vec![Cell::text(format!("{}, by the scores", own.name))];
            row.extend(coverage.iter().map(|share| Cell::number(*share, |share| text::percent(share, 1))));
            rows.push(row);
        }
        if let Some(confusion) = &own.confusion {
            let mut row = vec![Cell::text(format!("{}, in truth", own.name))];
            row.extend(confusion.iter().map(|people| {
                let (all, without) = (people.iter().sum::<u64>(), people[study.k()]);
                Cell::number(part(all - without, all), |share| text::percent(share, 1))
            }));
            rows.push(row);
        }
    }
    (!rows.is_empty()).then(|| Table {
        id: "coverage".into(),
        caption: "Who has a label at all, of each class".into(),
        columns: std::iter::once("Rule".to_owned()).chain(study.classes.iter().cloned()).collect(),
        note: String::new(),
        rows,
        sortable: false,
    })
}

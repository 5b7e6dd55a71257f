//! Tables: the rules side by side (the paper's tab:table-extended), counts, biases, confusion, rates, and unlabeled
//! people.

use apportion::audit::Bias;

use super::Section;
use super::groups::FEW;
use crate::document::{Block, Cell, Table};
use crate::study::{LabelSet, Study, part};
use crate::text;

pub(super) fn section(study: &Study) -> Section {
    let mut tables = vec![rules(study), counts(study)];
    tables.extend(biases(study));
    tables.extend(super::audit::tables(study));
    tables.extend(confusion(study));
    tables.extend(rates(study));
    tables.extend(coverage(study));
    Section { id: "tables", title: "Tables", lead: lead(study), blocks: tables.into_iter().map(Block::Table).collect() }
}

fn lead(study: &Study) -> String {
    // The best value, and all label sets that attain it.
    let most = |of: fn(&LabelSet) -> Option<f64>| {
        let all = || study.label_sets.iter().filter(|own| own.uncoded == 0).filter_map(|own| Some((own, of(own)?)));
        let best = all().map(|(_, own)| own).max_by(f64::total_cmp)?;
        let names: Vec<&LabelSet> = all().filter(|(_, own)| best - own < 1e-12).map(|(own, _)| own).collect();
        Some((names, best))
    };
    let name = |all: &[&LabelSet]| text::list(&all.iter().map(|own| &own.name).collect::<Vec<_>>());
    let verb = |all: &[&LabelSet], one, many| if let [own] = all { own.does(one, many) } else { many };
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

/// Compares the rules side by side.
fn rules(study: &Study) -> Table {
    let (truth, groups) = (study.has_truth(), study.groups.is_some());
    let mut columns = vec!["Rule".to_owned()];
    if truth {
        columns.extend(["Accuracy", "95% interval"].map(String::from));
    }
    columns.extend(["Expected accuracy", "Fidelity to posterior"].map(String::from));
    columns.extend(groups.then(|| "Fidelity within groups".into()));
    columns.extend(truth.then(|| "Fidelity to truth".into()));
    columns.push("Labeled".into());
    let frontier = study.label_sets.iter().any(|own| own.frontier_gap.is_some());
    columns.extend(frontier.then(|| "Frontier gap".into()));
    let row = |own: &LabelSet| {
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
        let labeled = part(own.labeled(), own.labeled() + own.uncoded);
        row.push(Cell::number(labeled, |share| text::percent(share, 1)));
        row.extend(frontier.then(|| four(own.frontier_gap)));
        row
    };
    Table {
        id: "rules".into(),
        caption: "The rules side by side".into(),
        columns,
        rows: study.label_sets.iter().map(row).collect(),
        note: if frontier { FRONTIER_GAP.into() } else { String::new() },
        sortable: true,
    }
}

const FRONTIER_GAP: &str = "Frontier gap: other labels with counts equally close to the posterior would be more accurate by this much \
                            in expectation. Rules with another reference (the truth, or the counts of each group) have a gap \
                            because they aim at that reference.";

/// Returns the number of people of each class, by rule.
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
        rows.push((name, truth.iter().map(|&number| people(number)).chain([Cell::text("–")]).collect()));
    }
    let sums = (0..study.k()).map(|class| Cell::number(Some(study.whole.posterior_sum(class)), text::sum));
    rows.push(("by the scores".into(), sums.chain([Cell::text("–")]).collect()));
    rows.extend(study.label_sets.iter().map(|own| {
        (own.name.clone(), own.counts.iter().chain([&own.uncoded]).map(|&number| people(number)).collect())
    }));
    let columns = study.classes.iter().cloned().chain(["Uncoded".into()]).collect();
    Table::crossed("counts-table", "People of each class", ["People", "People"], columns, rows)
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
        let caption = format!("Share of each class less that of {reference}, in points (and in percent of it)");
        Table::crossed(id, &caption, ["Rule", "Class"], study.classes.clone(), rows.collect())
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

fn one_confusion(study: &Study, own: &LabelSet, index: usize) -> Option<Table> {
    /// With more classes than this, columns are numbered instead of named.
    const MOST_NAMES: usize = 9;
    let confusion = own.confusion.as_ref()?;
    let (with_uncoded, numbered) = (own.uncoded > 0, study.k() > MOST_NAMES);
    let mut columns = vec!["In truth".to_owned()];
    columns.extend(
        study
            .classes
            .iter()
            .enumerate()
            .map(|(class, name)| if numbered { (class + 1).to_string() } else { format!("labeled {name}") }),
    );
    columns.extend(with_uncoded.then(|| "Uncoded".into()));
    let row = |(class, people): (usize, &Vec<u64>)| {
        let number = if numbered { format!("{}. ", class + 1) } else { String::new() };
        let flag = if people.iter().sum::<u64>() < FEW { FLAG } else { "" };
        let mut row = vec![Cell::text(format!("{number}{}{flag}", study.classes[class]))];
        let shown = &people[..study.k() + usize::from(with_uncoded)];
        row.extend(shown.iter().map(|&number| Cell::number(Some(number as f64), |_| text::count(number))));
        row
    };
    let rows: Vec<Vec<Cell>> = confusion.iter().enumerate().map(row).collect();
    let by_number = if numbered { "; columns are labels, by their numbers" } else { "" };
    Some(Table {
        id: format!("confusion-{index}"),
        caption: format!("Truth against label, by {}{by_number}", own.name),
        note: few(&rows),
        columns,
        rows,
        sortable: false,
    })
}

/// The mark of figures that are mostly chance.
const FLAG: &str = " °";

fn few(rows: &[Vec<Cell>]) -> String {
    let any = rows.iter().flatten().any(|cell| cell.text.ends_with(FLAG));
    if any { format!("° of fewer than {FEW} people: mostly chance.") } else { String::new() }
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
            let confusion = own.confusion.as_ref()?;
            Some((own.name.clone(), (0..study.k()).map(|class| cell(confusion, class)).collect()))
        };
        let rows = study.label_sets.iter().filter_map(row).collect();
        let table = Table::crossed(id, caption, ["Rule", "Class"], study.classes.clone(), rows);
        Table { note: few(&table.rows), sortable: true, ..table }
    };
    if !study.has_truth() {
        return Vec::new();
    }
    vec![
        table("precision", "Precision: of those labeled so, how many are", labeled),
        table("recall", "Recall: of those who are, how many are labeled so", members),
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
        Table::crossed(
            "coverage",
            "Who has a label at all, of each class",
            ["Rule", "Class"],
            study.classes.clone(),
            rows,
        )
    };
    let note = "What is missing to 100% is without a label: the share of each class that is left out (abstained).";
    (!rows.is_empty()).then(|| Table { note: note.into(), ..table(rows) })
}

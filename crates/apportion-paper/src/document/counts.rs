//! The section on the counts of voters by class, compared with the truth: fig:votercounts and similar figures.

use apportion_bisg::census::CLASSES;
use apportion_report::chart::{chart, full, rounded};
use apportion_report::text::{count, signed};
use apportion_report::{Block, Cell, Chart, Section, Sheet, Table, View, Views, palette};
use serde_json::{Value, json};

use super::{files, table, with_legend};
use crate::Reproduction;
use crate::voters::{Made, VoterFile};

/// The figures, and the voters of each.
const FIGURES: [(&str, Made); 4] = [
    ("votercounts-NC", Made::Overconfident),
    ("votercounts-bisg", Made::Calibrated),
    ("votercounts-raking", Made::CensusPrior),
    ("votercounts-dropuncoded", Made::WithoutUncoded),
];

/// The rules in the charts. The counts of match and Thompson sampling are those of the scores, and rules that match the
/// truth have its counts.
const SHOWN: [&str; 5] = ["threshold 0.8", "argmax", "top-2", "balance γ 0.9", "learned"];

/// The name of the sums of the scores.
const POSTERIOR: &str = "scores";

pub(super) fn section(own: &Reproduction) -> Section {
    let files = files(own, FIGURES);
    let lead = files.first().map(|(_, file)| lead(file)).unwrap_or_default();
    let blocks = files
        .into_iter()
        .flat_map(|(id, file)| [Block::Chart(Box::new(figure(id, file))), Block::Table(numbers(id, file))]);
    Section { id: "votercounts", title: "Counts by class", blocks: blocks.collect(), lead }
}

/// Returns the error of argmax's count of black voters, the paper's example, and the part that is due to the scores.
fn lead(file: &VoterFile) -> String {
    let percent = |counted: f64, class: usize| 100.0 * (counted / file.truth[class] as f64 - 1.0);
    let Some((_, argmax)) = file.counts.iter().find(|(name, _)| *name == "argmax") else { return String::new() };
    let class = 1;
    let (all, scores) = (percent(argmax[class] as f64, class), percent(file.posterior[class], class));
    format!(
        "Argmax’s count of {} voters differs from the truth by {}%, of which {} points are due to the scores and {} to \
         argmax; in the paper by −28.2%, −16.3 and −11.9 ({}).",
        CLASSES[class],
        signed(all, 1),
        signed(scores, 1),
        signed(all - scores, 1),
        file.words()
    )
}

/// Returns a name, and a count of each class, for the sums of the scores and for each rule.
fn counted(file: &VoterFile) -> Vec<(&'static str, Vec<f64>)> {
    let rules = file.counts.iter().map(|(name, counts)| (*name, counts.iter().map(|&own| own as f64).collect()));
    std::iter::once((POSTERIOR, file.posterior.clone())).chain(rules).collect()
}

fn figure(id: &str, file: &VoterFile) -> Chart {
    let all = counted(file);
    let names = SHOWN.into_iter().chain([POSTERIOR]);
    let bars: Vec<(&str, &Vec<f64>)> = names
        .filter_map(|name| all.iter().find(|(own, _)| *own == name))
        .map(|(name, counts)| (*name, counts))
        .collect();
    let off = |counts: &[f64], in_percent: bool| -> Vec<Value> {
        let each = counts.iter().zip(&file.truth);
        each.map(|(own, &truth)| match (in_percent, truth) {
            (true, 0) => Value::Null,
            (true, truth) => rounded(100.0 * (own / truth as f64 - 1.0)),
            (false, truth) => rounded(own - truth as f64),
        })
        .collect()
    };
    let data = bars.iter().enumerate().map(|(index, (name, counts))| {
        let color = if *name == POSTERIOR { palette::GUIDE } else { palette::class(index) };
        json!({
            "type": "bar", "name": name, "x": CLASSES, "y": off(counts, true), "marker": { "color": color },
            "hovertemplate": "%{fullData.name}, %{x}<br>%{y:+,.1f}<extra></extra>",
        })
    });
    let axis = |title: &str| json!({ "title": { "text": title }, "tickformat": ",", "zeroline": true });
    let (percent, people) = ("labels minus truth, % of the class", "labels minus truth, voters");
    let layout = json!({ "height": 420, "barmode": "group", "xaxis": { "type": "category" }, "yaxis": axis(percent) });
    let view = |name: &str, title: &str, in_percent: bool| View {
        name: name.into(),
        update: json!({ "y": bars.iter().map(|(_, counts)| off(counts, in_percent)).collect::<Vec<_>>() }),
        layout: json!({ "yaxis": axis(title) }),
        ..View::default()
    };
    let views = Views {
        label: "Difference".into(),
        choices: vec![view("% of the class", percent, true), view("voters", people, false)],
    };
    let title = format!("Counts compared with the truth: {}", file.words());
    let mut chart = with_legend(chart(id, &title, data.collect(), layout, sheet(file)));
    chart.views = Some(views);
    chart.caption = format!(
        "Corresponds to the paper’s fig:{id}. Gray: the sums of the scores, whose counts match and Thompson sampling have. \
         Voters whom the threshold leaves unlabeled are not counted.",
        id = id.trim_end_matches("-NC")
    );
    chart.alt = lead(file);
    chart
}

fn numbers(id: &str, file: &VoterFile) -> Table {
    let truth = file.truth.iter().map(|&own| Cell::number(Some(own as f64), |_| count(own)));
    let mut rows = vec![std::iter::once(Cell::text("truth")).chain(truth).collect()];
    rows.extend(counted(file).into_iter().map(|(name, counts)| {
        let cell = |(&own, &truth): (&f64, &u64)| {
            let percent = match truth {
                0 => String::new(),
                truth => format!(" ({}%)", signed(100.0 * (own / truth as f64 - 1.0), 1)),
            };
            Cell { text: format!("{}{percent}", count(own.round() as u64)), value: Some(own) }
        };
        std::iter::once(Cell::text(name)).chain(counts.iter().zip(&file.truth).map(cell)).collect()
    }));
    let columns: Vec<&str> = std::iter::once("Counted by").chain(CLASSES).collect();
    let caption = format!("{} {}", count(file.voters), file.words());
    let mut table = table(&format!("{id}-table"), &caption, &columns, rows);
    table.note = "In parentheses: the difference from the truth.".into();
    table
}

/// Returns the counts of all rules, also of those in the section on more rules.
fn sheet(file: &VoterFile) -> Sheet {
    let columns = ["what", "setting", "value", "class", "count", "truth", "difference", "percent"];
    let mut sheet = Sheet::new(columns);
    let mut push = |what: &str, setting: &str, value: Option<f64>, counts: &[f64]| {
        for ((class, own), &truth) in CLASSES.into_iter().zip(counts).zip(&file.truth) {
            let head = [what.to_owned(), setting.to_owned(), full(value), class.to_owned()];
            let percent = (truth > 0).then(|| 100.0 * (own / truth as f64 - 1.0));
            let numbers = [Some(*own), Some(truth as f64), Some(own - truth as f64), percent];
            sheet.push(head.into_iter().chain(numbers.map(full)));
        }
    };
    counted(file).iter().for_each(|(name, counts)| push(name, "", None, counts));
    for variant in &file.variants {
        let counts: Vec<f64> = variant.counts.iter().map(|&own| own as f64).collect();
        push(variant.family.name(), variant.family.setting(), Some(variant.setting), &counts);
    }
    sheet
}

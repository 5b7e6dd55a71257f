//! The section on all rules at one variance: fig:pareto-simulation.

use apportion_report::chart::{chart, full, rounded};
use apportion_report::text::{count, percent, plain};
use apportion_report::{Block, Cell, Chart, Section, Sheet, Table, palette};
use serde_json::json;

use super::information::{both_of, errors};
use super::{table, with_error, with_legend};
use crate::all_rules::{Contest, Contestant, Kind};
use crate::{Mean, Pupil, Reproduction};

pub(super) fn section(own: &Reproduction) -> Section {
    let all_rules = &own.all_rules;
    let full = all_rules.contestants.iter().filter(|rule| rule.coverage.mean == 1.0);
    let best = full.max_by(|a, b| a.expected_accuracy.mean.total_cmp(&b.expected_accuracy.mean));
    let below = |rule: &Contestant| rule.frontier_gap.map_or(0.0, |below| below.mean);
    let worst = all_rules.contestants.iter().max_by(|a, b| below(a).total_cmp(&below(b)));
    let lead = match (best, worst) {
        (Some(best), Some(worst)) => format!(
            "Of the rules that label every row, {} is the most accurate ({}); {} is the furthest below the frontier, by {} points.",
            best.name,
            plain(best.expected_accuracy.mean, 3),
            worst.name,
            plain(100.0 * below(worst), 1)
        ),
        _ => String::new(),
    };
    Section {
        id: "pareto-simulation",
        title: "All rules",
        blocks: vec![
            Block::Chart(Box::new(figure(all_rules, &lead))),
            Block::Table(figures(all_rules)),
            Block::Table(learners(own)),
        ],
        lead,
    }
}

fn figure(all_rules: &Contest, alt: &str) -> Chart {
    let stops = &all_rules.stops;
    let mut data = vec![json!({
        "type": "scatter", "mode": "lines", "name": "exact frontier",
        "x": stops.iter().map(|stop| rounded(stop.fidelity.mean)).collect::<Vec<_>>(),
        "y": stops.iter().map(|stop| rounded(stop.accuracy.mean)).collect::<Vec<_>>(),
        "text": stops.iter().map(|stop| format!("γ {}", stop.gamma)).collect::<Vec<_>>(),
        "line": { "color": palette::ACCENT, "width": 2.5 },
        "hovertemplate": "%{text}<br>fidelity %{x:.4f}<br>expected accuracy %{y:.4f}<extra></extra>",
    })];
    data.push(json!({
        "type": "scatter", "mode": "lines", "name": "learned, at each γ",
        "x": all_rules.learned.iter().map(|rule| rounded(rule.fidelity.mean)).collect::<Vec<_>>(),
        "y": all_rules.learned.iter().map(|rule| rounded(rule.expected_accuracy.mean)).collect::<Vec<_>>(),
        "text": all_rules.stops.iter().map(|stop| format!("learned at γ {}", stop.gamma)).collect::<Vec<_>>(),
        "line": { "color": palette::class(1), "width": 2, "dash": "dash" },
        "hovertemplate": "%{text}<br>fidelity %{x:.4f}<br>expected accuracy %{y:.4f}<extra></extra>",
    }));
    data.extend(all_rules.contestants.iter().enumerate().map(|(index, rule)| {
        let color = if rule.kind == Kind::Independent { palette::GUIDE } else { palette::ACCENT };
        json!({
            "type": "scatter", "mode": "markers", "name": rule.name,
            "x": [rounded(rule.fidelity.mean)], "y": [rounded(rule.expected_accuracy.mean)],
            "error_x": errors(std::iter::once(&rule.fidelity)), "error_y": errors(std::iter::once(&rule.expected_accuracy)),
            "marker": { "symbol": palette::symbol(index), "size": 11, "color": color },
            "hovertemplate": "%{fullData.name}<br>fidelity %{x:.4f}<br>expected accuracy %{y:.4f}<extra></extra>",
        })
    }));
    let layout = json!({
        "height": 480,
        "xaxis": { "title": { "text": "fidelity to the posterior" } },
        "yaxis": { "title": { "text": "expected accuracy" }, "tickformat": ".2f" },
    });
    let title = format!("Every rule at variance {} (MAE {})", all_rules.variance, plain(all_rules.mae.mean, 2));
    let mut chart = with_legend(chart("pareto-simulation", &title, data, layout, sheet(all_rules)));
    chart.caption =
        "The paper’s fig:pareto-simulation. Rules that use one row at a time are gray; of these, only argmax is \
                     on the frontier (Theorem 2). A threshold leaves rows unlabeled and is evaluated on the labeled rows. The \
                     learned rule is trained on all rows of a dataset, because these are fewer than the paper’s batch."
            .into();
    chart.alt = alt.to_owned();
    chart
}

fn sheet(all_rules: &Contest) -> Sheet {
    let mut sheet = Sheet::new(["what", "gamma"].into_iter().chain(COLUMNS));
    let along = all_rules.learned.iter().zip(&all_rules.stops).map(|(rule, stop)| (rule, full(Some(stop.gamma))));
    for (rule, gamma) in all_rules.contestants.iter().map(|rule| (rule, String::new())).chain(along) {
        let Contestant { expected_accuracy, fidelity, accuracy, fidelity_to_truth, coverage, .. } = *rule;
        let numbers =
            [expected_accuracy, fidelity, accuracy, fidelity_to_truth, coverage].into_iter().flat_map(both_of);
        let below = rule.frontier_gap.map_or_else(Default::default, both_of);
        sheet.push([rule.name.to_owned(), gamma].into_iter().chain(numbers).chain(below));
    }
    for stop in &all_rules.stops {
        let numbers = [stop.accuracy, stop.fidelity].into_iter().flat_map(both_of);
        let none = std::iter::repeat_n(String::new(), COLUMNS.len() - 4);
        sheet.push(["frontier".to_owned(), full(Some(stop.gamma))].into_iter().chain(numbers).chain(none));
    }
    sheet
}

const COLUMNS: [&str; 12] = [
    "expected_accuracy",
    "expected_accuracy_error",
    "fidelity_to_posterior",
    "fidelity_to_posterior_error",
    "accuracy",
    "accuracy_error",
    "fidelity_to_truth",
    "fidelity_to_truth_error",
    "coverage",
    "coverage_error",
    "frontier_gap",
    "frontier_gap_error",
];

fn figures(all_rules: &Contest) -> Table {
    let row = |rule: &Contestant| {
        let below = |below: Mean| with_error(Mean { mean: below.mean.max(0.0), ..below }, 4);
        vec![
            Cell::text(rule.name),
            with_error(rule.accuracy, 3),
            with_error(rule.expected_accuracy, 3),
            with_error(rule.fidelity, 3),
            with_error(rule.fidelity_to_truth, 3),
            Cell::number(Some(rule.coverage.mean), |own| plain(own, 3)),
            rule.frontier_gap.map_or_else(|| Cell::number(None, |_| String::new()), below),
        ]
    };
    let columns =
        ["Rule", "Accuracy", "Expected accuracy", "Fidelity to posterior", "To truth", "Coverage", "Frontier gap"];
    let mut table = table("contest", "The rules in numbers", &columns, all_rules.contestants.iter().map(row).collect());
    table.note = "Frontier gap: how much more accurate other labels with equally good counts would be.".into();
    table
}

/// Returns the table of models trained on the labels of match, with their agreement.
fn learners(own: &Reproduction) -> Table {
    let row = |pupil: &Pupil| {
        vec![
            Cell::text(pupil.name),
            Cell::number(Some(pupil.agreement), |own| percent(own, 2)),
            Cell::number(Some(pupil.fidelity), |own| plain(own, 4)),
            Cell::number(Some(pupil.frontier_gap), |own| plain(own, 5)),
        ]
    };
    let columns = ["Learner", "Agreement with match", "Fidelity to posterior", "Frontier gap"];
    let rows = own.pupils.iter().map(row).collect();
    let mut table = table("learners", "The paper’s data-driven thresholds, by learner", &columns, rows);
    if let Some(pupil) = own.pupils.first() {
        table.note = format!(
            "Trained on {} rows labeled by match, and applied once to {} rows of the same variance. The paper reports an \
             agreement of about 99% for each of the three learners, from a batch of about 10,000 rows.",
            count(pupil.batch),
            count(pupil.rows)
        );
    }
    table
}

/// Returns the same table as a sheet of numbers.
pub(super) fn learners_sheet(own: &Reproduction) -> Sheet {
    let mut sheet = Sheet::new(["learner", "batch", "rows", "agreement", "fidelity_to_posterior", "frontier_gap"]);
    for pupil in &own.pupils {
        let numbers = [pupil.agreement, pupil.fidelity, pupil.frontier_gap].map(|own| full(Some(own)));
        sheet.push([pupil.name.to_owned(), pupil.batch.to_string(), pupil.rows.to_string()].into_iter().chain(numbers));
    }
    sheet
}

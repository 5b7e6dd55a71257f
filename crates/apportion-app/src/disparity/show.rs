//! An outcome comparison as text: tables of estimates and differences, and the assumptions of each estimator.

use apportion::audit::Interval;
use apportion::estimate::regression::Model;
use apportion::text::{Message, Setting};
use apportion_report::{AdjustedEstimator, Disparity, ErrorRates, Estimator, Method, REGRESSION_CAVEAT, Regressions};

use super::bracket;
use crate::text;

/// The number of values shown; JSON contains all values.
const SHOWN: usize = 8;

pub(super) fn text(own: &Disparity) -> Message {
    let mut blocks: Vec<Message> = Vec::new();
    for level in 0..own.shown().min(SHOWN) {
        blocks.extend(estimates(own, level));
        if own.ratios.is_some() {
            let ratios = table(own, "ratio of rates", |each, class| {
                let ratio = own.ratio(each, level, class);
                let (number, interval) = (ratio.map(|own| own.ratio), ratio.and_then(|own| own.interval));
                cell(number, interval, |number| format!("{number:.2}"))
            });
            let line = "ratio of rates: the rate divided by the highest of the estimator (or by that of ";
            let last = "). The four-fifths line is 0.8; it is not a threshold of scores.";
            blocks.push(Message::from(ratios) + "\n" + line + Setting::Baseline.with("CLASS") + last);
        }
    }
    for level in 0..own.shown().min(SHOWN) {
        let title = |table: String| if own.shown() > 1 { format!("{}\n{table}", own.what(level)) } else { table };
        blocks.extend(bracket::text(own, level).into_iter().map(title).map(Message::from));
    }
    if own.shown() > SHOWN {
        let more = text::counted((own.shown() - SHOWN) as u64, "more value", "more values");
        blocks.push(Message::from(format!("… and {more}; use ")) + Setting::Json + " to see all values");
    }
    if let Some(regressions) = own.regressions.as_ref().filter(|own| !own.estimators.is_empty()) {
        blocks.push(adjusted(own, regressions).into());
    }
    if let Some(error_rates) = &own.error_rates {
        error_rates.rates.iter().for_each(|rate| blocks.extend(estimates(rate, 0)));
        blocks.push(ErrorRates::NEEDS.into());
    }
    if hides_estimates(own) {
        let hidden = "–: hidden, because the effective sample size is below 5; use ";
        blocks.push(Message::from(hidden) + Setting::SmallCells.with("show") + " to show such estimates");
    }
    blocks.extend(own.sentence().map(Message::from));
    let mut methods: Vec<Method> = own.estimators.iter().map(|own| own.method).collect();
    methods.dedup();
    let needs = methods.into_iter().map(Method::needs);
    let remarks = own.regressions.iter().flat_map(|own| &own.remarks).chain(&own.remarks);
    let needs = needs.chain(bracket::explanations(own).into_iter().map(Message::from));
    blocks.push(joined(needs.chain(remarks.cloned().map(Message::from)), "\n"));
    joined(blocks, "\n\n")
}

/// Returns the tables of regressions with controls, what to know about them, and the method.
fn adjusted(own: &Disparity, regressions: &Regressions) -> String {
    let unit = if own.is_share() { ", points" } else { "" };
    let table = |title: &str, cell: &dyn Fn(&AdjustedEstimator, usize) -> String| {
        let header: Vec<&str> = std::iter::once(title).chain(own.classes.iter().map(String::as_str)).collect();
        let row = |each: &AdjustedEstimator| {
            let cells = (0..own.classes.len()).map(|class| cell(each, class));
            std::iter::once(each.name.clone()).chain(cells).collect()
        };
        text::columns(&header, &regressions.estimators.iter().map(row).collect::<Vec<_>>())
    };
    let mut parts = vec![table(&format!("{}{unit}", regressions.title(&own.classes)), &|each, class| {
        let gap = regressions.gap(each, class);
        let (estimate, interval) = (gap.map(|own| own.estimate), gap.and_then(|own| own.interval));
        cell(estimate, interval, |number| own.show_difference(number))
    })];
    if regressions.model == Model::Logistic {
        parts.push(table(&format!("odds ratio to {}", own.classes[own.against]), &|each, class| {
            let ratio = regressions.odds_ratio(each, class);
            cell(ratio.map(|own| own.0), ratio.and_then(|own| own.1), |number| format!("{number:.2}"))
        }));
    }
    parts.extend([REGRESSION_CAVEAT.to_owned(), regressions.paragraph.clone()]);
    parts.join("\n\n")
}

/// Returns the tables of a level: the estimates and the differences.
fn estimates(own: &Disparity, level: usize) -> [Message; 2] {
    let unit = if own.is_share() { ", %" } else { "" };
    let estimates = table(own, &format!("{}{unit}", own.what(level)), |each, class| {
        let figure = own.figure(each, level, class);
        let (estimate, interval) = (figure.and_then(|own| own.estimate), figure.and_then(|own| own.interval));
        cell(estimate, interval, |number| own.show(number))
    });
    let unit = if own.is_share() { ", points" } else { "" };
    let gaps = table(own, &format!("gap to {}{unit}", own.classes[own.against]), |each, class| {
        let gap = own.gap(each, level, class);
        let (difference, interval) = (gap.and_then(|own| own.difference), gap.and_then(|own| own.interval));
        cell(difference, interval, |number| own.show_difference(number))
    });
    [estimates.into(), gaps.into()]
}

/// Returns whether the tables omit estimates of classes with a small effective sample size.
fn hides_estimates(own: &Disparity) -> bool {
    let hides = |each: &Estimator, level: usize| (0..own.classes.len()).any(|class| own.is_hidden(each, level, class));
    let brackets = |level: usize| (0..own.classes.len()).any(|class| own.is_bracket_hidden(level, class));
    let level = |level: usize| brackets(level) || own.estimators.iter().any(|each| hides(each, level));
    let mut rates = own.error_rates.iter().flat_map(|own| &own.rates);
    (0..own.shown().min(SHOWN)).any(level) || rates.any(hides_estimates)
}

/// Joins messages with a separator.
fn joined(messages: impl IntoIterator<Item = Message>, between: &str) -> Message {
    messages.into_iter().reduce(|all, next| all + between + next).unwrap_or_default()
}

/// Returns a table of estimators by class.
fn table(own: &Disparity, title: &str, cell: impl Fn(&Estimator, usize) -> String) -> String {
    let header: Vec<&str> = std::iter::once(title).chain(own.classes.iter().map(String::as_str)).collect();
    let row = |each: &Estimator| {
        let cells = (0..own.classes.len()).map(|class| cell(each, class));
        std::iter::once(each.name.clone()).chain(cells).collect()
    };
    text::columns(&header, &own.estimators.iter().map(row).collect::<Vec<_>>())
}

/// Returns a number with its confidence interval: `61.2 [60.4, 62.0]`.
fn cell(number: Option<f64>, interval: Option<Interval>, show: impl Fn(f64) -> String) -> String {
    let between = interval.map(|own| format!("[{}, {}]", show(own.low), show(own.high)));
    let parts: Vec<String> = number.map(&show).into_iter().chain(between).collect();
    if parts.is_empty() { "–".into() } else { parts.join(" ") }
}

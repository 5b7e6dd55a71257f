//! Outcomes: an outcome compared between classes by several estimators, with intervals and the assumptions of each.

use apportion::audit::Interval;
use apportion::estimate::regression::Model;
use serde_json::{Value, json};

use super::Section;
use super::brackets;
use super::groups::FEW;
use crate::chart::{Grid, chart, column, full, label, labels, nth, over, rounded};
use crate::disparity::{Disparity, ErrorRates, Estimator, Method};
use crate::document::{Block, Cell, Chart, Sheet, Table, View, Views};
use crate::palette;
use crate::regression::{AdjustedEstimator, CAVEAT, Regressions};
use crate::study::Study;
use crate::text;

/// The maximum number of values with separate tables.
const MOST_VALUES: usize = 8;

/// Returns the section, or `None` without an outcome.
pub(super) fn section(study: &Study) -> Option<Section> {
    let own = study.outcomes.as_ref()?;
    let mut blocks = vec![Block::Chart(Box::new(intervals(own)))];
    for level in 0..own.shown().min(MOST_VALUES) {
        blocks.push(Block::Table(figures(own, level)));
        blocks.extend(
            [Some(gaps(own, level)), ratios(own, level), biases(own, level)]
                .into_iter()
                .flatten()
                .map(|table| Block::Table(table.folded())),
        );
        blocks.extend(brackets::tables(own, level));
    }
    blocks.extend(brackets::sensitivity(own).map(|chart| Block::Chart(Box::new(chart))));
    if own.shown() > MOST_VALUES {
        blocks
            .push(Block::Text(format!("The tables show the first {MOST_VALUES} values; the chart shows all of them.")));
    }
    blocks.extend(own.regressions.iter().flat_map(|regressions| adjusted(own, regressions)));
    if let Some(error_rates) = &own.error_rates {
        for (index, rate) in error_rates.rates.iter().enumerate() {
            blocks.push(Block::Table(Table { id: format!("error-rates-{index}"), ..figures(rate, 0) }));
            let gaps = Table { id: format!("error-rate-gaps-{index}"), ..gaps(rate, 0) };
            blocks.push(Block::Table(gaps.folded()));
        }
        blocks.push(Block::Text(ErrorRates::NEEDS.into()));
    }
    let mut methods: Vec<Method> = own.estimators.iter().map(|own| own.method).collect();
    methods.dedup();
    blocks.extend(methods.into_iter().map(|method| Block::Text(text::begin(&study.render(&method.needs())))));
    blocks.extend(own.remarks.iter().cloned().map(Block::Text));
    let lead =
        own.sentence().unwrap_or_else(|| format!("{} between classes, by every estimator.", text::begin(&own.outcome)));
    Some(Section { id: "outcomes", title: "Outcomes", lead, blocks })
}

/// Returns a chart with one panel per class, and one point with its interval per estimator.
fn intervals(own: &Disparity) -> Chart {
    let data = (0..own.classes.len()).map(|class| trace(own, class, 0)).collect();
    let grid = |columns: usize| {
        let row = 21.0 * own.estimators.len() as f64 + 86.0;
        Grid { panels: own.classes.len(), columns, row, gap: 64.0, between: 0.035, margins: (36.0, 44.0) }
    };
    let title = format!("{} of each class, by every estimator", text::begin(&own.what(0)));
    let wide = grid(own.classes.len().min(3));
    let mut chart = chart("outcomes", &title, data, layout(own, wide), sheet(own));
    chart.narrow = layout(own, grid(1));
    if own.shown() > 1 {
        chart.title = format!("{} of each class, by every estimator", text::begin(&own.outcome));
        let choice = |level: usize| {
            let traces: Vec<Value> = (0..own.classes.len()).map(|class| trace(own, class, level)).collect();
            let each = |name: &str| traces.iter().map(|trace| trace[name].clone()).collect::<Vec<_>>();
            let update = json!({ "x": each("x"), "error_x": each("error_x") });
            View { name: own.levels[level].clone(), update, ..View::default() }
        };
        let choices = (0..own.shown()).map(choice).collect();
        chart.views = Some(Views { label: format!("Share of {}", own.outcome), choices });
    }
    chart.caption = "Lines are 95% intervals. All panels have the same scale.".into();
    if own.estimators.iter().any(|each| each.method == Method::Bounds) {
        chart.caption += " Lines of bounds show the bounds, which may extend beyond the panel; see the table.";
    }
    if own.estimators.iter().any(|each| each.method == Method::Linear) {
        chart.caption += " Linear estimates and their intervals may also be outside the panel.";
    }
    chart.alt = alt(own);
    chart
}

/// Returns the factor for display: 100 for shares, which are shown in percent.
fn scale(own: &Disparity) -> f64 {
    if own.is_share() { 100.0 } else { 1.0 }
}

fn trace(own: &Disparity, class: usize, level: usize) -> Value {
    let figures: Vec<_> = own.estimators.iter().map(|each| own.figure(each, level, class)).collect();
    // Bounds have no point estimate; the line is drawn around their midpoint.
    let middle = |figure: &apportion::estimate::Figure| {
        let interval = figure.interval.map(|interval| (interval.low + interval.high) / 2.0);
        figure.estimate.or(interval)
    };
    let x = column(figures.iter().map(|figure| figure.and_then(middle).map(|number| scale(own) * number)));
    let away = |up: bool| {
        column(figures.iter().map(|figure| {
            let (figure, at) = (figure.as_ref()?, middle(figure.as_ref()?)?);
            let interval = figure.interval?;
            Some(scale(own) * if up { interval.high - at } else { at - interval.low })
        }))
    };
    let symbol = |each: &Estimator| match each.method {
        Method::Truth => "diamond",
        Method::Bounds | Method::BoundsInterval => "line-ns",
        Method::Labels => "square",
        _ => "circle",
    };
    let format = if own.is_share() { "%{x:.1f}%" } else { "%{x:,.4~g}" };
    json!({
        "type": "scatter", "mode": "markers", "name": label(&own.classes[class]),
        "x": x, "y": labels(own.estimators.iter().map(|each| &each.name)),
        "xaxis": nth("x", class), "yaxis": nth("y", class),
        "error_x": {
            "type": "data", "symmetric": false, "array": away(true), "arrayminus": away(false), "thickness": 1.5, "width": 3,
            "color": palette::class(class),
        },
        "marker": {
            "color": palette::class(class), "size": 8,
            "symbol": own.estimators.iter().map(symbol).collect::<Vec<_>>(),
        },
        "hovertemplate": format!("%{{y}}<br>{format}<extra></extra>"),
    })
}

fn layout(own: &Disparity, grid: Grid) -> Value {
    let suffix = if own.is_share() { "%" } else { "" };
    let range = range(own);
    let axes = grid.layout(&labels(&own.classes), |panel| {
        let mut x = json!({
            "domain": grid.x(panel), "anchor": nth("y", panel), "ticksuffix": suffix, "tickangle": 0, "zeroline": false,
            "nticks": if grid.columns == 1 { 4 } else { 5 }, "range": range,
        });
        if panel > 0 {
            x["matches"] = json!("x");
        }
        let y = json!({
            "domain": grid.y(panel), "anchor": nth("x", panel), "autorange": "reversed", "ticks": "",
            "showticklabels": grid.is_first(panel), "showgrid": false, "zeroline": false, "type": "category",
        });
        vec![(nth("xaxis", panel), x), (nth("yaxis", panel), y)]
    });
    over(json!({}), axes)
}

/// Returns the common range of all panels: every interval that is not mostly chance. Bounds and intervals of linear
/// estimates may exceed it, because they are too wide.
fn range(own: &Disparity) -> Value {
    let is_bounds = |method| matches!(method, Method::Bounds | Method::BoundsInterval);
    let shown = own.estimators.iter().filter(|each| !is_bounds(each.method));
    let figures = shown.flat_map(|each| {
        let figures = each.estimates.iter().flat_map(|own| own.classes.iter().flatten());
        figures.map(|figure| (each.method, figure))
    });
    let ends = figures.filter(|(_, figure)| figure.effective_n >= FEW as f64).filter_map(|(method, figure)| {
        let point = || figure.estimate.filter(|_| own.is_share()).map(|share| share.clamp(0.0, 1.0));
        if method == Method::Linear { point().map(|low| Interval { low, high: low }) } else { figure.interval }
    });
    let (low, high) =
        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), own| (low.min(own.low), high.max(own.high)));
    if low > high {
        return Value::Null;
    }
    let room = 0.06 * (high - low).max(1e-3 * high.abs());
    json!([rounded(scale(own) * (low - room)), rounded(scale(own) * (high + room))])
}

fn sheet(own: &Disparity) -> Sheet {
    let mut sheet = Sheet::new([
        "estimator",
        "method",
        "value",
        "class",
        "estimate",
        "error",
        "low",
        "high",
        "effective_n",
        "gap",
        "gap_error",
        "gap_low",
        "gap_high",
    ]);
    for each in &own.estimators {
        for level in 0..own.shown() {
            for class in 0..own.classes.len() {
                let (figure, gap) = (own.figure(each, level, class), own.gap(each, level, class));
                let (interval, gap_interval) = (figure.and_then(|own| own.interval), gap.and_then(|own| own.interval));
                sheet.push([
                    each.name.clone(),
                    each.method.id().to_owned(),
                    own.levels.get(level).cloned().unwrap_or_default(),
                    own.classes[class].clone(),
                    full(figure.and_then(|own| own.estimate)),
                    full(figure.and_then(|own| own.error)),
                    full(interval.map(|own| own.low)),
                    full(interval.map(|own| own.high)),
                    full(figure.map(|own| own.effective_n)),
                    full(gap.and_then(|own| own.difference)),
                    full(gap.and_then(|own| own.error)),
                    full(gap_interval.map(|own| own.low)),
                    full(gap_interval.map(|own| own.high)),
                ]);
            }
        }
    }
    sheet
}

fn alt(own: &Disparity) -> String {
    let say = |each: &Estimator| {
        let of = |class: usize| {
            let figure = own.figure(each, 0, class)?.estimate?;
            let unit = if own.is_share() { "%" } else { "" };
            Some(format!("{} {}{unit}", own.classes[class], own.show(figure)))
        };
        let classes: Vec<String> = (0..own.classes.len()).filter_map(of).collect();
        (!classes.is_empty()).then(|| format!("{}: {}", each.name, text::list(&classes)))
    };
    let shown: Vec<String> = own.estimators.iter().filter_map(say).collect();
    format!("{} by estimator and class. {}.", text::begin(&own.what(0)), shown.join(". "))
}

/// Returns a table of estimators by class.
fn table(own: &Disparity, id: String, caption: String, cell: impl Fn(&Estimator, usize) -> Cell) -> Table {
    let row = |each: &Estimator| {
        let cells = (0..own.classes.len()).map(|class| cell(each, class));
        std::iter::once(Cell::text(&each.name)).chain(cells).collect()
    };
    Table {
        columns: std::iter::once("Estimator".to_owned()).chain(own.classes.iter().cloned()).collect(),
        rows: own.estimators.iter().map(row).collect(),
        ..Table::new(id, caption)
    }
}

/// Formats a number with its interval.
fn with_interval(
    number: Option<f64>,
    interval: Option<apportion::audit::Interval>,
    show: impl Fn(f64) -> String,
    flag: &str,
) -> Cell {
    let between = interval.map(|own| format!("{} to {}", show(own.low), show(own.high)));
    let text = match (number, between) {
        (Some(number), Some(between)) => format!("{} ({between}){flag}", show(number)),
        (Some(number), None) => format!("{}{flag}", show(number)),
        (None, Some(between)) => format!("{between}{flag}"),
        (None, None) => "–".into(),
    };
    // The value makes the cell a number, so that it is aligned like numbers.
    Cell { text, value: number.or(interval.map(|own| own.low)) }
}

fn figures(own: &Disparity, level: usize) -> Table {
    let unit = if own.is_share() { ", %" } else { "" };
    let caption = format!("{}{unit}, with 95% intervals", text::begin(&own.what(level)));
    let few = |figure: &apportion::estimate::Figure| figure.effective_n < FEW as f64;
    let mut table = table(own, format!("outcomes-{level}"), caption, |each, class| {
        let figure = own.figure(each, level, class);
        let flag = if figure.is_some_and(few) { " °" } else { "" };
        let (estimate, interval) = (figure.and_then(|own| own.estimate), figure.and_then(|own| own.interval));
        with_interval(estimate, interval, |number| own.show(number), flag)
    });
    if table.rows.iter().flatten().any(|cell| cell.text.ends_with(" °")) {
        table.note = format!("° As uncertain as a figure of fewer than {FEW} people: mostly chance.");
    }
    table
}

fn gaps(own: &Disparity, level: usize) -> Table {
    let unit = if own.is_share() { ", points" } else { "" };
    let caption = format!("{}: gap to {}{unit}", text::begin(&own.what(level)), own.classes[own.against]);
    table(own, format!("outcome-gaps-{level}"), caption, |each, class| {
        let gap = own.gap(each, level, class);
        let (difference, interval) = (gap.and_then(|own| own.difference), gap.and_then(|own| own.interval));
        with_interval(difference, interval, |number| own.show_difference(number), "")
    })
}

/// Returns the tables of regressions with controls, what to know about them, and the method.
fn adjusted(own: &Disparity, regressions: &Regressions) -> Vec<Block> {
    let table = |id: &str, caption: String, cell: &dyn Fn(&AdjustedEstimator, usize) -> Cell| {
        let row = |each: &AdjustedEstimator| {
            let cells = (0..own.classes.len()).map(|class| cell(each, class));
            std::iter::once(Cell::text(&each.name)).chain(cells).collect()
        };
        Block::Table(Table {
            columns: std::iter::once("Estimator".to_owned()).chain(own.classes.iter().cloned()).collect(),
            rows: regressions.estimators.iter().map(row).collect(),
            ..Table::new(id.to_owned(), caption)
        })
    };
    let (title, unit) = (text::begin(&regressions.title(&own.classes)), if own.is_share() { ", points" } else { "" });
    let mut blocks = Vec::new();
    if !regressions.estimators.is_empty() {
        let caption = format!("{title}{unit}: with controls {}", regressions.describe_controls());
        blocks.push(table("outcome-adjusted", caption, &|each, class| {
            let gap = regressions.gap(each, class);
            let (estimate, interval) = (gap.map(|own| own.estimate), gap.and_then(|own| own.interval));
            with_interval(estimate, interval, |number| own.show_difference(number), "")
        }));
        if regressions.model == Model::Logistic {
            let caption = format!("Odds ratio to {}, with the same controls", own.classes[own.against]);
            blocks.push(table("outcome-odds", caption, &|each, class| {
                let ratio = regressions.odds_ratio(each, class);
                let (number, interval) = (ratio.map(|own| own.0), ratio.and_then(|own| own.1));
                with_interval(number, interval, |number| text::plain(number, 2), "")
            }));
        }
        blocks.push(Block::Text(CAVEAT.to_owned()));
        blocks.push(Block::Text(regressions.paragraph.clone()));
    }
    blocks.extend(regressions.remarks.iter().cloned().map(Block::Text));
    blocks
}

/// Returns a table of adverse-impact ratios, if they were requested.
fn ratios(own: &Disparity, level: usize) -> Option<Table> {
    own.ratios.as_ref()?;
    let caption = format!("{}: rate divided by the highest, or by that of the baseline", text::begin(&own.what(level)));
    let mut table = table(own, format!("outcome-ratios-{level}"), caption, |each, class| {
        let ratio = own.ratio(each, level, class);
        let (number, interval) = (ratio.map(|own| own.ratio), ratio.and_then(|own| own.interval));
        with_interval(number, interval, |number| text::plain(number, 2), "")
    });
    table.note = "Four-fifths line: 0.8. It is a ratio of rates, and not a threshold of scores.".into();
    Some(table)
}

/// Explains the bias of the means of labels, if the truth is known.
fn biases(own: &Disparity, level: usize) -> Option<Table> {
    let labeled: Vec<&Estimator> = own.estimators.iter().filter(|each| !each.biases.is_empty()).collect();
    let rows = labeled.iter().flat_map(|each| {
        let known = each.biases[level].iter().enumerate();
        known.filter_map(|(class, bias)| {
            own.figure(each, level, class)?;
            let bias = bias.as_ref()?;
            let number = |number: f64| Cell::number(Some(number), |number| own.show_difference(number));
            let name = format!("{}, {}", each.name, own.classes[class]);
            Some(vec![
                Cell::text(name),
                number(bias.bias),
                number(bias.from_false_positives),
                number(bias.from_false_negatives),
            ])
        })
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    let unit = if own.is_share() { ", points" } else { "" };
    let columns = ["Labels, class", "Bias", "From false positives", "From false negatives"];
    let caption = format!("{}: why the means of labels are biased{unit}", text::begin(&own.what(level)));
    (!rows.is_empty()).then(|| Table {
        columns: columns.map(String::from).to_vec(),
        rows,
        note: "The two parts add up to the bias, among people with known truth and outcome.".into(),
        sortable: true,
        ..Table::new(format!("outcome-bias-{level}"), caption)
    })
}

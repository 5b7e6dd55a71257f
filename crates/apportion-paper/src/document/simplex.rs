//! The section on labels in the triangle of three classes: fig:simplex-main and fig:simplex-appendix.

use apportion_report::chart::{Grid, chart, full, nth, over, rounded};
use apportion_report::text::count;
use apportion_report::{Block, Chart, Section, Sheet, palette};
use serde_json::{Value, json};

use crate::Reproduction;
use crate::simplex::{APPENDIX_RULES, CORNERS, MAIN_RULES, Simplex};

pub(super) fn section(own: &Reproduction) -> Section {
    let simplex = &own.simplex;
    let share = |rule: &str| {
        let both = simplex.labels_of(rule).iter().zip(simplex.labels_of("argmax"));
        100.0 * both.filter(|(own, argmax)| own == argmax).count() as f64 / simplex.points.len().max(1) as f64
    };
    let lead = format!(
        "Of the voters shown, match gives {:.0}% the same label as argmax, and Thompson sampling {:.0}%.",
        share("match"),
        share("thompson")
    );
    let charts = [
        ("simplex-main", "Labels in the triangle of scores", &MAIN_RULES[..]),
        ("simplex-appendix", "Labels in the triangle of scores: more rules", &APPENDIX_RULES[..]),
    ];
    let blocks =
        charts.into_iter().map(|(id, title, rules)| Block::Chart(Box::new(figure(id, title, rules, simplex, &lead))));
    Section { id: "simplex", title: "Labels by score", blocks: blocks.collect(), lead }
}

/// The height of an equilateral triangle with sides of 1.
const HEIGHT: f64 = 0.866_025_403_784_438_6;

/// Returns where a point is in the triangle: the first corner is at the top, the second on the left.
fn place([top, _, right]: [f64; 3]) -> [f64; 2] {
    [right + top / 2.0, HEIGHT * top]
}

fn figure(id: &str, title: &str, rules: &[&'static str], simplex: &Simplex, alt: &str) -> Chart {
    let data = rules.iter().enumerate().flat_map(|(panel, rule)| traces(panel, rule, simplex)).collect();
    let titles: Vec<String> = rules.iter().map(|&rule| rule.to_owned()).collect();
    let layout = |columns: usize| {
        let grid = Grid { panels: rules.len(), columns, row: 290.0, gap: 30.0, between: 0.04, margins: (30.0, 40.0) };
        let mut layout = grid.layout(&titles, |panel| {
            let axis = json!({ "showgrid": false, "zeroline": false, "showticklabels": false, "ticks": "", "fixedrange": true });
            let (x, y) = (nth("x", panel), nth("y", panel));
            let horizontal = json!({ "domain": grid.x(panel), "anchor": y, "range": [-0.16, 1.16] });
            let vertical = json!({ "domain": grid.y(panel), "anchor": x, "range": [-0.13, 1.0], "scaleanchor": x });
            vec![
                (nth("xaxis", panel), over(axis.clone(), horizontal)),
                (nth("yaxis", panel), over(axis, vertical)),
            ]
        });
        for panel in 0..rules.len() {
            if let Some(own) = layout["annotations"].as_array_mut() {
                own.extend(corners(panel));
            }
        }
        let legend = json!({ "orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0, "itemsizing": "constant" });
        let margin = json!({ "l": 8, "r": 8, "t": grid.margins.0, "b": grid.margins.1 });
        over(layout, json!({ "showlegend": true, "legend": legend, "margin": margin }))
    };
    let mut chart = chart(id, title, data, layout(2), sheet(rules, simplex));
    chart.narrow = layout(1);
    chart.caption = format!(
        "Corresponds to the paper’s fig:{id}. Each point is one of the first {} of {} simulated voters with overconfident \
         scores; its color is its label. A point near a corner has a high score for that class. As in the paper, the scores \
         of all classes except white and black are added up; the rules label the sums.",
        count(simplex.points.len() as u64),
        count(simplex.people as u64)
    );
    chart.alt = alt.to_owned();
    chart
}

/// Returns the names of the corners of a panel.
fn corners(panel: usize) -> Vec<Value> {
    let name = |class: usize| {
        let mut corner = [0.0; 3];
        corner[class] = 1.0;
        let [x, y] = place(corner);
        let up = class == 0;
        json!({
            "text": CORNERS[class], "showarrow": false, "xref": nth("x", panel), "yref": nth("y", panel), "x": x, "y": y,
            "yanchor": if up { "bottom" } else { "top" }, "yshift": if up { 2 } else { -3 }, "font": { "size": 11 },
        })
    };
    (0..CORNERS.len()).map(name).collect()
}

/// Returns the sides of a panel, and its points by label.
fn traces(panel: usize, rule: &str, simplex: &Simplex) -> Vec<Value> {
    let axes = json!({ "xaxis": nth("x", panel), "yaxis": nth("y", panel) });
    let sides = json!({
        "type": "scatter", "mode": "lines", "x": [0, 0.5, 1, 0], "y": [0, rounded(HEIGHT), 0, 0], "hoverinfo": "skip",
        "showlegend": false, "line": { "color": palette::GUIDE, "width": 1 },
    });
    let labels = simplex.labels_of(rule);
    let of_label = |label: Option<usize>| {
        let own = || simplex.points.iter().zip(labels).filter(move |(_, own)| **own == label).map(|(point, _)| *point);
        let name = label.map_or("unlabeled", |class| CORNERS[class]);
        let color = label.map_or(palette::GUIDE, palette::class);
        let coordinate = |side: usize| -> Vec<Value> {
            own().map(|point| json!((1e4 * place(point)[side]).round() / 1e4)).collect()
        };
        json!({
            "type": "scatter", "mode": "markers", "name": name, "legendgroup": name, "x": coordinate(0), "y": coordinate(1),
            "showlegend": if label.is_none() { own().next().is_some() } else { panel == 0 }, "hoverinfo": "skip",
            "marker": { "color": color, "size": 4, "symbol": label.map_or("circle-open", palette::symbol) },
        })
    };
    let all = (0..CORNERS.len()).map(Some).chain([None]).map(of_label);
    std::iter::once(sides).chain(all).map(|trace| over(trace, axes.clone())).collect()
}

fn sheet(rules: &[&str], simplex: &Simplex) -> Sheet {
    let mut sheet = Sheet::new(
        CORNERS.iter().map(|class| format!("score_{class}")).chain(rules.iter().map(|&rule| rule.to_owned())),
    );
    for (index, point) in simplex.points.iter().enumerate() {
        let labels = rules
            .iter()
            .map(|rule| simplex.labels_of(rule)[index].map_or_else(String::new, |class| CORNERS[class].to_owned()));
        sheet.push(point.map(|score| full(Some(score))).into_iter().chain(labels));
    }
    sheet
}

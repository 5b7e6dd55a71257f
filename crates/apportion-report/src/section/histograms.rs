//! Scores: the people by their score for each class, by label, and the cut-off that the labels move. This explains how
//! the method works.

use std::ops::Range;

use serde_json::{Value, json};

use super::{Section, in_parts};
use crate::chart::{Grid, Legend, NARROW, WIDE, chart, column, nth, over, second_line, titles};
use crate::document::{Block, Chart, Sheet};
use crate::palette;
use crate::study::{Changes, SCORE_BINS, ScoreBin, Study};
use crate::text;

/// Returns the section, or `None` if there is only argmax.
pub(super) fn section(study: &Study) -> Option<Section> {
    let changes = study.changes.as_ref()?;
    let charts = in_parts(study.k(), |classes| histograms(study, changes, classes));
    let blocks = charts.into_iter().map(|chart| Block::Chart(Box::new(chart))).collect();
    Some(Section { id: "scores", title: "Cutoffs", lead: lead(study, changes), blocks })
}

/// The number of bars of a histogram.
const BARS: usize = 20;

/// The first bin that is shown. People with smaller scores are not: for most classes they are nearly everyone.
const FIRST: usize = 5;

fn everyone(bin: &ScoreBin) -> u64 {
    bin.neither + labeled(bin)
}

fn labeled(bin: &ScoreBin) -> u64 {
    bin.before + bin.after + bin.both
}

/// Returns the score at an edge of the bins.
fn score(edge: usize) -> f64 {
    edge as f64 / SCORE_BINS as f64
}

/// Returns the edge that separates people with a label from people without it with the fewest exceptions. `None` if no one
/// has the label, or if the exceptions are more than half as many as the labels: then no score separates them.
fn cut_off(bins: &[ScoreBin], has: impl Fn(&ScoreBin) -> u64) -> Option<usize> {
    let with: u64 = bins.iter().map(&has).sum();
    // At the lowest cut-off, the exceptions are all people without the label.
    let mut exceptions: i128 = bins.iter().map(|bin| i128::from(everyone(bin) - has(bin))).sum();
    let mut best = (exceptions, 0);
    for (index, bin) in bins.iter().enumerate() {
        exceptions += i128::from(has(bin)) - i128::from(everyone(bin) - has(bin));
        if exceptions < best.0 {
            best = (exceptions, index + 1);
        }
    }
    (2 * best.0 <= i128::from(with) && with > 0).then_some(best.1)
}

/// Returns the cut-offs of a class before and after. If no score separates the labels after, the class has none.
fn cut_offs(changes: &Changes, class: usize) -> [Option<usize>; 2] {
    let bins = &changes.scores[class];
    let after = |bin: &ScoreBin| bin.after + bin.both;
    let cut_off_after = cut_off(bins, after);
    let has_none = cut_off_after.is_none() && bins.iter().any(|bin| after(bin) > 0);
    [cut_off(bins, |bin| bin.before + bin.both).filter(|_| !has_none), cut_off_after]
}

fn lead(study: &Study, changes: &Changes) -> String {
    let (before, after) = (&study.label_sets[changes.before].name, &study.label_sets[changes.after].name);
    let moved = |class: usize| match cut_offs(changes, class) {
        [Some(before), Some(after)] => Some((class, before, after)),
        _ => None,
    };
    let most = (0..study.k()).filter_map(moved).max_by_key(|(_, before, after)| before.abs_diff(*after));
    match most {
        Some((_, from, to)) if from == to => {
            format!("{} gives each class to people with the same scores as {before}.", text::begin(after))
        }
        Some((class, from, to)) => format!(
            "{} gives the label {} to most people whose score for it is above about {}. With {before}, this cutoff is about {}.",
            text::begin(after),
            study.classes[class],
            text::plain(score(to), 2),
            text::plain(score(from), 2)
        ),
        None => "No score separates the people with a label from the others, for any class.".into(),
    }
}

/// Explains why a class has no cut-off.
fn remark(study: &Study, changes: &Changes, class: usize) -> Option<String> {
    let (bins, name) = (&changes.scores[class], &study.classes[class]);
    let after = &study.label_sets[changes.after].name;
    let has = |bin: &ScoreBin| bin.after + bin.both;
    let largest = match bins.iter().rposition(|bin| everyone(bin) > 0)? + 1 {
        SCORE_BINS => String::new(),
        edge => format!(" No score for {name} exceeds {}.", text::plain(score(edge), 2)),
    };
    if bins.iter().all(|bin| has(bin) == 0) {
        return Some(format!("{} gives the label {name} to no one.{largest}", text::begin(after)));
    }
    if cut_offs(changes, class)[1].is_some() {
        return None;
    }
    let median = text::plain(score(quantile(bins, has, 0.5)), 2);
    Some(format!(
        "No cutoff separates people with the label {name} from others, because their scores are similar: half of the people with \
         the label {name} by {after} have a score below {median}.{largest} The panel of {name} shows only people with the label, at \
         all scores."
    ))
}

/// Returns the lowest edge below which at least a share of some people is.
fn quantile(bins: &[ScoreBin], people: impl Fn(&ScoreBin) -> u64, share: f64) -> usize {
    let all: u64 = bins.iter().map(&people).sum();
    let mut below = 0;
    let is_enough = |bin: &ScoreBin| {
        below += people(bin);
        below as f64 >= share * all as f64
    };
    bins.iter().position(is_enough).map_or(SCORE_BINS, |index| index + 1)
}

/// The part of the scores of a class that its panel shows.
struct Panel {
    /// The bins.
    bins: Range<usize>,
    /// The number of bins in a bar.
    width: usize,
    /// Whether people without the label are shown.
    with_others: bool,
    /// The number of people at the top of the panel.
    top: f64,
    /// Whether bars are higher than the panel.
    is_cut: bool,
    cut_offs: [Option<usize>; 2],
}

impl Panel {
    fn of(changes: &Changes, class: usize) -> Panel {
        let (bins, cut_offs) = (&changes.scores[class], cut_offs(changes, class));
        let no_one = bins.iter().all(|bin| labeled(bin) == 0);
        let with_others = no_one || cut_offs.iter().any(Option::is_some);
        let people = |bin: &ScoreBin| if with_others { everyone(bin) } else { labeled(bin) };
        let first = if with_others { FIRST } else { 0 };
        // The few people with the highest scores are left out if they make the panel much wider.
        let most =
            first + quantile(&bins[first..], people, if with_others { 0.995 } else { 0.98 }).min(SCORE_BINS - first);
        let cut = cut_offs.iter().flatten().copied().max().unwrap_or(0);
        let end = most.max(cut + FIRST).max(first + FIRST).div_ceil(10) * 10;
        let end = if 2 * end > SCORE_BINS { SCORE_BINS } else { end };
        let width = (end - first).div_ceil(BARS);
        let mut panel =
            Panel { bins: first..end.min(SCORE_BINS), width, with_others, top: 0.0, is_cut: false, cut_offs };
        panel.set_top(bins);
        panel
    }

    /// Chooses the top of the panel. If very many people have low scores and not the label, their bars would hide
    /// all others.
    fn set_top(&mut self, bins: &[ScoreBin]) {
        let all = self.bars(bins, if self.with_others { everyone } else { labeled });
        let lowest = self.cut_offs.iter().flatten().min().map_or(0.0, |cut| score(*cut) - 0.1);
        let highest =
            |from: f64| all.iter().filter(|(middle, _)| *middle > from).map(|own| own.1).max().unwrap_or(0) as f64;
        let (near, any) = (highest(lowest), highest(0.0));
        self.is_cut = near > 0.0 && any > 3.0 * near;
        self.top = if self.is_cut { 1.5 * near } else { any.max(1.0) };
    }

    /// Returns the people of each bar, and the middle of its scores.
    fn bars(&self, bins: &[ScoreBin], people: fn(&ScoreBin) -> u64) -> Vec<(f64, u64)> {
        let half = 0.5 * score(self.width);
        let bar = |(index, bins): (usize, &[ScoreBin])| {
            (score(self.bins.start + index * self.width) + half, bins.iter().map(people).sum())
        };
        bins[self.bins.clone()].chunks(self.width).enumerate().map(bar).collect()
    }

    /// Returns the range of the scores, with a small margin.
    fn range(&self) -> [f64; 2] {
        let end = score(self.bins.end);
        [-0.03 * end, 1.03 * end]
    }
}

/// A part of a histogram's bars: its name, its people in a bin, and its look for the color of a class.
struct Part {
    name: String,
    people: fn(&ScoreBin) -> u64,
    marker: fn(&'static str) -> Value,
}

fn parts(study: &Study, changes: &Changes) -> [Part; 4] {
    let (before, after) = (&study.label_sets[changes.before].name, &study.label_sets[changes.after].name);
    [
        Part {
            name: format!("label by {before} and {after}"),
            people: |bin| bin.both,
            marker: |color| json!({ "color": color }),
        },
        Part {
            name: format!("only by {after}"),
            people: |bin| bin.after,
            marker: |color| json!({ "color": palette::faded(color, 0.45), "line": { "color": color, "width": 1.5 } }),
        },
        Part {
            name: format!("only by {before}"),
            people: |bin| bin.before,
            marker: |color| {
                let pattern =
                    json!({ "shape": "x", "fillmode": "overlay", "fgcolor": color, "size": 6, "solidity": 0.3 });
                json!({ "color": palette::faded(color, 0.0), "line": { "color": color, "width": 1.5 }, "pattern": pattern })
            },
        },
        Part {
            name: "another label".into(),
            people: |bin| bin.neither,
            marker: |_| json!({ "color": palette::faded(palette::GUIDE, 0.35) }),
        },
    ]
}

fn histograms(study: &Study, changes: &Changes, classes: Range<usize>) -> Chart {
    let parts = parts(study, changes);
    let names = || parts.iter().map(|part| part.name.as_str()).chain(["cutoff before", "cutoff after"]);
    let legend = Legend::of(names());
    let panels: Vec<Panel> = classes.clone().map(|class| Panel::of(changes, class)).collect();
    let mut data = Vec::new();
    for (index, class) in classes.clone().enumerate() {
        let place = Place { index, class, panel: &panels[index] };
        let bar = |(entry, part): (usize, &Part)| place.bar(changes, part, &legend.name(entry));
        data.extend(parts.iter().enumerate().map(bar));
        data.extend(place.lines(&legend));
    }
    let titles = titles(&study.classes[classes.clone()]);
    let more = second_line(&titles);
    let layout = |columns: usize| {
        let width = if columns == 1 { NARROW } else { WIDE };
        let margins = (34.0 + more, 44.0 + legend.height(width));
        let (row, gap) = (176.0 + more, 66.0 + more);
        let grid = Grid { panels: titles.len(), columns, row, gap, between: 0.07, margins };
        over(layout(&titles, grid, &panels), legend.layout(width))
    };
    let sheet = sheet(study, changes, classes.clone());
    let mut chart = chart("scores", "People by their score for each class", data, layout(titles.len().min(3)), sheet);
    chart.narrow = layout(1);
    chart.caption = format!(
        "Each panel has its own scales and shows the people whose score for the class is at least {}. The lines are cutoffs: the scores \
         that best separate people with the label from the others: dotted before ({}), solid after ({}).",
        score(FIRST),
        study.label_sets[changes.before].name,
        study.label_sets[changes.after].name
    );
    if panels.iter().any(|panel| panel.is_cut) {
        chart.caption += " Bars that reach the top of a panel are cut off.";
    }
    for class in classes {
        chart.caption += &remark(study, changes, class).map_or_else(String::new, |remark| format!(" {remark}"));
    }
    chart.alt = format!("Histograms of the scores of each class. {}", lead(study, changes));
    chart
}

/// A panel of the chart.
struct Place<'a> {
    index: usize,
    class: usize,
    panel: &'a Panel,
}

impl Place<'_> {
    fn bar(&self, changes: &Changes, part: &Part, name: &str) -> Value {
        let mut bars = self.panel.bars(&changes.scores[self.class], part.people);
        if !self.panel.with_others && (part.people)(&ScoreBin { neither: 1, ..ScoreBin::default() }) > 0 {
            bars.clear();
        }
        let words = |people: u64| text::counted(people, "person");
        let mut bar = json!({
            "type": "bar", "name": name, "legendgroup": name, "showlegend": self.index == 0,
            "x": column(bars.iter().map(|(middle, _)| Some(*middle))),
            // Bars without people have no outline.
            "y": bars.iter().map(|(_, people)| Some(*people).filter(|people| *people > 0)).collect::<Vec<_>>(), "width": 0.9 * score(self.panel.width),
            "customdata": bars.iter().map(|(_, people)| words(*people)).collect::<Vec<_>>(),
            "marker": (part.marker)(palette::class(self.class)),
            "hovertemplate": format!("score about %{{x:.3f}}<br>{name}: %{{customdata}}<extra></extra>"),
        });
        self.put(&mut bar);
        bar
    }

    /// Returns the cut-offs as vertical lines.
    fn lines(&self, legend: &Legend) -> Vec<Value> {
        let line = |(index, cut): (usize, Option<usize>)| {
            let at = cut.map(score);
            let mut line = json!({
                "type": "scatter", "mode": "lines", "name": legend.name(4 + index), "legendgroup": 4 + index,
                "showlegend": self.index == 0, "x": [at, at], "y": [0.0, self.panel.top],
                "line": { "color": palette::ACCENT, "width": 2, "dash": if index == 0 { "dot" } else { "solid" } },
                "hovertemplate": "%{fullData.name} %{x:.2f}<extra></extra>",
            });
            self.put(&mut line);
            line
        };
        self.panel.cut_offs.into_iter().enumerate().map(line).collect()
    }

    /// Puts a trace in the panel.
    fn put(&self, trace: &mut Value) {
        trace["xaxis"] = nth("x", self.index).into();
        trace["yaxis"] = nth("y", self.index).into();
    }
}

fn layout(titles: &[String], grid: Grid, panels: &[Panel]) -> Value {
    let axes = grid.layout(titles, |panel| {
        let x = json!({
            "domain": grid.x(panel), "anchor": nth("y", panel), "range": panels[panel].range(), "zeroline": false, "nticks": 6,
            "title": { "text": "score" }, "fixedrange": true,
        });
        let y = json!({
            "domain": grid.y(panel), "anchor": nth("x", panel), "zeroline": false, "nticks": 4, "tickformat": "~s",
            "range": [0.0, 1.05 * panels[panel].top], "fixedrange": true,
        });
        vec![(nth("xaxis", panel), x), (nth("yaxis", panel), y)]
    });
    let margin = json!({ "l": 60, "r": 16, "t": grid.margins.0, "b": grid.margins.1 });
    over(axes, json!({ "barmode": "stack", "margin": margin }))
}

fn sheet(study: &Study, changes: &Changes, classes: Range<usize>) -> Sheet {
    let mut sheet =
        Sheet::new(["class", "from", "to", "label_before_and_after", "label_after", "label_before", "another_label"]);
    for class in classes {
        for (index, bin) in changes.scores[class].iter().enumerate() {
            let edge = |index: usize| score(index).to_string();
            let counts = [bin.both, bin.after, bin.before, bin.neither].map(|people| people.to_string());
            let head = [study.classes[class].clone(), edge(index), edge(index + 1)];
            sheet.push(head.into_iter().chain(counts));
        }
    }
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_off_has_the_fewest_exceptions() {
        let bin = |neither, both| ScoreBin { neither, both, ..ScoreBin::default() };
        let mut bins = vec![bin(10, 0); SCORE_BINS];
        bins[60..].fill(bin(0, 10));
        assert_eq!(cut_off(&bins, |bin| bin.both), Some(60));
        bins[55] = bin(4, 6);
        assert_eq!(cut_off(&bins, |bin| bin.both), Some(60), "six exceptions below, forty-four above");
        assert_eq!(cut_off(&bins, |bin| bin.before), None);
    }
}

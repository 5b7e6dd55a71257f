//! The page and the files of numbers: one section per figure of the paper, and its tables.

mod all_rules;
mod calibration;
mod counts;
mod information;
mod maps;
mod order;
mod simplex;
mod states;
mod tables;
mod trade;
mod variants;
mod worst_case;

use apportion_report::chart::over;
use apportion_report::text::{count, percent, plain, signed};
use apportion_report::{Block, Card, Cell, Chart, Document, Section, Shapes, Sheet, Table};
use serde_json::json;

use crate::Reproduction;
use crate::mean::Mean;
use crate::voters::{Made, VoterFile};

impl Reproduction {
    /// Builds the page. `command` is shown so that readers can reproduce it.
    pub fn document(&self, command: &str) -> Document {
        let shapes = maps::shapes();
        let mut sections = vec![
            glance(self),
            information::bias(self),
            information::frontiers(self),
            all_rules::section(self),
            worst_case::section(self),
            tables::section(self),
            counts::section(self),
            calibration::section(self),
            trade::section(self),
            variants::section(self),
            simplex::section(self),
        ];
        sections.extend(shapes.as_ref().map(|shapes| maps::section(self, shapes)));
        sections.extend([states::section(self), provenance(self, command)]);
        let public = self.public.as_ref().map(|public| format!(", {} voters of a public file", count(public.voters)));
        Document {
            title: "The paper, reproduced".into(),
            subtitle: format!(
                "{} datasets of {} people, {} simulated voters{}, seed {}",
                count(self.plan.datasets),
                count(self.plan.rows),
                count(self.plan.voters),
                public.unwrap_or_default(),
                self.plan.seed
            ),
            sections,
            terms: Vec::new(),
            minor_rules: Vec::new(),
            outlines: shapes.as_ref().map(Shapes::outlines),
        }
    }

    /// Returns files by name: the page, the numbers and the specification of every chart, and the numbers of the
    /// tables.
    pub fn files(&self, command: &str) -> Vec<(String, Vec<u8>)> {
        let document = self.document(command);
        let mut files = vec![("report.html".to_owned(), document.to_html().into_bytes())];
        files.extend(document.figures());
        files.push(("learners.csv".to_owned(), csv(&all_rules::learners_sheet(self))));
        files.push(("order.csv".to_owned(), csv(&order::sheet(self))));
        files.push(("tables.csv".to_owned(), csv(&tables::sheet(self))));
        files
    }
}

/// Writes a sheet as CSV. Its cells contain no commas or quotes, so they need no quoting.
fn csv(sheet: &Sheet) -> Vec<u8> {
    let lines = std::iter::once(&sheet.columns).chain(&sheet.rows).map(|row| row.join(",") + "\n");
    lines.collect::<String>().into_bytes()
}

/// Returns the voters of each figure.
fn files<'a, const N: usize>(
    own: &'a Reproduction,
    figures: [(&'static str, Made); N],
) -> Vec<(&'static str, &'a VoterFile)> {
    let file = |(id, made)| Some((id, own.voters.iter().find(|file| file.made == made)?));
    figures.into_iter().filter_map(file).collect()
}

/// Returns whose labels are compared with the paper's.
fn whose(own: &Reproduction) -> &'static str {
    if own.public.is_some() { "on simulated voters and the public file" } else { "on simulated voters" }
}

/// Formats a mean with its standard error.
fn with_error(mean: Mean, decimals: usize) -> Cell {
    Cell::number(Some(mean.mean), |own| {
        format!("{} ± {}", plain(own, decimals), plain(mean.standard_error, decimals + 1))
    })
}

/// Puts a legend below a chart, with space for its names: side by side, or in one column on narrow screens.
fn with_legend(mut chart: Chart) -> Chart {
    let names = chart.data.as_array().map_or(0, Vec::len);
    let legend = json!({ "orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0 });
    let margin = |below: usize| json!({ "l": 60, "r": 16, "t": 16, "b": below });
    let height = chart.layout["height"].as_f64().unwrap_or(400.0);
    let (wide, narrow) = (100, 60 + 19 * names);
    let more = json!({ "showlegend": true, "legend": legend, "margin": margin(wide) });
    chart.layout = over(chart.layout, more);
    chart.narrow = json!({ "margin": margin(narrow), "height": height + narrow as f64 - wide as f64 });
    chart
}

/// Formats a variance.
fn variance(variance: f64) -> String {
    if variance < 1e-3 { format!("{variance:e}") } else { variance.to_string() }
}

/// Creates a table that cannot be sorted.
fn table(id: &str, caption: &str, columns: &[&str], rows: Vec<Vec<Cell>>) -> Table {
    let columns = columns.iter().map(|&name| name.to_owned()).collect();
    Table { columns, rows, ..Table::new(id, caption) }
}

fn glance(own: &Reproduction) -> Section {
    let all_rules = &own.all_rules;
    let thompson = all_rules.contestants.iter().find(|rule| rule.name == "thompson").and_then(|rule| rule.frontier_gap);
    let equal = own.worst_case.iter().filter(|case| case.is_equal()).count();
    let mut cards = vec![
        Card {
            name: "Worst case".into(),
            figure: format!("{equal} of {}", own.worst_case.len()),
            note:
                "cases in which argmax’s bias equals the error of the scores, within three standard errors (Theorem 1)"
                    .into(),
        },
        Card {
            name: format!("Error at variance {}", all_rules.variance),
            figure: plain(all_rules.mae.mean, 3),
            note: format!(
                "mean absolute error. The paper prints 0.42 and writes σ for the variance: its published code weights \
                 sampled points by their density, which counts it twice, and gives {} here",
                plain(all_rules.mae_by_density.mean, 3)
            ),
        },
    ];
    if let (Some(below), Some(first)) = (thompson, own.information.first()) {
        cards.push(Card {
            name: "Thompson sampling".into(),
            figure: percent(below.mean, 1),
            note: "below labels with equally good counts (Theorem 2)".into(),
        });
        cards.push(Card {
            name: "No information".into(),
            figure: signed(first.bias[0].mean, 3),
            note: format!("argmax’s bias for the largest class at variance {}", variance(first.variance)),
        });
    }
    Section {
        id: "glance",
        title: "Summary",
        lead: "Argmax is biased even if the scores are the best possible, and more so with less information; labels that are \
               chosen jointly are not biased, at little cost in accuracy; and the bound of Theorem 1 is reached."
            .into(),
        blocks: vec![Block::Cards(cards), Block::Text(HOW.into())],
    }
}

const HOW: &str = "All means are over datasets, each drawn from its own seed; ± is one standard error. Frontiers are exact: \
                   the optimal labels for every γ are computed at once. They are shown at the γ of the paper, from 1 \
                   (argmax) over 0.99 to 0.80, and at 0 (match).";

fn provenance(own: &Reproduction, command: &str) -> Section {
    let mut facts = vec![
        ("Program", format!("apportion {}", env!("CARGO_PKG_VERSION"))),
        ("Datasets", format!("{} of {} rows", count(own.plan.datasets), count(own.plan.rows))),
        ("Simulated voters", count(own.plan.voters)),
        ("Seed", own.plan.seed.to_string()),
        (
            "Paper",
            "Dong, Schein, Wang, Garg: Addressing Discretization-Induced Bias in Demographic Prediction (FAccT 2024)"
                .into(),
        ),
    ];
    if let Some(public) = &own.public {
        let fact = format!("{}: {} voters in {} cells", public.name, count(public.voters), count(public.cells));
        facts.insert(3, ("Public file", fact));
    }
    let public = if own.public.is_some() { ", are voters of the public file," } else { "" };
    let rows = facts.into_iter().map(|(name, fact)| vec![Cell::text(name), Cell::text(fact)]).collect();
    Section {
        id: "provenance",
        title: "Provenance",
        lead: format!(
            "All people on this page are simulated from the seed{public} or counted in the built-in Census tables; the \
             command below reproduces all numbers."
        ),
        blocks: vec![
            Block::Code(command.to_owned()),
            Block::Table(table("facts", "What was done", &["What", "How"], rows)),
        ],
    }
}

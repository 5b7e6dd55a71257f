//! Reports about labels: one self-contained HTML page, the same content as Markdown, and every chart with its numbers.
//!
//! ```text
//! Study (results, as plain data) ──document──▶ Document (sections of charts and tables) ──▶ page | markdown | figures
//! ```
//! | module | purpose |
//! |---|---|
//! | `study` | the input: label sets, groups, the frontier, changes of labels, provenance |
//! | `disparity` | an outcome compared between classes by several estimators |
//! | `section` | one file per section: its first sentence, made from the numbers, its charts and tables |
//! | `document` | sections, charts, tables: the input of all writers |
//! | `chart`, `palette`, `text` | helpers for charts, colors, numbers in readable form |
//! | `glossary` | the terms, and where they occur in a text |
//! | `geometry` | outlines of groups from GeoJSON, TopoJSON and Shapefiles |
//! | `page`, `markdown`, `figures` | the writers |
//!
//! `chart`, `palette` and `text` are public for crates that build a [`Document`] themselves.
//!
//! A chart is defined once, as a Plotly specification. The page contains Plotly's basic script (`page/plotly`), which draws
//! bars, lines and points; the page's own script draws the maps. The page makes no network requests: its security policy
//! forbids them. It contains no names or IDs of people, only counts.

mod bracket;
pub mod chart;
mod disparity;
mod document;
mod figures;
mod geometry;
mod glossary;
mod markdown;
mod page;
pub mod palette;
mod regression;
mod section;
mod study;
pub mod text;

pub use bracket::{BRACKET, COVARIANCES, ClassBracket, SENSITIVITY};
pub use disparity::{BirdieFit, Disparity, ErrorRates, Estimator, Method, Ratio, Ratios, SurveyWeights};
pub use document::{Block, Card, Cell, Chart, Document, Outlines, Section, Sheet, Slider, Table, Term, View, Views};
pub use figures::is_own_figure;
pub use geometry::{Geometry, GeometryError, Shapes};
pub use regression::{AdjustedEstimator, CAVEAT as REGRESSION_CAVEAT, Regressions, UsedControl};
pub use study::{
    Changes, Groups, LabelKind, LabelSet, LearnedStop, NameSetting, Provenance, SCORE_BINS, ScoreBin, Study, Trade,
    TradeReference,
};

impl Study {
    /// Builds the report.
    pub fn document(&self) -> Document {
        section::document(self)
    }
}

impl Trade {
    /// Builds a report with one chart: the frontier.
    pub fn document(&self, classes: &[String]) -> Document {
        section::trade::alone(classes, self)
    }
}

impl Document {
    /// Writes a self-contained HTML page.
    pub fn to_html(&self) -> String {
        page::html(self)
    }

    /// Writes Markdown, with the numbers of small charts as tables.
    pub fn to_markdown(&self) -> String {
        markdown::write(self)
    }

    /// Returns files by name: each chart's numbers as CSV, and its specification as JSON.
    pub fn figures(&self) -> Vec<(String, Vec<u8>)> {
        figures::files(self)
    }
}

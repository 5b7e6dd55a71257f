//! What labels do, to look at: one self-contained page, the same as Markdown, and every chart with its numbers.
//!
//! ```text
//! Study (results, as plain data) ──document──▶ Document (sections of charts and tables) ──▶ page | markdown | figures
//! ```
//! | module | purpose |
//! |---|---|
//! | `study` | what goes in: label sets, groups, frontiers, a sample of scores, provenance |
//! | `disparity` | an outcome compared between classes by several estimators |
//! | `section` | one file a section: the sentence that leads it, made from the numbers, its charts and tables |
//! | `document` | sections, charts, tables: what all writers write |
//! | `chart`, `palette`, `text` | what charts have in common, colours, numbers as people read them |
//! | `geometry` | outlines of groups from GeoJSON, TopoJSON and Shapefiles |
//! | `page`, `markdown`, `figures` | the writers |
//!
//! `chart`, `palette` and `text` are open to whoever makes a [`Document`] of its own.
//!
//! A chart is defined once, as a Plotly specification. The page holds Plotly's script, as the crate `plotly` carries it, and
//! asks nothing of the network: its security policy forbids it. It holds no name and no identifier of a person: counts, and for
//! the triangle some scores, rounded.

pub mod chart;
mod disparity;
mod document;
mod figures;
mod geometry;
mod markdown;
mod page;
pub mod palette;
mod section;
mod study;
pub mod text;

pub use disparity::{Disparity, Estimator, Method};
pub use document::{Block, Card, Cell, Chart, Document, Section, Sheet, Slider, Table, Views};
pub use figures::is_own_figure;
pub use geometry::{Geometry, GeometryError, Shapes};
pub use study::{
    Groups, LabelKind, LabelSet, LearnedStop, NameSetting, Provenance, Sample, Study, Trade, TradeReference,
};

impl Study {
    /// The report, in sections.
    pub fn document(&self) -> Document {
        section::document(self)
    }
}

impl Trade {
    /// The frontier alone, as a report of one chart.
    pub fn document(&self, classes: &[String]) -> Document {
        section::trade::alone(classes, self)
    }
}

impl Document {
    /// A page that needs nothing but itself.
    pub fn to_html(&self) -> String {
        page::html(self)
    }

    /// Markdown, with the numbers of small charts as tables.
    pub fn to_markdown(&self) -> String {
        markdown::write(self)
    }

    /// Files, by their names: each chart's numbers as CSV, and its specification as JSON.
    pub fn figures(&self) -> Vec<(String, Vec<u8>)> {
        figures::files(self)
    }
}

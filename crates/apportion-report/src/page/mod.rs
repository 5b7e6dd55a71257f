//! The HTML page: a template, a style, a small script and Plotly's script, all in one file.

use askama::Template;
use serde_json::Value;

use crate::chart::template;
use crate::document::{Block, Cell, Chart, Document, Slider, Table};
use crate::glossary;
use crate::section::ADVICE;

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    document: &'a Document,
    advice: &'static str,
    style: &'static str,
    script: &'static str,
    plotly: &'static str,
    looks: String,
    outlines: String,
}

pub(crate) fn html(document: &Document) -> String {
    let page = Page {
        document,
        advice: ADVICE,
        style: include_str!("page.css"),
        script: include_str!("page.js"),
        plotly: include_str!("plotly/plotly-basic.min.js"),
        looks: in_script(&serde_json::json!({ "light": template(false), "dark": template(true) })),
        outlines: in_script(document.outlines.as_ref().map_or(&Value::Null, |outlines| &outlines.paths)),
    };
    page.render().unwrap_or_else(|error| format!("<p>{error}")) // rendering to a string cannot fail
}

/// Writes JSON for a script element: `<` is escaped, so that it cannot end the script.
fn in_script(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

/// A piece of a text: its words, and the identifier of the definition if it is a term.
type Piece<'a> = (&'a str, Option<String>);

impl Document {
    /// Returns a text in pieces, so that terms can be marked.
    fn marked<'a>(&'a self, text: &'a str) -> Vec<Piece<'a>> {
        let pieces = glossary::pieces(text, &self.terms);
        pieces.into_iter().map(|(piece, term)| (piece, term.map(glossary::anchor))).collect()
    }

    /// Returns the terms: the identifier of the definition, the name and the definition.
    fn glossary(&self) -> impl Iterator<Item = (String, &'static str, &'static str)> {
        self.terms.iter().map(|term| (glossary::anchor(term), term.name, term.definition))
    }

    /// Returns whether some rules are shown only on demand.
    fn has_minor_rules(&self) -> bool {
        let is_minor = |table: &Table| !table.minor_rows.is_empty() || !table.minor_columns.is_empty();
        self.sections.iter().flat_map(|section| &section.blocks).any(|block| match block {
            Block::Table(table) => is_minor(table),
            Block::Chart(chart) => chart.with_all_rules.is_some(),
            Block::Slider(slider) => slider.chart.with_all_rules.is_some(),
            Block::Text(_) | Block::Cards(_) | Block::Code(_) | Block::Glossary => false,
        })
    }
}

impl Chart {
    /// Returns the specification for the page's script.
    fn in_page(&self) -> String {
        let views: Vec<&Value> = self.views.iter().flat_map(|views| &views.choices).map(|view| &view.update).collect();
        let all = self.with_all_rules.as_ref().map(|own| own.parts());
        in_script(&serde_json::json!({ "main": self.parts(), "all": all, "views": views }))
    }

    fn parts(&self) -> Value {
        serde_json::json!({ "data": self.data, "layout": self.layout, "narrow": self.narrow })
    }
}

impl Slider {
    /// Returns the data of all stops for the page's script.
    fn in_page(&self) -> String {
        in_script(&self.stops)
    }
}

impl Cell {
    /// Returns the number in full, for sorting and for programs that read the page.
    fn in_full(&self) -> String {
        self.value.map_or_else(String::new, |value| value.to_string())
    }
}

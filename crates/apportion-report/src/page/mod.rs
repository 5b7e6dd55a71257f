//! The HTML page: a template, a style, a small script and Plotly's script, all in one file.

use askama::Template;
use serde_json::Value;

use crate::chart::template;
use crate::document::{Block, Cell, Chart, Document, Slider, Term, View, Views};
use crate::glossary;
use crate::section::ADVICE;
use crate::text;

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

/// A piece of a text.
enum Piece<'a> {
    Words(&'a str),
    /// A term, and the identifier of its definition.
    Term(&'a str, String),
    /// An option of the program, which is not broken across lines.
    Option(&'a str),
}

/// Returns a text in pieces that are options, such as `--by`, and pieces that are not.
fn with_options(text: &str) -> Vec<Piece<'_>> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some(start) = rest.find("--") {
        let is_end = |letter: char| !(letter.is_ascii_alphanumeric() || letter == '-');
        let end = rest[start..].find(is_end).map_or(rest.len(), |length| start + length);
        pieces.extend([Piece::Words(&rest[..start]), Piece::Option(&rest[start..end])]);
        rest = &rest[end..];
    }
    pieces.push(Piece::Words(rest));
    pieces
}

impl Document {
    /// Returns a text in pieces, so that terms and options can be marked.
    fn marked<'a>(&'a self, text: &'a str) -> Vec<Piece<'a>> {
        let piece = |(text, term): (&'a str, Option<&Term>)| match term {
            Some(term) => vec![Piece::Term(text, glossary::anchor(term))],
            None => with_options(text),
        };
        glossary::pieces(text, &self.terms).into_iter().flat_map(piece).collect()
    }

    /// Returns the terms: the identifier of the definition, the name and the definition.
    fn glossary(&self) -> impl Iterator<Item = (String, &'static str, &'static str)> {
        self.terms.iter().map(|term| (glossary::anchor(term), term.name, term.definition))
    }

    /// Returns the name of the button that shows all rules.
    fn rules_button(&self) -> String {
        format!("Show {}", text::counted(self.minor_rules.len() as u64, "more rule"))
    }
}

impl Chart {
    /// Returns the specification for the page's script.
    fn in_page(&self) -> String {
        let view = |view: &View| serde_json::json!({ "update": view.update, "layout": view.layout, "note": view.note });
        let views: Vec<Value> = self.views.iter().flat_map(|views| &views.choices).map(view).collect();
        let all = self.with_all_rules.as_ref().map(|own| own.parts());
        in_script(&serde_json::json!({ "main": self.parts(), "all": all, "views": views }))
    }

    fn parts(&self) -> Value {
        serde_json::json!({ "data": self.data, "layout": self.layout, "narrow": self.narrow })
    }
}

impl Views {
    /// Returns the views under each heading, in order.
    fn by_heading(&self) -> Vec<(Option<&'static str>, Vec<&View>)> {
        let mut headings: Vec<(Option<&'static str>, Vec<&View>)> = Vec::new();
        for view in &self.choices {
            match headings.last_mut().filter(|(heading, _)| *heading == view.heading) {
                Some((_, views)) => views.push(view),
                None => headings.push((view.heading, vec![view])),
            }
        }
        headings
    }

    /// Returns the note of the view that is shown first.
    fn first_note(&self) -> &str {
        self.choices.first().map_or("", |view| &view.note)
    }

    /// Returns the first sentences of the section, one for each view, if they depend on the view.
    fn leads(&self) -> Vec<&str> {
        self.choices.iter().filter_map(|view| view.lead.as_deref()).collect()
    }
}

impl Slider {
    /// Returns the data of all stops for the page's script.
    fn in_page(&self) -> String {
        in_script(&self.stops)
    }
}

impl Cell {
    /// Returns the number in full, for sorting and for programs that read the page, unless the text is the number.
    fn in_full(&self) -> Option<String> {
        let plain = self.text.replace(',', "").replace('−', "-");
        self.value.filter(|value| plain.parse() != Ok(*value)).map(|value| value.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_pieces_of_their_own() {
        let text = "use --by-group or --x=1, -- and é--";
        let pieces = with_options(text);
        let found = |own: &Piece<'_>| match own {
            Piece::Option(option) => Some((*option).to_owned()),
            Piece::Words(_) | Piece::Term(..) => None,
        };
        assert_eq!(pieces.iter().filter_map(found).collect::<Vec<_>>(), ["--by-group", "--x", "--", "--"]);
        let whole = |own: &Piece<'_>| match own {
            Piece::Words(text) | Piece::Option(text) | Piece::Term(text, _) => (*text).to_owned(),
        };
        assert_eq!(pieces.iter().map(whole).collect::<String>(), text);
    }
}

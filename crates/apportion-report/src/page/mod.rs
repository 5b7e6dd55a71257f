//! The HTML page: a template, a style, a small script and Plotly's script, all in one file.

use askama::Template;
use serde_json::Value;

use crate::chart::template;
use crate::document::{Block, Cell, Chart, Document, Slider};
use crate::section::ADVICE;

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    document: &'a Document,
    advice: &'static str,
    style: &'static str,
    script: &'static str,
    plotly: String,
    looks: String,
    shapes: String,
}

pub(crate) fn html(document: &Document) -> String {
    let page = Page {
        document,
        advice: ADVICE,
        style: include_str!("page.css"),
        script: include_str!("page.js"),
        plotly: plotly(),
        looks: in_script(&serde_json::json!({ "light": template(false), "dark": template(true) })),
        shapes: in_script(document.shapes.as_ref().unwrap_or(&Value::Null)),
    };
    page.render().unwrap_or_else(|error| format!("<p>{error}")) // rendering to a string cannot fail
}

/// Returns Plotly's script without the MathJax script that the crate adds.
fn plotly() -> String {
    let both = plotly::Plot::offline_js_sources();
    let end = both.find("</script>").unwrap_or(both.len());
    let start = both[..end].find('>').map_or(0, |index| index + 1);
    both[start..end].to_owned()
}

/// Writes JSON for a script element: `<` is escaped, so that it cannot end the script.
fn in_script(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

impl Chart {
    /// Returns the specification for the page's script.
    fn in_page(&self) -> String {
        let views: Vec<&Value> = self.views.iter().flat_map(|views| &views.choices).map(|(_, update)| update).collect();
        let spec = serde_json::json!({
            "data": self.data, "layout": self.layout, "narrow": self.narrow, "views": views,
        });
        in_script(&spec)
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

//! Helpers that all charts share: escaped names, the template, and panels in rows and columns.

use serde_json::{Map, Value, json};

use crate::document::{Chart, Sheet};
use crate::text;

/// Escapes a name for Plotly, which would otherwise read `<b>` and `&lt;` as markup and `%{x}` as a number.
pub fn label(name: &str) -> String {
    let name: String = name.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    name.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace("%{", "%\u{200b}{")
}

/// Escapes several names.
pub(crate) fn labels<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Vec<String> {
    names.into_iter().map(|name| label(name.as_ref())).collect()
}

/// Returns the titles of panels, each on one or two lines.
pub(crate) fn titles<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Vec<String> {
    /// The maximum line length, in characters, that fits a third of a printed page.
    const MOST: usize = 24;
    names.into_iter().map(|name| labels(text::lines(name.as_ref(), MOST)).join("<br>")).collect()
}

/// Returns the extra height in pixels that titles of two lines need.
pub(crate) fn second_line(titles: &[String]) -> f64 {
    if titles.iter().any(|title| title.contains("<br>")) { 16.0 } else { 0.0 }
}

/// A legend below a chart: the names of its entries and its height.
pub(crate) struct Legend {
    names: Vec<String>,
    /// The font size.
    size: u8,
}

impl Legend {
    /// Creates a legend. If there are many entries, the font is smaller and the names are shortened.
    pub(crate) fn of<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Legend {
        let names: Vec<S> = names.into_iter().collect();
        let (most, size) = if names.len() > 12 { (24, 11) } else { (34, 12) };
        Legend { names: names.iter().map(|name| text::short(name.as_ref(), most)).collect(), size }
    }

    /// Returns the name of an entry, escaped for Plotly.
    pub(crate) fn name(&self, entry: usize) -> String {
        label(&self.names[entry])
    }

    /// Returns the height in pixels below a chart of this width. In several lines, Plotly makes all entries as wide as the
    /// longest.
    pub(crate) fn height(&self, width: f64) -> f64 {
        let columns = (width / self.entry()).floor().max(1.0);
        let lines = if self.total() <= width { 1.0 } else { (self.names.len() as f64 / columns).ceil() };
        16.0 + self.line() * lines
    }

    /// Returns the width in pixels of each entry.
    fn widths(&self) -> impl Iterator<Item = f64> {
        self.names.iter().map(|name| 42.0 + 0.54 * f64::from(self.size) * text::width(name) as f64)
    }

    /// Returns the width of an entry in several lines, in pixels: that of the longest.
    fn entry(&self) -> f64 {
        self.widths().fold(42.0, f64::max)
    }

    /// Returns the width of all entries in one line, in pixels.
    fn total(&self) -> f64 {
        self.widths().sum()
    }

    /// Returns the height of a line in pixels.
    fn line(&self) -> f64 {
        f64::from(self.size) + 7.0
    }

    /// Returns the layout of a chart with this legend. The page's script uses `meta` to take back the space that the
    /// legend does not need in a window of its width.
    pub(crate) fn layout(&self, width: f64) -> Value {
        json!({
            "showlegend": true,
            "legend": {
                "orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0, "itemsizing": "constant",
                "tracegroupgap": 0, "font": { "size": self.size },
            },
            "meta": { "legend": {
                "entry": self.entry(), "entries": self.names.len(), "total": self.total(), "line": self.line(),
                "height": self.height(width),
            } },
        })
    }
}

/// The minimum widths of charts in pixels: in print, and on narrow screens.
pub(crate) const WIDE: f64 = 558.0;
pub(crate) const NARROW: f64 = 250.0;

/// Rounds a number to the digits that are visible in a chart.
pub fn rounded(number: f64) -> Value {
    let digits = 6 - number.abs().max(1e-9).log10().ceil() as i32;
    let scale = 10f64.powi(digits.clamp(0, 9));
    json!((number * scale).round() / scale)
}

/// Returns numbers for a chart. Missing numbers become null.
pub(crate) fn column(numbers: impl IntoIterator<Item = Option<f64>>) -> Vec<Value> {
    numbers.into_iter().map(|number| number.map_or(Value::Null, rounded)).collect()
}

/// Returns the Plotly template of all charts, for a light or a dark background.
pub(crate) fn template(dark: bool) -> Value {
    let (ink, ground, grid, line) =
        if dark { ("#D6DAE0", "#14171B", "#2B323B", "#4A535E") } else { ("#2B3036", "#FFFFFF", "#E6E8EB", "#B4BAC2") };
    let axis = json!({
        "gridcolor": grid, "linecolor": line, "zerolinecolor": line, "zerolinewidth": 1, "tickcolor": line,
        "automargin": true, "title": { "standoff": 8 }, "separatethousands": true,
    });
    json!({ "layout": {
        "font": { "family": FONT, "size": 12, "color": ink },
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
        "xaxis": axis, "yaxis": axis,
        "geo": { "bgcolor": "rgba(0,0,0,0)" },
        "hoverlabel": {
            "font": { "family": FONT, "size": 12, "color": ground }, "bgcolor": ink, "bordercolor": ink, "align": "left",
        },
        "annotationdefaults": { "font": { "color": ink } },
        "separators": ".,",
    } })
}

const FONT: &str = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'Helvetica Neue', Arial, sans-serif";

/// Panels in rows and columns. Heights are in pixels.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// The number of panels.
    pub panels: usize,
    /// The number of panels per row.
    pub columns: usize,
    /// The height of a row, including the title above it and the axis below it.
    pub row: f64,
    /// The part of that height for the axis below a panel and the title of the next panel.
    pub gap: f64,
    /// The fraction of the width between two columns.
    pub between: f64,
    /// The margins above and below all panels.
    pub margins: (f64, f64),
}

impl Grid {
    fn rows(&self) -> usize {
        self.panels.div_ceil(self.columns)
    }

    pub(crate) fn height(&self) -> f64 {
        self.rows() as f64 * self.row - self.gap + self.margins.0 + self.margins.1
    }

    /// Returns whether a panel is the first of its row.
    pub(crate) fn is_first(&self, panel: usize) -> bool {
        panel.is_multiple_of(self.columns)
    }

    /// Returns the horizontal range of a panel, as fractions of the plot.
    pub fn x(&self, panel: usize) -> [f64; 2] {
        let width = (1.0 - self.between * (self.columns - 1) as f64) / self.columns as f64;
        let from = (panel % self.columns) as f64 * (width + self.between);
        [from, (from + width).min(1.0)]
    }

    /// Returns the vertical range of a panel, as fractions of the plot.
    pub fn y(&self, panel: usize) -> [f64; 2] {
        let all = self.rows() as f64 * self.row - self.gap;
        let top = (panel / self.columns) as f64 * self.row;
        [((all - top - self.row + self.gap) / all).max(0.0), (all - top) / all]
    }

    /// Returns the title above a panel, as an annotation.
    pub(crate) fn title(&self, panel: usize, text: &str) -> Value {
        let [left, right] = self.x(panel);
        json!({
            "text": text, "showarrow": false, "xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom",
            "x": (left + right) / 2.0, "y": self.y(panel)[1], "yshift": 6, "font": { "size": 13 },
        })
    }

    /// Returns a layout with titles and, for each panel, the named parts that `parts` returns.
    pub fn layout(&self, titles: &[String], parts: impl Fn(usize) -> Vec<(String, Value)>) -> Value {
        let mut layout = Map::new();
        layout.insert("height".into(), json!(self.height()));
        let titles: Vec<Value> = titles.iter().enumerate().map(|(panel, text)| self.title(panel, text)).collect();
        layout.insert("annotations".into(), titles.into());
        for panel in 0..self.panels {
            layout.extend(parts(panel));
        }
        Value::Object(layout)
    }
}

/// Returns the name of the axis, plane or map at an index: x, x2, x3.
pub fn nth(name: &str, index: usize) -> String {
    if index == 0 { name.to_owned() } else { format!("{name}{}", index + 1) }
}

/// Merges a layout into another one, replacing its entries.
pub fn over(mut base: Value, more: Value) -> Value {
    if let (Value::Object(base), Value::Object(more)) = (&mut base, more) {
        base.extend(more);
    }
    base
}

/// Creates a chart without views, with the common template.
pub fn chart(id: &str, title: &str, data: Vec<Value>, layout: Value, sheet: Sheet) -> Chart {
    let base = json!({
        "template": template(false), "showlegend": false, "margin": { "l": 60, "r": 16, "t": 34, "b": 48 },
        "hovermode": "closest", "dragmode": false,
    });
    Chart {
        id: id.into(),
        title: title.into(),
        caption: String::new(),
        alt: String::new(),
        data: Value::from(data),
        layout: over(base, layout),
        narrow: json!({}),
        views: None,
        with_all_rules: None,
        sheet,
    }
}

impl Sheet {
    /// Creates a sheet without rows.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Sheet {
        Sheet { columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row, which must have one cell per column.
    pub fn push(&mut self, row: impl IntoIterator<Item = String>) {
        self.rows.push(row.into_iter().collect());
    }
}

/// Formats a number in full, or returns an empty string if it is missing.
pub fn full(number: Option<f64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_text() {
        assert_eq!(label("<b>A&B</b>\n%{x}"), "&lt;b&gt;A&amp;B&lt;/b&gt; %\u{200b}{x}");
    }

    #[test]
    fn panels_fill_the_plot_and_do_not_meet() {
        let grid = Grid { panels: 5, columns: 3, row: 200.0, gap: 60.0, between: 0.05, margins: (40.0, 40.0) };
        assert_eq!(grid.height(), 2.0 * 200.0 - 60.0 + 80.0);
        assert_eq!((grid.y(0)[1], grid.y(4)[0], grid.x(2)[1]), (1.0, 0.0, 1.0));
        assert!(grid.y(0)[0] > grid.y(3)[1] && grid.x(0)[1] < grid.x(1)[0]);
        assert!(grid.is_first(3) && !grid.is_first(4));
    }

    #[test]
    fn numbers_keep_what_can_be_seen() {
        assert_eq!(rounded(0.123_456_789), json!(0.123457));
        assert_eq!(rounded(1_234_567.89), json!(1_234_568.0));
        assert_eq!(rounded(0.0), json!(0.0));
    }
}

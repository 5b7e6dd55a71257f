//! What all charts have in common: names that stay text, the look, and panels in rows and columns.

use serde_json::{Map, Value, json};

use crate::document::{Chart, Sheet};
use crate::text;

/// A name as Plotly shows it unchanged: Plotly would take `<b>` and `&lt;` for markup, and `%{x}` for a number.
pub fn label(name: &str) -> String {
    let name: String = name.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    name.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace("%{", "%\u{200b}{")
}

/// The names of several.
pub(crate) fn labels<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Vec<String> {
    names.into_iter().map(|name| label(name.as_ref())).collect()
}

/// Names above panels, each on one line or two.
pub(crate) fn titles<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Vec<String> {
    /// A third of a printed page has room for so many letters.
    const MOST: usize = 24;
    names.into_iter().map(|name| labels(text::lines(name.as_ref(), MOST)).join("<br>")).collect()
}

/// What titles of two lines need above what one line does, in pixels.
pub(crate) fn second_line(titles: &[String]) -> f64 {
    if titles.iter().any(|title| title.contains("<br>")) { 16.0 } else { 0.0 }
}

/// A legend below a chart: how it names its entries, and how much room it takes.
pub(crate) struct Legend {
    names: Vec<String>,
    /// The size of the letters.
    size: u8,
}

impl Legend {
    /// The legend of some entries; of many, small and with shortened names.
    pub(crate) fn of<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Legend {
        let names: Vec<S> = names.into_iter().collect();
        let (most, size) = if names.len() > 12 { (24, 11) } else { (34, 12) };
        Legend { names: names.iter().map(|name| text::short(name.as_ref(), most)).collect(), size }
    }

    /// The name of an entry, as Plotly shows it unchanged.
    pub(crate) fn name(&self, entry: usize) -> String {
        label(&self.names[entry])
    }

    /// Its height in pixels below a chart of some width: Plotly gives all entries the room of the longest.
    pub(crate) fn height(&self, width: f64) -> f64 {
        let (size, longest) = (f64::from(self.size), self.names.iter().map(|name| text::width(name)).max());
        let columns = (width / (42.0 + 0.54 * size * longest.unwrap_or(0) as f64)).floor().max(1.0);
        16.0 + (size + 7.0) * (self.names.len() as f64 / columns).ceil()
    }

    /// As Plotly takes it.
    pub(crate) fn layout(&self) -> Value {
        json!({
            "orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0, "itemsizing": "constant",
            "tracegroupgap": 0, "font": { "size": self.size },
        })
    }
}

/// The width that charts have at least: printed, and where there is little room.
pub(crate) const WIDE: f64 = 558.0;
pub(crate) const NARROW: f64 = 250.0;

/// A number with no more digits than can be seen in a chart.
pub fn rounded(number: f64) -> Value {
    let digits = 6 - number.abs().max(1e-9).log10().ceil() as i32;
    let scale = 10f64.powi(digits.clamp(0, 9));
    json!((number * scale).round() / scale)
}

/// Numbers for a chart; none stays none.
pub(crate) fn column(numbers: impl IntoIterator<Item = Option<f64>>) -> Vec<Value> {
    numbers.into_iter().map(|number| number.map_or(Value::Null, rounded)).collect()
}

/// The look of all charts, on light ground or dark.
pub(crate) fn template(dark: bool) -> Value {
    let (ink, grid, line) = if dark { ("#D6DAE0", "#2B323B", "#4A535E") } else { ("#2B3036", "#E6E8EB", "#B4BAC2") };
    let axis = json!({
        "gridcolor": grid, "linecolor": line, "zerolinecolor": line, "zerolinewidth": 1, "tickcolor": line,
        "automargin": true, "title": { "standoff": 8 }, "separatethousands": true,
    });
    let side = json!({ "gridcolor": grid, "linecolor": line, "tickcolor": line });
    json!({ "layout": {
        "font": { "family": FONT, "size": 12, "color": ink },
        "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
        "xaxis": axis, "yaxis": axis,
        "ternary": { "bgcolor": "rgba(0,0,0,0)", "aaxis": side, "baxis": side, "caxis": side },
        "geo": { "bgcolor": "rgba(0,0,0,0)" },
        "hoverlabel": { "font": { "family": FONT, "size": 12 }, "align": "left" },
        "annotationdefaults": { "font": { "color": ink } },
        "separators": ".,",
    } })
}

const FONT: &str = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'Helvetica Neue', Arial, sans-serif";

/// Panels in rows and columns, in pixels from top to bottom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub(crate) panels: usize,
    pub(crate) columns: usize,
    /// The height of a row, with the title above it and the axis below.
    pub(crate) row: f64,
    /// Of that, room for what is below a panel and for the title of the next.
    pub(crate) gap: f64,
    /// The part of the width between two columns.
    pub(crate) between: f64,
    /// Above and below all panels.
    pub(crate) margins: (f64, f64),
}

impl Grid {
    fn rows(&self) -> usize {
        self.panels.div_ceil(self.columns)
    }

    pub(crate) fn height(&self) -> f64 {
        self.rows() as f64 * self.row - self.gap + self.margins.0 + self.margins.1
    }

    /// Whether a panel is the first of its row.
    pub(crate) fn is_first(&self, panel: usize) -> bool {
        panel.is_multiple_of(self.columns)
    }

    pub(crate) fn x(&self, panel: usize) -> [f64; 2] {
        let width = (1.0 - self.between * (self.columns - 1) as f64) / self.columns as f64;
        let from = (panel % self.columns) as f64 * (width + self.between);
        [from, (from + width).min(1.0)]
    }

    pub(crate) fn y(&self, panel: usize) -> [f64; 2] {
        let all = self.rows() as f64 * self.row - self.gap;
        let top = (panel / self.columns) as f64 * self.row;
        [((all - top - self.row + self.gap) / all).max(0.0), (all - top) / all]
    }

    /// The title above a panel.
    pub(crate) fn title(&self, panel: usize, text: &str) -> Value {
        let [left, right] = self.x(panel);
        json!({
            "text": text, "showarrow": false, "xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom",
            "x": (left + right) / 2.0, "y": self.y(panel)[1], "yshift": 6, "font": { "size": 13 },
        })
    }

    /// A layout with titles, of such parts as `parts` gives for each panel, by their names.
    pub(crate) fn layout(&self, titles: &[String], parts: impl Fn(usize) -> Vec<(String, Value)>) -> Value {
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

/// The name of the n-th axis, plane or map: x, x2, x3.
pub(crate) fn nth(name: &str, index: usize) -> String {
    if index == 0 { name.to_owned() } else { format!("{name}{}", index + 1) }
}

/// One layout over another.
pub fn over(mut base: Value, more: Value) -> Value {
    if let (Value::Object(base), Value::Object(more)) = (&mut base, more) {
        base.extend(more);
    }
    base
}

/// A chart without views, in the common look.
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
        sheet,
    }
}

impl Sheet {
    /// A sheet without rows.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Sheet {
        Sheet { columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// One more row, as long as there are columns.
    pub fn push(&mut self, row: impl IntoIterator<Item = String>) {
        self.rows.push(row.into_iter().collect());
    }
}

/// A number in full, or nothing.
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

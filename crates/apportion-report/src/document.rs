//! A report as sections of text, charts and tables, from which the page, the Markdown and the figures are written.

use serde_json::Value;

use crate::text;

/// The mark by which figure specifications of this crate are recognized.
pub(crate) const MAKER: &str = "apportion";

/// A report.
#[derive(Clone, Debug)]
pub struct Document {
    /// The title.
    pub title: String,
    /// One line below the title.
    pub subtitle: String,
    /// The sections.
    pub sections: Vec<Section>,
    /// The terms that are explained on the page.
    pub terms: Vec<Term>,
    /// The rules that are shown only on demand.
    pub minor_rules: Vec<String>,
    /// The outlines of the maps.
    pub outlines: Option<Outlines>,
}

/// A term and its definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The word or phrase, as it is written in the text.
    pub name: &'static str,
    /// The definition: one or two sentences.
    pub definition: &'static str,
}

/// Outlines that the maps of a report share.
#[derive(Clone, Debug)]
pub struct Outlines {
    /// The GeoJSON that replaces `"geojson": "shapes"` in a specification.
    pub geojson: Value,
    /// The same outlines, projected, for the page: width, height, and an SVG path for each group.
    pub paths: Value,
}

/// A section that begins with one sentence about its main finding.
#[derive(Clone, Debug)]
pub struct Section {
    /// The anchor for links.
    pub id: &'static str,
    /// The heading.
    pub title: &'static str,
    /// The first sentence, made from the numbers.
    pub lead: String,
    /// The content after the first sentence.
    pub blocks: Vec<Block>,
}

/// An element of a section.
#[derive(Clone, Debug)]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// A few large figures.
    Cards(Vec<Card>),
    /// A chart.
    Chart(Box<Chart>),
    /// A table.
    Table(Table),
    /// The slider along a frontier.
    Slider(Box<Slider>),
    /// Text to copy.
    Code(String),
    /// The definitions of the terms.
    Glossary,
}

/// A large figure with its name.
#[derive(Clone, Debug)]
pub struct Card {
    /// The name of the figure.
    pub name: String,
    /// The figure.
    pub figure: String,
    /// A note below it.
    pub note: String,
}

/// A chart, as a Plotly specification.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The name in the page and in the names of figure files.
    pub id: String,
    /// The heading.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// A description of what it shows, made from the numbers.
    pub alt: String,
    /// Plotly's `data`.
    pub data: Value,
    /// Plotly's `layout`.
    pub layout: Value,
    /// Changes to the layout on narrow screens.
    pub narrow: Value,
    /// The same chart with all rules, if it shows only some.
    pub with_all_rules: Option<Box<Chart>>,
    /// The alternative views, if there are any.
    pub views: Option<Views>,
    /// The numbers behind it.
    pub sheet: Sheet,
}

/// The views of a chart that the reader can choose from.
#[derive(Clone, Debug)]
pub struct Views {
    /// The label of the control.
    pub label: String,
    /// The views. The first is the view that the chart's data show.
    pub choices: Vec<View>,
}

/// A view of a chart.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Its name.
    pub name: String,
    /// The heading of the views that it belongs to, if there are several kinds of views.
    pub heading: Option<&'static str>,
    /// The changes to the traces: for each property, one value per trace, or null for traces that stay the same.
    pub update: Value,
    /// The changes to the layout, or null.
    pub layout: Value,
    /// The first sentence of the section for this view, if it depends on the view.
    pub lead: Option<String>,
    /// A note below the chart.
    pub note: String,
    /// Whether the view is offered only if all rules are shown.
    pub is_minor: bool,
}

/// Numbers in columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, with numbers in full precision.
    pub rows: Vec<Vec<String>>,
}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The name in the page.
    pub id: String,
    /// The caption.
    pub caption: String,
    /// The names of the columns; the first column names the rows.
    pub columns: Vec<String>,
    /// The names above the columns, each with its number of columns; without a name, nothing is above them. Empty if there
    /// are none.
    pub spans: Vec<(String, usize)>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
    /// Remarks below it.
    pub note: String,
    /// Whether the table can be sorted and searched.
    pub sortable: bool,
    /// Whether the table is closed until the reader opens it.
    pub folded: bool,
    /// The rows that are shown only with all rules.
    pub minor_rows: Vec<usize>,
    /// The columns that are shown only with all rules.
    pub minor_columns: Vec<usize>,
}

/// A value in a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// The text shown.
    pub text: String,
    /// The value in full precision, if it is a number.
    pub value: Option<f64>,
}

/// The slider along a frontier, next to a chart.
#[derive(Clone, Debug)]
pub struct Slider {
    /// The chart of the frontier. The last trace of its data is the moving point.
    pub chart: Chart,
    /// The classes.
    pub classes: Vec<String>,
    /// The markers of the classes, as CSS styles.
    pub dots: Vec<String>,
    /// The data of the stops: the points, the number of people, and the shares of the reference.
    pub stops: Value,
    /// The number of stops.
    pub count: usize,
    /// The command that labels people as at the stop, with `GAMMA` in place of γ.
    pub command: String,
    /// Whether the truth is known for everyone.
    pub has_truth: bool,
    /// Selected stops as a table, for readers without JavaScript.
    pub table: Table,
}

impl Cell {
    /// Creates a cell with text.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), value: None }
    }

    /// Creates a cell with a number and its format, or a dash if it is missing.
    pub fn number(value: Option<f64>, show: impl Fn(f64) -> String) -> Cell {
        Cell { text: value.map_or_else(|| "–".into(), show), value }
    }

    /// Returns whether the cell holds text, and not a number or a dash for a missing one.
    pub(crate) fn is_text(&self) -> bool {
        self.value.is_none() && self.text != "–"
    }
}

impl Table {
    /// Creates a table of rows with names and values, or the transposed table if there are too many columns for a page.
    /// `corners` are the headings of the row names and of the column names; `minor` are rows that are shown only with
    /// all rules.
    pub(crate) fn crossed(
        id: &str,
        caption: &str,
        corners: [&str; 2],
        columns: Vec<String>,
        rows: Vec<(String, Vec<Cell>)>,
        minor: Vec<usize>,
    ) -> Table {
        const MOST: usize = 10;
        let is_wide = columns.len() > MOST && columns.len() > rows.len();
        let (names, cells): (Vec<String>, Vec<Vec<Cell>>) = rows.into_iter().unzip();
        let (corner, columns, names, cells) = if is_wide {
            let turned =
                (0..columns.len()).map(|column| cells.iter().map(|row| row[column].clone()).collect()).collect();
            (corners[1], names, columns, turned)
        } else {
            (corners[0], columns, names, cells)
        };
        let row = |(name, cells): (String, Vec<Cell>)| std::iter::once(Cell::text(name)).chain(cells).collect();
        let (minor_rows, minor_columns) = if is_wide {
            (Vec::new(), minor.into_iter().map(|index| index + 1).collect())
        } else {
            (minor, Vec::new())
        };
        Table {
            minor_rows,
            minor_columns,
            columns: std::iter::once(corner.to_owned()).chain(columns).collect(),
            rows: names.into_iter().zip(cells).map(row).collect(),
            ..Table::new(id, caption)
        }
    }

    /// Creates a table without columns.
    pub fn new(id: impl Into<String>, caption: impl Into<String>) -> Table {
        Table { id: id.into(), caption: caption.into(), ..Table::default() }
    }

    /// Returns the table, closed until the reader opens it.
    pub(crate) fn folded(self) -> Table {
        Table { folded: true, ..self }
    }

    /// Returns whether a row is shown only with all rules.
    pub(crate) fn is_minor(&self, row: &usize) -> bool {
        self.minor_rows.contains(row)
    }

    /// Returns the `class` attribute of a cell: for text, and for columns that are shown only with all rules.
    pub(crate) fn class_of(&self, column: &usize, is_text: &bool) -> &'static str {
        match (is_text, self.minor_columns.contains(column)) {
            (true, false) => " class=\"t\"",
            (true, true) => " class=\"t more\"",
            (false, false) => "",
            (false, true) => " class=\"more\"",
        }
    }

    /// Returns the names above the columns with their widths, and the CSS class that shows each with some or all rules.
    pub(crate) fn spans_in_page(&self) -> Vec<(&str, usize, &'static str)> {
        let (mut cells, mut start) = (Vec::new(), 0);
        for (name, columns) in &self.spans {
            let main = (start..start + columns).filter(|column| !self.minor_columns.contains(column)).count();
            start += columns;
            if main == *columns {
                cells.push((name.as_str(), main, ""));
                continue;
            }
            cells.extend((main > 0).then_some((name.as_str(), main, "fewer")));
            cells.push((name.as_str(), *columns, "more"));
        }
        cells
    }

    /// Returns the names of the columns with the names above them: "Argmax: labels".
    pub(crate) fn full_names(&self) -> Vec<String> {
        let above = self.spans.iter().flat_map(|(name, columns)| std::iter::repeat_n(name.as_str(), *columns));
        let above = above.chain(std::iter::repeat(""));
        let full = |(name, above): (&String, &str)| match above {
            "" => name.clone(),
            above => format!("{above}: {}", text::uncapitalized(name)),
        };
        self.columns.iter().zip(above).map(full).collect()
    }

    /// Returns whether a word in the name of a column or row is so long that it must be broken in print.
    pub(crate) fn has_long_words(&self) -> bool {
        let is_long = |name: &str, most: usize| name.split_whitespace().any(|word| word.chars().count() > most);
        let names = || self.rows.iter().filter_map(|row| row.first());
        self.columns.iter().any(|name| is_long(name, 13)) || names().any(|name| is_long(&name.text, 20))
    }

    /// Returns the CSS class that shrinks the table in print, so that it fits the page in any font.
    pub(crate) fn print_size(&self) -> &'static str {
        match self.columns.len() {
            0..=7 => "",
            8..=11 => " wide",
            12..=15 => " wider",
            _ => " widest",
        }
    }

    /// Returns the columns, and whether each contains text.
    pub(crate) fn heads(&self) -> impl Iterator<Item = (&String, bool)> {
        let is_text = |column: usize| column == 0 || !has_numbers(&self.rows, column);
        self.columns.iter().enumerate().map(move |(column, name)| (name, is_text(column)))
    }
}

/// Returns whether a column contains only numbers or dashes for missing ones.
pub(crate) fn has_numbers(rows: &[Vec<Cell>], column: usize) -> bool {
    !rows.is_empty() && rows.iter().filter_map(|row| row.get(column)).all(|cell| !cell.is_text())
}

impl Document {
    /// Returns the charts, in order.
    pub fn charts(&self) -> impl Iterator<Item = &Chart> {
        self.sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
            Block::Chart(chart) => Some(&**chart),
            Block::Slider(slider) => Some(&slider.chart),
            _ => None,
        })
    }

    /// Returns a self-contained Plotly specification of a chart, with all rules, marked as made by this crate.
    pub fn specification(&self, chart: &Chart) -> Value {
        let chart = chart.with_all_rules.as_deref().unwrap_or(chart);
        let (mut data, mut layout) = (chart.data.clone(), chart.layout.clone());
        layout["meta"] = MAKER.into();
        for trace in data.as_array_mut().into_iter().flatten() {
            if let (Some(geojson), Some(outlines)) = (trace.get_mut("geojson"), &self.outlines) {
                *geojson = outlines.geojson.clone();
            }
        }
        serde_json::json!({ "data": data, "layout": layout })
    }
}

//! A report as sections of text, charts and tables, from which the page, the Markdown and the figures are written.

use serde_json::Value;

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
    /// Outlines that several charts share: the GeoJSON that replaces `"geojson": "shapes"` in a chart.
    pub shapes: Option<Value>,
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
    /// The names of the views, and the changes to the traces. The first is the view that the chart's data show.
    pub choices: Vec<(String, Value)>,
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
#[derive(Clone, Debug)]
pub struct Table {
    /// The name in the page.
    pub id: String,
    /// The caption.
    pub caption: String,
    /// The names of the columns; the first column names the rows.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
    /// Remarks below it.
    pub note: String,
    /// Whether the table can be sorted and searched.
    pub sortable: bool,
}

/// A value in a table.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// The text shown.
    pub text: String,
    /// The value in full precision, if it is a number.
    pub value: Option<f64>,
}

/// The slider along a frontier, with a chart above it.
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

    /// Returns whether the cell holds a number, or a dash for a missing one.
    pub(crate) fn is_number(&self) -> bool {
        self.value.is_some() || self.text == "–"
    }
}

impl Table {
    /// Creates a table of rows with names and values, or the transposed table if there are too many columns for a page.
    /// `corners` are the headings of the row names and of the column names.
    pub(crate) fn crossed(
        id: &str,
        caption: &str,
        corners: [&str; 2],
        columns: Vec<String>,
        rows: Vec<(String, Vec<Cell>)>,
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
        Table {
            id: id.into(),
            caption: caption.into(),
            columns: std::iter::once(corner.to_owned()).chain(columns).collect(),
            rows: names.into_iter().zip(cells).map(row).collect(),
            note: String::new(),
            sortable: false,
        }
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
    !rows.is_empty() && rows.iter().filter_map(|row| row.get(column)).all(Cell::is_number)
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

    /// Returns a self-contained Plotly specification of a chart, marked as made by this crate.
    pub fn specification(&self, chart: &Chart) -> Value {
        let (mut data, mut layout) = (chart.data.clone(), chart.layout.clone());
        layout["meta"] = MAKER.into();
        for trace in data.as_array_mut().into_iter().flatten() {
            if let (Some(geojson), Some(shapes)) = (trace.get_mut("geojson"), &self.shapes) {
                *geojson = shapes.clone();
            }
        }
        serde_json::json!({ "data": data, "layout": layout })
    }
}

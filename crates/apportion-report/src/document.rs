//! A report as sections of text, charts and tables: what the page, the Markdown and the figures are written from.

use serde_json::Value;

/// By which a specification is known to be ours.
pub(crate) const MAKER: &str = "apportion";

/// A report.
#[derive(Clone, Debug)]
pub struct Document {
    /// What it is about.
    pub title: String,
    /// One line below the title.
    pub subtitle: String,
    /// Its sections.
    pub sections: Vec<Section>,
    /// Outlines that several charts share: the GeoJSON that `"geojson": "shapes"` in a chart stands for.
    pub shapes: Option<Value>,
}

/// A section, led by one sentence that says what to see.
#[derive(Clone, Debug)]
pub struct Section {
    /// By which it is linked to.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// The sentence, made from the numbers.
    pub lead: String,
    /// What follows.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, Debug)]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// A few figures, large.
    Cards(Vec<Card>),
    /// A chart.
    Chart(Box<Chart>),
    /// A table.
    Table(Table),
    /// The slider along a frontier.
    Slider(Box<Slider>),
    /// Something to copy.
    Code(String),
}

/// A large figure, and what it is.
#[derive(Clone, Debug)]
pub struct Card {
    /// What it is.
    pub name: String,
    /// The figure.
    pub figure: String,
    /// More about it.
    pub note: String,
}

/// A chart, defined once, as Plotly takes it.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Its name in the page and among the figures.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// What it shows, in words, from the numbers.
    pub alt: String,
    /// Plotly's `data`.
    pub data: Value,
    /// Plotly's `layout`.
    pub layout: Value,
    /// What is different in the layout where there is little room.
    pub narrow: Value,
    /// What else it can show, and what it is called that is chosen among.
    pub views: Option<Views>,
    /// The numbers behind it.
    pub sheet: Sheet,
}

/// What a chart can show.
#[derive(Clone, Debug)]
pub struct Views {
    /// What is chosen.
    pub label: String,
    /// The names, and what changes in the traces. The first is what the chart's data show.
    pub choices: Vec<(String, Value)>,
}

/// Numbers in columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// The columns' names.
    pub columns: Vec<String>,
    /// The rows; a number in full.
    pub rows: Vec<Vec<String>>,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name in the page.
    pub id: String,
    /// What it shows.
    pub caption: String,
    /// The columns' names; the first names the rows.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
    /// Remarks below it.
    pub note: String,
    /// Whether it can be sorted and searched.
    pub sortable: bool,
}

/// A value in a table.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// As it is shown.
    pub text: String,
    /// In full, where it is a number.
    pub value: Option<f64>,
}

/// The slider along a frontier, with a chart above it.
#[derive(Clone, Debug)]
pub struct Slider {
    /// The frontier, and last in its data the point that moves.
    pub chart: Chart,
    /// The classes.
    pub classes: Vec<String>,
    /// The dots of the classes, as styles of CSS.
    pub dots: Vec<String>,
    /// What the stops need: the points, the people, and the references' shares.
    pub stops: Value,
    /// How many stops there are.
    pub count: usize,
    /// Whether the truth of everybody is known.
    pub has_truth: bool,
    /// The first stop as a table, for a reader without a script.
    pub table: Table,
}

impl Cell {
    /// A text.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), value: None }
    }

    /// A number, and how it is shown.
    pub fn number(value: Option<f64>, show: impl Fn(f64) -> String) -> Cell {
        Cell { text: value.map_or_else(|| "–".into(), show), value }
    }

    /// Whether it stands where a number does.
    pub(crate) fn is_number(&self) -> bool {
        self.value.is_some() || self.text == "–"
    }
}

impl Table {
    /// Rows of names and values, or, where there are too many columns for a page, the same with rows and columns exchanged.
    /// `corners` is what names the rows, and what names the columns.
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

    /// Whether the name of a column or of a row has a word so long that it must be broken on paper.
    pub(crate) fn has_long_words(&self) -> bool {
        let is_long = |name: &str, most: usize| name.split_whitespace().any(|word| word.chars().count() > most);
        let names = || self.rows.iter().filter_map(|row| row.first());
        self.columns.iter().any(|name| is_long(name, 13)) || names().any(|name| is_long(&name.text, 20))
    }

    /// How much smaller the table is printed, so that it is no wider than paper whatever the fonts: a class of the style.
    pub(crate) fn print_size(&self) -> &'static str {
        match self.columns.len() {
            0..=7 => "",
            8..=11 => " wide",
            12..=15 => " wider",
            _ => " widest",
        }
    }

    /// The columns, and whether they have names or texts in them.
    pub(crate) fn heads(&self) -> impl Iterator<Item = (&String, bool)> {
        let is_text = |column: usize| column == 0 || !has_numbers(&self.rows, column);
        self.columns.iter().enumerate().map(move |(column, name)| (name, is_text(column)))
    }
}

/// Whether a column has numbers, or nothing but dashes in their place.
pub(crate) fn has_numbers(rows: &[Vec<Cell>], column: usize) -> bool {
    !rows.is_empty() && rows.iter().filter_map(|row| row.get(column)).all(Cell::is_number)
}

impl Document {
    /// The charts, in their order.
    pub fn charts(&self) -> impl Iterator<Item = &Chart> {
        self.sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
            Block::Chart(chart) => Some(&**chart),
            Block::Slider(slider) => Some(&slider.chart),
            _ => None,
        })
    }

    /// A chart's specification with everything in it that it needs: fit for any Plotly. It says of itself whose it is.
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

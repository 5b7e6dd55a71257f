//! Converts tables downloaded from data.census.gov to one table of people by place and class, which `predict` reads.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use apportion::text::{Message, quoted};
use apportion_bisg::Level;
use apportion_io::{
    ColumnBatch, ColumnBatches, Error as IoError, Input, InputOptions, Output, PlaceCode, PlainColumn, PlainTexts,
    PlainValues, level_of_code, write_plain_columns,
};
use serde::{Deserialize, Serialize};

use super::census_layouts::{BadSum, CLASSES, CensusLayout, LAYOUTS, PlacePeople};
use crate::protect::refuse_overwriting;
use crate::text::count;
use crate::{Context, Error, Result};

/// The settings of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportRequest {
    /// The files, all of the same table.
    pub inputs: Vec<String>,
    /// How people of Some Other Race are counted.
    pub other_race: OtherRace,
    /// The output file, or `-` for CSV on standard output. If empty, the table is returned.
    pub output: String,
    /// Whether to replace an existing file.
    pub force: bool,
}

/// How people of Some Other Race who are not Hispanic are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OtherRace {
    /// Together with another race, as that race; alone, spread over the other classes of the place, as the CFPB does
    /// and as the Census surname lists do.
    #[default]
    Allocate,
    /// In the class `other`.
    Other,
}

/// A table that was imported.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct ImportedTable {
    /// The Census table, such as `P11`, and the file that it belongs to.
    pub source: String,
    /// The people that it counts.
    pub population: &'static str,
    /// The geographic level of its places.
    pub level: &'static str,
    /// The number of places.
    pub places: usize,
    /// The number of people.
    pub people: f64,
    /// The classes.
    pub classes: Vec<&'static str>,
    /// The number of people of each class.
    pub counts: Vec<f64>,
    /// The definition of the classes.
    pub definition: String,
    /// Remarks on rows that were left out or added up.
    pub remarks: Vec<String>,
    /// The files that were written; empty for standard output, and for a table in memory.
    pub paths: Vec<PathBuf>,
    /// The table, if no output is set.
    #[serde(skip)]
    pub columns: Vec<PlainColumn>,
}

/// The column of geographic codes.
const GEO_ID: &str = "GEO_ID";

/// Number of rows read at a time.
const ROWS: usize = 1 << 16;

/// Values instead of a count. The Census Bureau explains them in its notes on annotations.
const ANNOTATIONS: [&str; 9] = ["", "null", "(X)", "X", "N", "-", "**", "***", "*****"];

/// The metadata key of the definition, in Parquet and Arrow files.
const DESCRIPTION: &str = "description";

/// Imports files of one Census table.
///
/// # Errors
/// If a file is not such a table, is incomplete or inconsistent, or the output cannot be written.
pub fn import(request: &ImportRequest, context: &Context) -> Result<ImportedTable> {
    let all = Input::new(&request.inputs, InputOptions::default())?;
    let mut output = Output { path: request.output.clone(), force: request.force, ..Output::default() };
    if !request.output.is_empty() {
        refuse_overwriting(Path::new(&request.output), Some(&all), &[])?;
        output.check(None)?;
    }
    let mut places = Places::default();
    for file in 0..all.names().len() {
        context.check_cancelled()?;
        let path = all.path(file).to_string_lossy().into_owned();
        FileReader::open(&path, &places)?.read(&mut places, context)?;
    }
    let (columns, mut imported) = places.finish(request.other_race)?;
    if request.output.is_empty() {
        imported.columns = columns;
        return Ok(imported);
    }
    output.metadata = vec![(DESCRIPTION.into(), imported.describe())];
    imported.paths = write_plain_columns(&output, columns)?;
    Ok(imported)
}

impl ImportedTable {
    /// Returns the source, the population and the definition of the classes.
    fn describe(&self) -> String {
        format!("{}: {}. {}", self.source, self.population, self.definition)
    }
}

/// The places of all files.
#[derive(Default)]
struct Places {
    layout: Option<&'static CensusLayout>,
    rows: Vec<PlaceRow>,
    /// The row of each place.
    by_code: HashMap<(Level, u64), usize>,
    blocks: u64,
    /// Rows of the nation or parts of it.
    larger: u64,
    without_data: u64,
}

struct PlaceRow {
    level: Level,
    code: u64,
    people: PlacePeople,
    /// The row of the file.
    row: u64,
}

/// A file and its position.
struct FileReader {
    input: Input,
    path: PathBuf,
    layout: &'static CensusLayout,
}

impl FileReader {
    /// Opens a file and checks its header.
    fn open(path: &str, places: &Places) -> Result<FileReader> {
        let input = Input::new(&[path.to_owned()], InputOptions::default())?;
        let names = input.columns(0)?;
        let path = PathBuf::from(path);
        let layout = find_layout(&names).map_err(|problem| Error::from(IoError::file(&path, problem)))?;
        if let Some(other) = places.layout.filter(|other| other.code != layout.code) {
            let problem =
                format!("it is table {}, but the files before it are {}; import them apart", layout.code, other.code);
            return Err(IoError::file(&path, problem).into());
        }
        Ok(FileReader { input, path, layout })
    }

    /// Reads all rows.
    fn read(&self, places: &mut Places, context: &Context) -> Result<()> {
        places.layout = Some(self.layout);
        let names = self.layout.columns();
        let mut columns = vec![GEO_ID.to_owned()];
        columns.extend(names.iter().cloned());
        let mut batches = ColumnBatches::new(&self.input, &columns);
        let (mut row, mut has_places) = (0, false);
        loop {
            context.check_cancelled()?;
            let some = batches.next_rows(ROWS)?;
            if some.is_empty() {
                break;
            }
            for batch in some {
                let texts: Vec<PlainTexts> =
                    columns.iter().map(|name| batch.texts(name)).collect::<std::result::Result<_, _>>()?;
                for index in 0..batch.rows() {
                    row += 1;
                    let geo_id = texts[0].get(index).trim();
                    if row == 1 && is_label(geo_id) {
                        self.check_labels(&batch)?;
                        continue;
                    }
                    has_places = true;
                    self.read_row(row, geo_id, &|column| texts[column + 1].get(index), &names, places)?;
                }
            }
        }
        if !has_places {
            let problem = "it has a header but no rows of places, so it may be cut off; download it again";
            return Err(IoError::file(&self.path, problem).into());
        }
        Ok(())
    }

    /// Refuses a file whose labels are those of another table with the same code.
    fn check_labels(&self, batch: &ColumnBatch) -> Result<()> {
        for (column, expected) in self.layout.labels() {
            let texts = batch.texts(&column)?;
            let label = texts.get(0);
            let last = label.trim().trim_end_matches(':').rsplit("!!").next().unwrap_or_default();
            if !last.eq_ignore_ascii_case(expected) {
                let problem = format!(
                    "its label is {}, not {expected:?}, so this is another table called {}; {}",
                    quoted(label),
                    self.layout.code,
                    which_tables()
                );
                return Err(self.value_error(1, &column, problem));
            }
        }
        Ok(())
    }

    fn read_row<'v>(
        &self,
        row: u64,
        geo_id: &str,
        value: &dyn Fn(usize) -> &'v str,
        names: &[String],
        places: &mut Places,
    ) -> Result<()> {
        if ["010", "020", "030"].iter().any(|level| geo_id.starts_with(level)) && geo_id.contains("US") {
            places.larger += 1;
            return Ok(());
        }
        let found = level_of_code(geo_id).filter(|_| geo_id.contains("US"));
        let found = found.and_then(|level| Some((level, PlaceCode::from_text(geo_id, level)?.code)));
        let Some((level, code)) = found else {
            let problem = format!(
                "{} is not the code of a block, block group, tract, county, ZCTA or state, such as 0500000US37063; \
                 download one of these levels",
                quoted(geo_id)
            );
            return Err(self.value_error(row, GEO_ID, problem));
        };
        let mut values = Vec::with_capacity(names.len());
        for (column, name) in names.iter().enumerate() {
            let text = value(column).trim();
            match parse_count(text) {
                Some(number) => values.push(number),
                None if is_annotation(text) => {
                    places.without_data += 1;
                    return Ok(());
                }
                None => {
                    let problem = format!("{} is not a number of people; download the file again", quoted(text));
                    return Err(self.value_error(row, name, problem));
                }
            }
        }
        let people = self.layout.people(&values).map_err(|bad| self.bad_sum(row, geo_id, &bad))?;
        let is_block = geo_id.starts_with("100") || geo_id.starts_with("101");
        places.blocks += u64::from(is_block);
        match places.by_code.get(&(level, code)) {
            Some(&index) if is_block => places.rows[index].people.add(&people),
            Some(&index) => {
                let first = places.rows[index].row;
                let problem = format!("this place is also in row {first} of this or another file; keep one of them");
                return Err(self.value_error(row, GEO_ID, problem));
            }
            None => {
                places.by_code.insert((level, code), places.rows.len());
                places.rows.push(PlaceRow { level, code, people, row });
            }
        }
        Ok(())
    }

    fn bad_sum(&self, row: u64, geo_id: &str, bad: &BadSum) -> Error {
        let problem = format!(
            "{} has {} people, but its parts sum to {}; the file was changed or is damaged: download it again",
            quoted(geo_id),
            count(bad.expected as u64),
            count(bad.parts as u64)
        );
        self.value_error(row, &bad.whole, problem)
    }

    fn value_error(&self, row: u64, column: &str, problem: impl Into<Message>) -> Error {
        let (path, column) = (self.path.clone(), column.to_owned());
        IoError::Value { path, row, column, problem: problem.into() }.into()
    }
}

/// Finds the table of a header.
fn find_layout(names: &[String]) -> std::result::Result<&'static CensusLayout, String> {
    if !names.iter().any(|name| name == GEO_ID) {
        let is_display = names.first().is_some_and(|name| name.starts_with("Label"));
        let found = if is_display {
            "this is the table as the website shows it, with places as columns"
        } else {
            "its first line has no column GEO_ID"
        };
        return Err(format!(
            "{found}; on data.census.gov, choose Download Table Data (ZIP) and use the file whose name ends in -Data.csv, \
             unchanged"
        ));
    }
    let code = |name: &String| name.split_once('_').map(|(code, _)| code.to_owned());
    let mut codes: Vec<String> = names.iter().filter(|name| *name != GEO_ID).filter_map(code).collect();
    codes.dedup();
    let known: Vec<&CensusLayout> = LAYOUTS.iter().filter(|own| codes.iter().any(|code| code == own.code)).collect();
    let layout = match known[..] {
        [layout] => layout,
        [] => {
            let found = codes
                .first()
                .map_or("no table was recognized".into(), |code| format!("table {code} cannot be imported"));
            return Err(format!("{found}; {}", which_tables()));
        }
        [first, second, ..] => {
            return Err(format!("it has tables {} and {}; download one of them", first.code, second.code));
        }
    };
    let mut columns = layout.columns();
    columns.push(layout.last_column());
    let Some(missing) = columns.iter().find(|column| !names.contains(column)) else { return Ok(layout) };
    Err(format!(
        "its table {} has no column {missing}, so it was cut, or it is another table called {}; {}",
        layout.code,
        layout.code,
        which_tables()
    ))
}

/// Names the tables that can be imported.
fn which_tables() -> String {
    "use P2 or P4 of the 2020 redistricting data (P.L. 94-171), P5 or P11 of the 2020 Demographic and Housing \
     Characteristics (DHC), or B03002 of the American Community Survey"
        .into()
}

/// Returns whether a value of the first column belongs to the row of labels.
fn is_label(text: &str) -> bool {
    ["Geography", "id"].iter().any(|own| own.eq_ignore_ascii_case(text))
}

/// Returns a number of people. A revised count, such as 12(r34), is the number before its note.
fn parse_count(text: &str) -> Option<f64> {
    let digits = text.split("(r").next()?.replace(',', "");
    let is_number = !digits.is_empty() && digits.len() <= 15 && digits.bytes().all(|digit| digit.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

/// Returns whether a value says that there is no count. Annotations of estimates are also negative numbers.
fn is_annotation(text: &str) -> bool {
    let is_code = |digits: &str| digits.len() == 9 && digits.bytes().all(|digit| digit == digits.as_bytes()[0]);
    ANNOTATIONS.contains(&text) || text.strip_prefix('-').is_some_and(is_code)
}

impl Places {
    /// Returns the columns of the table and its description. Only the smallest level is kept.
    fn finish(mut self, other_race: OtherRace) -> Result<(Vec<PlainColumn>, ImportedTable)> {
        let (Some(layout), Some(level)) = (self.layout, self.rows.iter().map(|row| row.level).min()) else {
            return Err(Error::data(
                "no row has counts of places; download one of the levels block group, tract, county, ZCTA or state",
            ));
        };
        let all = self.rows.len();
        self.rows.retain(|row| row.level == level);
        let larger = self.larger + (all - self.rows.len()) as u64;
        let by_class = |row: &PlaceRow| match other_race {
            OtherRace::Allocate => row.people.with_other_race_allocated(),
            OtherRace::Other => row.people.with_other_race_in_other(),
        };
        let people: Vec<[f64; 6]> = self.rows.iter().map(by_class).collect();
        let counts: Vec<f64> = (0..CLASSES.len()).map(|class| people.iter().map(|row| row[class]).sum()).collect();
        let imported = ImportedTable {
            source: format!("{}, {}", layout.code, layout.dataset),
            population: layout.population,
            level: level.name(),
            places: self.rows.len(),
            people: counts.iter().sum(),
            classes: CLASSES.to_vec(),
            counts,
            definition: definition(layout, other_race),
            remarks: self.remarks(larger, level),
            ..ImportedTable::default()
        };
        Ok((self.columns(level, &people, &imported, other_race), imported))
    }

    /// Returns remarks on rows that were left out or added up.
    fn remarks(&self, larger: u64, level: Level) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.blocks > 0 {
            let groups = count(self.rows.len() as u64);
            remarks.push(format!("{} blocks were added up to {groups} block groups", count(self.blocks)));
        }
        if larger > 0 {
            remarks.push(format!(
                "rows of places larger than a {} were left out: {}; import them apart if you need them",
                level.name(),
                count(larger)
            ));
        }
        if self.without_data > 0 {
            remarks.push(format!(
                "rows without a published count were left out: {}; larger places are used for them",
                count(self.without_data)
            ));
        }
        remarks
    }

    fn columns(
        &self,
        level: Level,
        people: &[[f64; 6]],
        imported: &ImportedTable,
        other_race: OtherRace,
    ) -> Vec<PlainColumn> {
        let digits = level.digits().unwrap_or(0) as usize;
        let codes = self.rows.iter().map(|row| format!("{:0>digits$}", row.code)).collect();
        let mut columns = vec![PlainColumn { name: key_column(level).into(), values: PlainValues::Text(codes) }];
        for (class, name) in CLASSES.iter().enumerate() {
            let values = people.iter().map(|row| row[class]);
            let values = match other_race {
                OtherRace::Allocate => PlainValues::Double(values.collect()),
                OtherRace::Other => PlainValues::Whole(values.map(|value| value as u64).collect()),
            };
            columns.push(PlainColumn { name: format!("n_{name}"), values });
        }
        let handling = match other_race {
            OtherRace::Allocate => "Some Other Race allocated",
            OtherRace::Other => "Some Other Race in other",
        };
        let words = vec![format!("{}; {}; {handling}", imported.source, imported.population)];
        let values = PlainValues::Words { codes: vec![0; people.len()], words };
        columns.push(PlainColumn { name: "source".into(), values });
        columns
    }
}

/// Returns the name of the column of codes.
fn key_column(level: Level) -> &'static str {
    match level {
        Level::BlockGroup => "block_group",
        Level::Tract => "tract",
        Level::Zcta => "zcta",
        Level::County => "county_fips",
        Level::State => "state_fips",
        Level::Own | Level::ZipPrefix | Level::Nation | Level::All => "geoid",
    }
}

/// Describes the classes.
fn definition(layout: &CensusLayout, other_race: OtherRace) -> String {
    let common = "hispanic: Hispanic or Latino of any race; all other classes are not Hispanic. asian: Asian or Pacific Islander. \
                  aian: American Indian or Alaska Native.";
    let spread = "Some Other Race alone is spread over the other non-Hispanic classes of the place in proportion";
    match (other_race, layout.has_combinations()) {
        (OtherRace::Other, _) => format!("{common} other: Some Other Race, and two or more races."),
        (OtherRace::Allocate, true) => format!(
            "{common} A race together with Some Other Race counts as that race, and {spread}, as in the CFPB's method and \
             the Census surname lists. other: two or more races."
        ),
        (OtherRace::Allocate, false) => format!(
            "{common} {spread}. This table does not list a race together with Some Other Race, so these people are in \
             other. other: two or more races."
        ),
    }
}

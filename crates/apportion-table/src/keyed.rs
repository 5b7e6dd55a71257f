//! Tables of names or places by class, as the Census, other tools and users write them.

use std::path::{Path, PathBuf};

use apportion::model::{Level, NameTable, Numbers, PlaceTable};
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::{DataType, Float64Type};

use crate::code::{code_of_text, rank_of_column};
use crate::columns::{class_after, normal, position};
use crate::error::{Error, Result};
use crate::input::{Input, InputOptions};
use crate::number::{fill_suppressed, parse};

/// What a table is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Surnames.
    Surnames,
    /// First names.
    FirstNames,
    /// Places.
    Places,
}

/// What a user says of a table's columns.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyedOptions<'a> {
    /// Classes beyond those that are known by their names.
    pub classes: &'a [String],
    /// Which columns hold the numbers, where there are several sets: what stands before the classes, as in `vap_*`.
    pub numbers: Option<&'a str>,
    /// The column of the keys, where it is not found by its name.
    pub key: Option<&'a str>,
}

/// The keys of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum TableKeys {
    /// Names of people, or of places of a user's own.
    Texts(Vec<String>),
    /// Codes of places.
    Codes(Level, Vec<u64>),
}

/// Numbers by class for each key.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyedTable {
    /// The file, or the name of a table inside the program.
    pub path: PathBuf,
    /// Where the keys stand: a column, or several.
    pub key: String,
    /// The keys, row by row.
    pub keys: TableKeys,
    /// The classes, in the order of their columns.
    pub classes: Vec<String>,
    /// Numbers, row by row.
    pub values: Vec<f64>,
    /// People of each key, where another column says so.
    pub counts: Option<Vec<f64>>,
    /// What the numbers are.
    pub numbers: Numbers,
}

/// How far sums may be from one: shares are printed with a few digits.
const NEAR: f64 = 0.02;

impl KeyedTable {
    /// Reads a file.
    pub fn read(path: &str, subject: Subject, options: &KeyedOptions<'_>) -> Result<KeyedTable> {
        let input = Input::new(&[path.to_owned()], InputOptions::default())?;
        let batches = input.open(0)?;
        let (names, schema, path) = (batches.names(), batches.schema().clone(), batches.name().to_owned());
        let batches = batches.collect::<Result<Vec<_>>>()?;
        let batch = concat_batches(&schema, &batches).map_err(|error| Error::file(&path, error.to_string()))?;
        if batch.num_rows() == 0 {
            return Err(Error::file(&path, "it has columns but no rows; check how it was made"));
        }
        let file = File { path, names, columns: batch.columns().to_vec(), rows: batch.num_rows() };
        file.table(subject, options)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.values.len() / self.classes.len()
    }

    /// The level of its places, where it is one of places.
    pub fn level(&self) -> Level {
        match &self.keys {
            TableKeys::Texts(_) => Level::Own,
            TableKeys::Codes(level, _) => *level,
        }
    }

    /// Gives classes other names, as a user says. Those of one name become one: their people, or their shares, are added up.
    pub fn rename(&mut self, crosswalk: &[(String, String)]) -> Result<()> {
        let new = |class: &String| -> String {
            crosswalk.iter().find(|(old, _)| old == class).map_or(class, |(_, new)| new).clone()
        };
        let mut classes: Vec<String> = Vec::new();
        for class in self.classes.iter().map(new) {
            if !classes.contains(&class) {
                classes.push(class);
            }
        }
        if classes.len() < self.classes.len() && self.numbers == Numbers::Spread {
            return Err(Error::file(
                &self.path,
                "it holds P(key | class), which cannot be added up for a merged class; give people by class",
            ));
        }
        let place = |class: &String| classes.iter().position(|own| *own == new(class)).unwrap_or_default();
        let places: Vec<usize> = self.classes.iter().map(place).collect();
        let mut values = Vec::with_capacity(self.rows() * classes.len());
        for row in self.values.chunks_exact(self.classes.len()) {
            let start = values.len();
            values.resize(start + classes.len(), 0.0);
            row.iter().zip(&places).for_each(|(value, place)| values[start + place] += value);
        }
        (self.classes, self.values) = (classes, values);
        Ok(())
    }

    /// Brings the classes into an order; refuses a table that lacks one, or has others.
    pub fn in_order(&mut self, classes: &[String]) -> Result<()> {
        let missing: Vec<&String> = classes.iter().filter(|class| !self.classes.contains(class)).collect();
        let extra: Vec<&String> = self.classes.iter().filter(|class| !classes.contains(class)).collect();
        if !missing.is_empty() || !extra.is_empty() {
            return Err(Error::file(&self.path, differ(classes, &missing, &extra)));
        }
        let places: Vec<usize> =
            classes.iter().filter_map(|class| self.classes.iter().position(|own| own == class)).collect();
        let rows = self.values.chunks_exact(self.classes.len());
        self.values = rows.flat_map(|row| places.iter().map(|&place| row[place])).collect();
        self.classes = classes.to_vec();
        Ok(())
    }

    /// What names say.
    pub fn into_names(self) -> Result<NameTable> {
        let TableKeys::Texts(names) = &self.keys else {
            return Err(Error::file(&self.path, "it is a table of places, and not of names"));
        };
        let names = names.iter().map(String::as_str);
        NameTable::new(self.classes.len(), names, self.values, self.numbers, self.counts)
            .map_err(|error| in_file(&self.path, error))
    }

    /// What places say.
    pub fn into_places(self) -> Result<PlaceTable> {
        let classes = self.classes.len();
        let (mut values, mut numbers) = (self.values, self.numbers);
        if let (Numbers::Shares, Some(counts)) = (numbers, &self.counts) {
            values
                .chunks_exact_mut(classes)
                .zip(counts)
                .for_each(|(row, count)| row.iter_mut().for_each(|v| *v *= count));
            numbers = Numbers::People;
        }
        let table = match self.keys {
            TableKeys::Texts(names) => PlaceTable::by_name(classes, names.iter().map(String::as_str), values, numbers),
            TableKeys::Codes(level, codes) => PlaceTable::by_code(level, classes, codes, values, numbers),
        };
        table.map_err(|error| in_file(&self.path, error))
    }
}

/// What to do where a table's classes are not those of the others.
fn differ(classes: &[String], missing: &[&String], extra: &[&String]) -> String {
    let list = |names: &[&String]| names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    let pairs: Vec<String> = extra
        .iter()
        .filter_map(|&own| Some(format!("{own}={}", missing.iter().find(|&&wanted| mean_the_same(own, wanted))?)))
        .collect();
    let way = if pairs.is_empty() {
        "say what they mean with --crosswalk OLD=NEW,…".into()
    } else {
        format!("if they mean the same, say so with --crosswalk {}", pairs.join(","))
    };
    let lacks = if missing.is_empty() { String::new() } else { format!("lacks {}", list(missing)) };
    let has = if extra.is_empty() { String::new() } else { format!("has {}", list(extra)) };
    let and = if lacks.is_empty() || has.is_empty() { "" } else { " and " };
    format!("it {lacks}{and}{has}, where the classes are {}; {way}", classes.join(", "))
}

/// Classes that tools call differently; they are not the same people in all tools, so that a user says whether they are meant.
fn mean_the_same(a: &str, b: &str) -> bool {
    const KIN: [&[&str]; 5] = [
        &["white", "whi", "nh_white"],
        &["black", "bla", "nh_black"],
        &["hispanic", "hisp", "his"],
        &["asian", "api", "aapi", "asi", "nh_api"],
        &["aian", "native", "american_indian", "nh_aian"],
    ];
    const MORE: &[&str] = &["other", "multiple", "2prace", "mult_other", "oth", "multi", "2races"];
    KIN.iter().chain([&MORE]).any(|kin| kin.contains(&a) && kin.contains(&b))
}

/// An error of the library, with the file and its row.
fn in_file(path: &Path, error: apportion::Error) -> Error {
    match error {
        apportion::Error::KeyedTable { row, problem } => {
            Error::Row { path: path.to_owned(), row: row as u64 + 1, problem }
        }
        other => Error::file(path, other.to_string()),
    }
}

/// A file, whole.
struct File {
    path: PathBuf,
    names: Vec<String>,
    columns: Vec<ArrayRef>,
    rows: usize,
}

impl File {
    fn table(&self, subject: Subject, options: &KeyedOptions<'_>) -> Result<KeyedTable> {
        let found = self.class_columns(options)?;
        let (key, keys) = self.keys(subject, options, &found)?;
        let classes: Vec<String> = found.iter().map(|(_, class)| class.clone()).collect();
        let columns = found.iter().map(|(place, _)| self.numbers_of(*place)).collect::<Result<Vec<_>>>()?;
        let mut values: Vec<f64> =
            (0..self.rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
        let percent = values.iter().any(|value| *value > 1.5);
        values.chunks_exact_mut(classes.len()).for_each(|row| fill_suppressed(row, percent));
        let is_people =
            found.iter().all(|(place, _)| PEOPLE.iter().any(|prefix| self.normal(*place).starts_with(prefix)));
        let numbers = if is_people { Numbers::People } else { self.kind(&mut values, classes.len())? };
        let counts = self.count_column(&found).filter(|_| numbers == Numbers::Shares);
        let counts = counts.map(|place| self.numbers_of(place)).transpose()?;
        Ok(KeyedTable { path: self.path.clone(), key, keys, classes, values, counts, numbers })
    }

    fn normal(&self, place: usize) -> String {
        normal(&self.names[place])
    }

    /// The columns of classes: all that have one prefix, or none, before a class.
    fn class_columns(&self, options: &KeyedOptions<'_>) -> Result<Vec<(usize, String)>> {
        let wanted = options.numbers.map(|text| normal(text.trim_end_matches('*')));
        let mut sets: Vec<(String, Vec<(usize, String)>)> = Vec::new();
        for place in 0..self.names.len() {
            let name = self.normal(place);
            let Some((prefix, class)) = class_after(&name, options.classes) else { continue };
            match sets.iter_mut().find(|(own, _)| own == prefix) {
                Some((_, set)) => set.push((place, class.to_owned())),
                None => sets.push((prefix.to_owned(), vec![(place, class.to_owned())])),
            }
        }
        sets.retain(|(prefix, set)| set.len() > 1 && wanted.as_ref().is_none_or(|wanted| wanted == prefix));
        let problem = match &sets[..] {
            [(_, set)] => return Ok(set.clone()),
            [] => {
                let columns = self.names.join(", ");
                format!(
                    "no columns of classes, such as n_white or pctwhite, were recognised among {columns}; rename them, or name the classes with --classes"
                )
            }
            several => {
                let sets = several.iter().map(|(prefix, _)| format!("{prefix}*")).collect::<Vec<_>>();
                format!("the numbers may be in {}; say which with --numbers '{}'", sets.join(" and "), sets[0])
            }
        };
        Err(Error::file(&self.path, problem))
    }

    /// What the numbers are, by their sums. Percentages become shares.
    fn kind(&self, values: &mut [f64], classes: usize) -> Result<Numbers> {
        let rows = || values.chunks_exact(classes).filter(|row| row.iter().any(|value| *value > 0.0));
        let near = |sum: f64, whole: f64| (sum / whole - 1.0).abs() <= NEAR;
        let all_rows = |whole: f64| rows().all(|row| near(row.iter().sum(), whole));
        let sums: Vec<f64> = (0..classes).map(|class| rows().map(|row| row[class]).sum()).collect();
        let columns = |whole: f64| sums.iter().all(|&sum| near(sum, whole));
        // A row that is off among many that are not is a fault of that row.
        for whole in [1.0, 100.0] {
            let sums = || {
                values
                    .chunks_exact(classes)
                    .map(|row| row.iter().sum::<f64>())
                    .enumerate()
                    .filter(|(_, sum)| *sum > 0.0)
            };
            let (all, off) = (sums().count(), sums().filter(|(_, sum)| !near(*sum, whole)).count());
            if let Some((row, sum)) = sums().find(|(_, sum)| !near(*sum, whole)).filter(|_| 10 * off <= all) {
                let problem = format!("its classes sum to {sum}, where those of other rows sum to {whole}; mend it");
                return Err(Error::Row { path: self.path.clone(), row: row as u64 + 1, problem });
            }
        }
        let (numbers, whole) = if all_rows(1.0) {
            (Numbers::Shares, 1.0)
        } else if all_rows(100.0) {
            (Numbers::Shares, 100.0)
        } else if columns(1.0) {
            (Numbers::Spread, 1.0)
        } else if columns(100.0) {
            (Numbers::Spread, 100.0)
        } else if rows().flatten().all(|&value| value <= 1.0) {
            let problem = "neither its rows nor its columns sum to 1, and its numbers are no people; give people by class \
                           (n_CLASS), P(class | key) or P(key | class)";
            return Err(Error::file(&self.path, problem));
        } else {
            (Numbers::People, 1.0)
        };
        values.iter_mut().for_each(|value| *value /= whole);
        Ok(numbers)
    }

    /// The column that says how many people a key has.
    fn count_column(&self, found: &[(usize, String)]) -> Option<usize> {
        const CALLED: [&str; 8] = ["count", "n_total", "n", "total", "people", "population", "pop", "freq"];
        let own = |name: &str| {
            (0..self.names.len())
                .find(|&place| self.normal(place) == name && found.iter().all(|(own, _)| *own != place))
        };
        CALLED.iter().find_map(|name| own(name))
    }

    fn keys(
        &self,
        subject: Subject,
        options: &KeyedOptions<'_>,
        found: &[(usize, String)],
    ) -> Result<(String, TableKeys)> {
        if let Some(key) = options.key {
            let place = position(&self.names, key, "--geography")?;
            return Ok((self.names[place].clone(), TableKeys::Texts(self.texts(place)?)));
        }
        if subject == Subject::Places
            && let Some(codes) = self.codes()?
        {
            return Ok(codes);
        }
        let called: &[&str] = match subject {
            Subject::Surnames => &["surname", "last_name", "lastname", "family_name", "name"],
            Subject::FirstNames => &["first_name", "firstname", "given_name", "name"],
            Subject::Places => &["place", "geoid", "geo_id", "id", "name"],
        };
        let by_name = called.iter().find_map(|name| (0..self.names.len()).find(|&place| self.normal(place) == **name));
        let is_text =
            |place: &usize| self.columns[*place].data_type().is_string() || is_dictionary(&self.columns[*place]);
        let others: Vec<usize> =
            (0..self.names.len()).filter(|place| is_text(place) && found.iter().all(|(own, _)| own != place)).collect();
        let only = if let [one] = others[..] { Some(one) } else { None };
        match by_name.or(only) {
            Some(place) => Ok((self.names[place].clone(), TableKeys::Texts(self.texts(place)?))),
            None => {
                let columns = self.names.join(", ");
                let what = if subject == Subject::Places { "place" } else { "name" };
                let problem = format!("which of its columns {columns} is the {what}? Call it {}", called[0]);
                Err(Error::file(&self.path, problem))
            }
        }
    }

    /// Codes of places: in one column, or in those of state, county and tract.
    fn codes(&self) -> Result<Option<(String, TableKeys)>> {
        let column = |wanted: &str| (0..self.names.len()).find(|&place| self.normal(place) == wanted);
        if let (Some(state), Some(county), Some(tract)) = (column("state"), column("county"), column("tract")) {
            let parts = [(state, Level::State), (county, Level::County), (tract, Level::Tract)];
            let codes = parts.map(|(place, level)| self.codes_of(place, level));
            if let [Ok(states), Ok(counties), Ok(tracts)] = codes {
                let codes =
                    (0..self.rows).map(|row| states[row] * 1_000_000_000 + counties[row] * 1_000_000 + tracts[row]);
                return Ok(Some(("state, county, tract".into(), TableKeys::Codes(Level::Tract, codes.collect()))));
            }
        }
        for level in [Level::BlockGroup, Level::Tract, Level::Zcta, Level::County, Level::State] {
            let ranked =
                (0..self.names.len()).filter_map(|place| Some((rank_of_column(&self.names[place], level)?, place)));
            if let Some((_, place)) = ranked.min() {
                return Ok(Some((self.names[place].clone(), TableKeys::Codes(level, self.codes_of(place, level)?))));
            }
        }
        let Some(place) = column("geoid").or_else(|| column("geo_id")) else { return Ok(None) };
        let longest = self.texts(place)?.iter().map(|text| text.trim().len()).max().unwrap_or(0);
        let level = match longest {
            2 => Level::State,
            5 => Level::County,
            11 => Level::Tract,
            12 => Level::BlockGroup,
            _ => return Ok(None),
        };
        Ok(Some((self.names[place].clone(), TableKeys::Codes(level, self.codes_of(place, level)?))))
    }

    fn codes_of(&self, place: usize, level: Level) -> Result<Vec<u64>> {
        let code = |(row, text): (usize, &String)| {
            code_of_text(text, level).map(|code| code.code).ok_or_else(|| Error::Value {
                path: self.path.clone(),
                row: row as u64 + 1,
                column: self.names[place].clone(),
                problem: format!("it is no code of a {}; mend it, or leave the row out", level.name()),
            })
        };
        self.texts(place)?.iter().enumerate().map(code).collect()
    }

    fn texts(&self, place: usize) -> Result<Vec<String>> {
        let text =
            cast(&self.columns[place], &DataType::Utf8).map_err(|error| Error::file(&self.path, error.to_string()))?;
        let text: &StringArray = text.as_string();
        Ok((0..self.rows)
            .map(|row| if text.is_null(row) { String::new() } else { text.value(row).to_owned() })
            .collect())
    }

    fn numbers_of(&self, place: usize) -> Result<Vec<f64>> {
        let column = &self.columns[place];
        if column.data_type().is_numeric() {
            let numbers =
                cast(column, &DataType::Float64).map_err(|error| Error::file(&self.path, error.to_string()))?;
            return Ok(numbers.as_primitive::<Float64Type>().iter().map(|number| number.unwrap_or(f64::NAN)).collect());
        }
        let number = |(row, text): (usize, &String)| {
            parse(text).ok_or_else(|| Error::Value {
                path: self.path.clone(),
                row: row as u64 + 1,
                column: self.names[place].clone(),
                problem: format!("{text:?} is no number; mend it"),
            })
        };
        self.texts(place)?.iter().enumerate().map(number).collect()
    }
}

/// Prefixes before which classes are counted.
const PEOPLE: [&str; 7] = ["n_", "count_", "num_", "pop_", "vap_", "tot_", "cvap_"];

fn is_dictionary(column: &ArrayRef) -> bool {
    matches!(column.data_type(), DataType::Dictionary(_, _))
}

//! Reads the public file of Greengard and Gelman: cells of voters with two sets of scores and true counts, in the columns
//! of their table `df_agg`.

use std::collections::BTreeMap;
use std::path::Path;

use apportion::Scores;
use apportion::text::{Message, Setting};
use apportion_io::{
    ColumnBatch, ColumnBatches, Input, InputOptions, NumberColumn, PlainTexts, ValueColumn, did_you_mean, quoted,
};
use apportion_paper::{PublicCell, PublicVoters};

use crate::{Context, Error, Result, text};

/// The column of the county.
const COUNTY: &str = "county";

/// The column with all voters of a cell, also those of unknown class. It is optional.
const ALL_VOTERS: &str = "vf_tot";

/// The prefixes of the numbers of voters and of the two sets of scores.
const PREFIXES: [&str; 3] = ["vf_", "bisg_bayes_", "rake_"];

/// The classes as the columns name them, in the order of the built-in classes.
const CLASSES: [&str; 6] = ["nh_white", "nh_black", "hispanic", "nh_api", "nh_aian", "other"];

/// The number of rows read at a time.
const ROWS: usize = 65_536;

/// Reads the file.
///
/// # Errors
/// If it cannot be read, lacks a column, has an invalid value, or has no voters of known class.
pub(crate) fn read(path: &Path, context: &Context) -> Result<PublicVoters> {
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("pkl")) {
        let problem = "it is a pickle, which only Python can read; convert it with pandas, as in \
                       pandas.read_pickle(…).to_parquet(\"public.parquet\")";
        return Err(apportion_io::Error::file(path, problem).into());
    }
    let input = Input::new(&[path.display().to_string()], InputOptions::default())?;
    let columns = Columns::find(&input, path)?;
    let mut batches = ColumnBatches::new(&input, &columns.all());
    let mut file = Reading { path, row: 0, voters: PublicVoters::default(), counties: BTreeMap::new(), unknown: 0 };
    file.voters.name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    loop {
        let some = batches.next_rows(ROWS)?;
        if some.is_empty() {
            break;
        }
        for batch in &some {
            file.add(batch, &columns)?;
        }
    }
    let (voters, unknown) = (file.voters, file.unknown);
    if voters.voters() == 0 {
        let problem = "it has no voters of known class; the columns vf_nh_white to vf_other count them";
        return Err(apportion_io::Error::file(path, problem).into());
    }
    let known = text::count(voters.voters());
    let cells = text::count(voters.cells.len() as u64);
    context.note(format!("{}: {known} voters of known class in {cells} cells", path.display()));
    if unknown > 0 {
        let unknown = text::count(unknown);
        context.note(format!("{}: {unknown} voters of unknown class are left out, as in the paper", path.display()));
    }
    Ok(voters)
}

/// The columns as the file writes them.
struct Columns {
    county: String,
    all_voters: Option<String>,
    /// The columns of each of [`PREFIXES`], in the order of [`CLASSES`].
    sets: [[String; CLASSES.len()]; PREFIXES.len()],
}

impl Columns {
    /// Finds the columns by name, ignoring case.
    fn find(input: &Input, path: &Path) -> Result<Columns> {
        let names = input.columns(0)?;
        let named = |wanted: &str| names.iter().find(|name| name.eq_ignore_ascii_case(wanted)).cloned();
        let find = |wanted: &str| {
            named(wanted).ok_or_else(|| {
                let close = did_you_mean(wanted, names.iter().map(String::as_str));
                let problem = Message::from(format!("it has no column {wanted:?}{close}; ")) + Setting::Public;
                let problem = problem
                    + format!(
                        " needs the columns {COUNTY} and vf_CLASS, bisg_bayes_CLASS and rake_CLASS for the classes {}",
                        CLASSES.join(", ")
                    );
                Error::from(apportion_io::Error::file(path, problem))
            })
        };
        let mut sets: [[String; CLASSES.len()]; PREFIXES.len()] = Default::default();
        let county = find(COUNTY)?;
        for (set, prefix) in sets.iter_mut().zip(PREFIXES) {
            for (column, class) in set.iter_mut().zip(CLASSES) {
                *column = find(&format!("{prefix}{class}"))?;
            }
        }
        Ok(Columns { county, all_voters: named(ALL_VOTERS), sets })
    }

    fn all(&self) -> Vec<String> {
        let sets = self.sets.iter().flatten().cloned();
        sets.chain([self.county.clone()]).chain(self.all_voters.clone()).collect()
    }
}

/// The part of the file that was read.
struct Reading<'a> {
    path: &'a Path,
    /// The number of rows.
    row: u64,
    voters: PublicVoters,
    counties: BTreeMap<String, u32>,
    /// The number of voters of unknown class.
    unknown: u64,
}

impl Reading<'_> {
    fn add(&mut self, batch: &ColumnBatch, columns: &Columns) -> Result<()> {
        let numbers = |name: &String| Numbers::of(batch, name);
        let sets = columns.sets.iter().map(|set| set.iter().map(numbers).collect::<Result<Vec<_>>>());
        let sets: Vec<Vec<Numbers>> = sets.collect::<Result<_>>()?;
        let all_voters = columns.all_voters.as_ref().map(numbers).transpose()?;
        let counties = batch.texts(&columns.county)?;
        for row in 0..batch.rows() {
            self.row += 1;
            let voters = self.whole(&sets[0], row)?;
            let (bisg, raking) = (self.scores(&sets[1], row)?, self.scores(&sets[2], row)?);
            let known: u64 = voters.iter().sum();
            if let Some(all_voters) = &all_voters {
                let all = self.count(all_voters, row)?;
                let Some(unknown) = all.checked_sub(known) else {
                    let problem = format!("it is smaller than the sum of the classes, {known}; correct one of them");
                    return Err(self.refuse(&all_voters.name, problem));
                };
                self.unknown += unknown;
            }
            let county = counties.get(row).trim();
            if county.is_empty() {
                return Err(self.refuse(&columns.county, "it is empty; give a name or code of the county"));
            }
            let next = self.counties.len() as u32;
            let code = *self.counties.entry(county.to_owned()).or_insert(next);
            if code == next {
                self.voters.counties.push(county.to_owned());
            }
            if known > 0 {
                self.voters.cells.push(PublicCell { county: code, voters, bisg, raking });
            }
        }
        Ok(())
    }

    fn whole(&self, columns: &[Numbers], row: usize) -> Result<[u64; CLASSES.len()]> {
        let mut voters = [0; CLASSES.len()];
        for (voters, column) in voters.iter_mut().zip(columns) {
            *voters = self.count(column, row)?;
        }
        Ok(voters)
    }

    /// Returns a whole number. Programs may write it with decimals, such as 3.0.
    fn count(&self, column: &Numbers, row: usize) -> Result<u64> {
        let number = self.number(column, row)?;
        if number < 0.0 || number.fract() != 0.0 || number > Scores::MAX_PEOPLE as f64 {
            return Err(self.refuse(&column.name, format!("{number} is not a number of voters; give whole numbers")));
        }
        Ok(number as u64)
    }

    fn scores(&self, columns: &[Numbers], row: usize) -> Result<[f64; CLASSES.len()]> {
        let mut scores = [0.0; CLASSES.len()];
        for (score, column) in scores.iter_mut().zip(columns) {
            *score = self.number(column, row)?;
            if !(0.0..=1.0 + Scores::SUM_TOLERANCE).contains(score) {
                return Err(self.refuse(&column.name, format!("{score} is not a score; give numbers from 0 to 1")));
            }
        }
        let sum: f64 = scores.iter().sum();
        if (sum - 1.0).abs() > Scores::SUM_TOLERANCE {
            let (first, last) = (&columns[0].name, &columns[CLASSES.len() - 1].name);
            let problem =
                format!("the scores from {first} to {last} sum to {sum}, not to 1; correct or remove the row");
            return Err(
                apportion_io::Error::Row { path: self.path.into(), row: self.row, problem: problem.into() }.into()
            );
        }
        Ok(scores)
    }

    fn number(&self, column: &Numbers, row: usize) -> Result<f64> {
        let (number, shown) = match &column.values {
            Values::Numbers(numbers) => (numbers.get(row), String::new()),
            Values::Text(texts) => {
                let text = texts.get(row).trim().to_owned();
                (text.parse().ok(), text)
            }
        };
        number.filter(|number: &f64| number.is_finite()).ok_or_else(|| {
            let shown = if shown.is_empty() {
                "the value is missing".into()
            } else {
                format!("{} is not a number", quoted(&shown))
            };
            self.refuse(&column.name, format!("{shown}; correct the value or remove the row"))
        })
    }

    fn refuse(&self, column: &str, problem: impl Into<Message>) -> Error {
        let (path, column) = (self.path.to_path_buf(), column.to_owned());
        apportion_io::Error::Value { path, row: self.row, column, problem: problem.into() }.into()
    }
}

/// A column of numbers, which text files store as text.
struct Numbers {
    name: String,
    values: Values,
}

enum Values {
    Numbers(NumberColumn),
    Text(PlainTexts),
}

impl Numbers {
    fn of(batch: &ColumnBatch, name: &str) -> Result<Numbers> {
        let values = match batch.value_column(name)? {
            ValueColumn::Numbers(numbers) => Values::Numbers(numbers),
            ValueColumn::Text(_) => Values::Text(batch.texts(name)?),
        };
        Ok(Numbers { name: name.to_owned(), values })
    }
}

//! The new columns of each row: scores and match information.

use apportion_bisg::{Bisg, Level, MatchInfo, NameChanges, NameMatch};
use apportion_io::{ColumnBatches, Input, PlainColumn, PlainValues};
use rayon::prelude::*;

use super::passes::AllPeople;
use super::people::{Lookup, NameCache, People, Scored};
use super::tally::Tally;

/// Scores people batch by batch.
pub(super) struct Scorer<'a> {
    lookup: Lookup<'a>,
    all: &'a AllPeople,
    batches: ColumnBatches<'a>,
    cache: NameCache,
    pub(super) tally: Tally,
}

impl<'a> Scorer<'a> {
    /// Starts at the first row.
    pub(super) fn new(lookup: Lookup<'a>, all: &'a AllPeople, input: &'a Input) -> Scorer<'a> {
        let batches = ColumnBatches::new(input, &lookup.columns.all());
        Scorer { lookup, all, batches, cache: NameCache::default(), tally: Tally::new(lookup.bisg) }
    }

    /// Scores all rows, `batch_rows` at a time.
    pub(super) fn score_all(&mut self, layout: &Layout, batch_rows: usize) -> apportion_io::Result<Vec<PlainColumn>> {
        let mut all = layout.no_rows();
        loop {
            let more = self.score_rows(layout, all.rows, batch_rows)?;
            if more.rows == 0 {
                return Ok(layout.columns(all));
            }
            all.append(more);
        }
    }

    /// Returns the new columns of the next rows, starting with row `first`.
    pub(super) fn next_columns(
        &mut self,
        layout: &Layout,
        first: usize,
        rows: usize,
    ) -> apportion_io::Result<Vec<PlainColumn>> {
        Ok(layout.columns(self.score_rows(layout, first, rows)?))
    }

    fn score_rows(&mut self, layout: &Layout, first: usize, rows: usize) -> apportion_io::Result<NewRows> {
        let bisg = self.lookup.bisg;
        let (mut scored, mut row): (Vec<Scored>, usize) = (Vec::new(), first);
        for batch in self.batches.next_rows(rows)? {
            let people = People::new(&batch, self.lookup, &mut self.cache)?;
            let adjustment = self.all.adjustment(row, self.lookup);
            row += people.len();
            scored.extend(people.score(bisg, adjustment));
        }
        scored.iter().for_each(|some| self.tally.merge(&some.tally));
        Ok(layout.rows(&scored))
    }
}

/// The names and types of the new columns.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The names of the score columns, one for each class.
    score_names: Vec<String>,
    /// Columns with match information.
    match_columns: Vec<MatchColumn>,
    levels: Vec<&'static str>,
    /// Whether the code of each person's county is written.
    pub(super) writes_counties: bool,
}

/// The name of the column with the codes of counties.
pub(super) const COUNTY: &str = "county_fips";

/// A column with match information.
#[derive(Clone, Debug)]
struct MatchColumn {
    name: String,
    kind: MatchKind,
}

#[derive(Clone, Copy, Debug)]
enum MatchKind {
    Surname,
    FirstName,
    MiddleName,
    Changes,
    Place,
    Dropped,
}

/// The values of some rows, by column.
struct NewRows {
    rows: usize,
    scores: Vec<Vec<f64>>,
    /// Indices of words.
    matches: Vec<Vec<u8>>,
    /// Codes of counties, if they are written.
    counties: Vec<u64>,
}

impl NewRows {
    fn append(&mut self, mut more: NewRows) {
        self.rows += more.rows;
        self.scores.iter_mut().zip(&mut more.scores).for_each(|(own, more)| own.append(more));
        self.matches.iter_mut().zip(&mut more.matches).for_each(|(own, more)| own.append(more));
        self.counties.append(&mut more.counties);
    }
}

impl Layout {
    pub(super) fn new(prefix: &str, classes: &[String], bisg: &Bisg, writes_counties: bool) -> Layout {
        // With the default prefix, only score columns have a prefix.
        let match_prefix = if prefix == "p_" { "" } else { prefix };
        let mut kinds = vec![("surname_match", MatchKind::Surname)];
        if bisg.has_first_names() {
            kinds.push(("first_name_match", MatchKind::FirstName));
        }
        if bisg.has_middle_names() {
            kinds.push(("middle_name_match", MatchKind::MiddleName));
        }
        kinds.push(("name_changes", MatchKind::Changes));
        kinds.extend([("place_used", MatchKind::Place), ("dropped", MatchKind::Dropped)]);
        let column = |(name, kind): (&str, MatchKind)| MatchColumn { name: format!("{match_prefix}{name}"), kind };
        Layout {
            score_names: classes.iter().map(|class| format!("{prefix}{class}")).collect(),
            match_columns: kinds.into_iter().map(column).collect(),
            levels: bisg.levels().into_iter().map(Level::name).chain(["none"]).collect(),
            writes_counties,
        }
    }

    /// Returns the names of the columns.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let matches = self.match_columns.iter().map(|column| column.name.as_str());
        self.score_names.iter().map(String::as_str).chain(matches)
    }

    /// Returns the columns without rows.
    pub(super) fn empty_columns(&self) -> Vec<PlainColumn> {
        self.columns(self.no_rows())
    }

    fn no_rows(&self) -> NewRows {
        let scores = vec![Vec::new(); self.score_names.len()];
        NewRows { rows: 0, scores, matches: vec![Vec::new(); self.match_columns.len()], counties: Vec::new() }
    }

    /// Collects the values of each column.
    fn rows(&self, scored: &[Scored]) -> NewRows {
        let k = self.score_names.len();
        let rows = scored.iter().map(|some| some.matches.len()).sum();
        let score_column = |class: usize| {
            let mut values: Vec<f64> = Vec::with_capacity(rows);
            scored.iter().for_each(|some| values.extend(some.scores.iter().skip(class).step_by(k)));
            values
        };
        let match_column = |column: &MatchColumn| {
            let mut codes: Vec<u8> = Vec::with_capacity(rows);
            scored.iter().for_each(|some| codes.extend(some.matches.iter().map(|info| self.code(column.kind, info))));
            codes
        };
        NewRows {
            rows,
            scores: (0..k).into_par_iter().map(score_column).collect(),
            matches: self.match_columns.iter().map(match_column).collect(),
            counties: scored.iter().flat_map(|some| &some.counties).copied().collect(),
        }
    }

    fn columns(&self, rows: NewRows) -> Vec<PlainColumn> {
        let mut columns = Vec::new();
        for (name, scores) in self.score_names.iter().zip(rows.scores) {
            columns.push(PlainColumn { name: name.clone(), values: PlainValues::Double(scores) });
        }
        for (column, codes) in self.match_columns.iter().zip(rows.matches) {
            let words = self.words(column.kind);
            columns.push(PlainColumn { name: column.name.clone(), values: PlainValues::Words { codes, words } });
        }
        if self.writes_counties {
            let codes = rows.counties.into_iter().map(county_code).collect();
            columns.push(PlainColumn { name: COUNTY.into(), values: PlainValues::Text(codes) });
        }
        columns
    }

    /// Returns the words of a column.
    fn words(&self, kind: MatchKind) -> Vec<String> {
        let words: &[&str] = match kind {
            MatchKind::Surname | MatchKind::FirstName | MatchKind::MiddleName => &NameMatch::ALL.map(NameMatch::name),
            MatchKind::Changes => {
                let sets = 0..NameChanges::SETS as u8;
                return sets.map(|bits| NameChanges::from_bits(bits).describe()).collect();
            }
            MatchKind::Place => &self.levels,
            MatchKind::Dropped => return (0..1 << DROPPED.len()).map(dropped_words).collect(),
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    /// Returns the index of the word of a person.
    fn code(&self, kind: MatchKind, info: &MatchInfo) -> u8 {
        match kind {
            MatchKind::Surname => info.surname as u8,
            MatchKind::FirstName => info.first_name as u8,
            MatchKind::MiddleName => info.middle_name as u8,
            MatchKind::Changes => info.changes.bits(),
            MatchKind::Place => info.place.unwrap_or(self.levels.len() as u8 - 1),
            MatchKind::Dropped => {
                u8::from(info.without_surname)
                    + 2 * u8::from(info.without_first_name)
                    + 4 * u8::from(info.without_middle_name)
                    + 8 * u8::from(info.place.is_none())
            }
        }
    }
}

/// Returns the five digits of a county, or nothing if it is unknown.
fn county_code(code: u64) -> String {
    if code == 0 { String::new() } else { format!("{code:05}") }
}

/// Information that a score may not use, by bit.
const DROPPED: [&str; 4] = ["surname", "first name", "middle name", "place"];

/// Returns the information that a score does not use, by bit mask.
fn dropped_words(mask: usize) -> String {
    let parts = DROPPED.iter().enumerate().filter(|(bit, _)| mask & 1 << bit != 0).map(|(_, part)| *part);
    parts.collect::<Vec<_>>().join("+")
}

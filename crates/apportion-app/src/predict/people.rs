//! A batch of people: looks up their names and places in the tables of a model, and computes their scores.

use std::sync::Arc;

use apportion_bisg::{
    Bisg, Cells, KnownMargins, Level, MarginRows, Margins, MatchInfo, NameId, Person, Place, RakedCells, Scratch,
};
use apportion_io::{ColumnBatch, DictionaryTexts, NumberColumn, PlaceCode, PlainTexts, TextColumn, ValueColumn};
use rayon::prelude::*;

use super::columns::PeopleColumns;
use super::counties::code_of_county;
use super::tally::Tally;
use super::whole_names::{FindPart, WholeNamePart};

/// Number of people whose scores one thread computes at a time.
const CHUNK: usize = 4096;

/// The place ID of people without a known place.
pub(super) const NO_PLACE: u64 = u64::MAX;

/// The tables in which names and places are looked up.
#[derive(Clone, Copy)]
pub(super) struct Lookup<'a> {
    pub(super) columns: &'a PeopleColumns,
    pub(super) bisg: &'a Bisg,
    /// Margins by surname or place to which people are raked.
    pub(super) margins: Option<&'a KnownMargins>,
    /// Whether the code of each person's county is written.
    pub(super) writes_counties: bool,
}

/// The scores of some people, row by row, with match information.
pub(super) struct Scored {
    pub(super) scores: Vec<f64>,
    pub(super) matches: Vec<MatchInfo>,
    /// The code of each person's county, 0 if it is unknown; empty if counties are not written.
    pub(super) counties: Vec<u64>,
    pub(super) tally: Tally,
}

/// One person, with the scores before and after the adjustment by a model that uses all people.
pub(super) struct OnePerson<'a> {
    /// The surname, first name and middle name as written; `None` if the model does not use them.
    pub(super) names: [Option<String>; 3],
    pub(super) person: Person<'a>,
    pub(super) info: MatchInfo,
    pub(super) before: Vec<f64>,
    pub(super) scores: Vec<f64>,
    /// The rows in margins by surname or place.
    pub(super) margin_rows: Option<MarginRows>,
}

/// How a model that uses all people adjusts the scores.
#[derive(Clone, Copy)]
pub(super) enum Adjustment<'a> {
    /// No adjustment.
    None,
    /// Scores are multiplied by the weights of the classes.
    Weights(&'a [f64]),
    /// Scores are replaced by these of fBISG, for each person of the batch.
    Means(&'a [f32]),
    /// Scores are replaced by those of each cell, raked to margins by surname and place.
    Raked(&'a RakedCells, &'a KnownMargins),
}

/// The columns of a batch.
pub(super) struct People {
    surname: Names,
    first_name: Option<Names>,
    middle_name: Option<Names>,
    /// Whether the columns of names contain whole names.
    are_whole_names: bool,
    own_place: Option<PlainTexts>,
    codes: Vec<Codes>,
    within: Option<u64>,
    writes_counties: bool,
    /// Surnames looked up in a margin by surname.
    margin_names: Option<Names>,
}

/// A column of names.
enum Names {
    /// Names that are looked up row by row.
    PlainTexts(PlainTexts),
    /// A dictionary whose words have been looked up.
    Found(DictionaryTexts, Arc<Vec<NameId>>),
}

/// A column of place codes.
struct Codes {
    level: Level,
    values: CodeValues,
}

enum CodeValues {
    PlainTexts(PlainTexts),
    Numbers(NumberColumn),
    /// A dictionary, and the code of each word.
    Dictionary(DictionaryTexts, Vec<Option<PlaceCode>>),
}

/// Words that have been looked up. Batches of a file often share their words.
#[derive(Default)]
pub(super) struct NameCache {
    surnames: Option<FoundWords>,
    first_names: Option<FoundWords>,
    middle_names: Option<FoundWords>,
    margin_names: Option<FoundWords>,
}

struct FoundWords {
    words: PlainTexts,
    ids: Arc<Vec<NameId>>,
}

impl People {
    /// Reads the names and places of a batch, and looks up the words of names that are dictionaries.
    pub(super) fn new(batch: &ColumnBatch, lookup: Lookup<'_>, cache: &mut NameCache) -> apportion_io::Result<People> {
        let Lookup { columns, bisg, margins, writes_counties } = lookup;
        let [surname_part, first_part, middle_part] = WholeNamePart::ALL.map(|part| part.if_whole(columns.is_whole));
        let surname = Names::new(batch, &columns.surname, &mut cache.surnames, |name, scratch| {
            surname_part.find(name, |name| bisg.find_surname(name, scratch))
        })?;
        let first_name = columns.first_name.as_ref().map(|column| {
            Names::new(batch, column, &mut cache.first_names, |name, scratch| {
                first_part.find(name, |name| bisg.find_first_name(name, scratch))
            })
        });
        let middle_name = columns.middle_name.as_ref().map(|column| {
            Names::new(batch, column, &mut cache.middle_names, |name, scratch| {
                middle_part.find(name, |name| bisg.find_middle_name(name, scratch))
            })
        });
        let margin_names = margins.map(|margins| {
            Names::new(batch, &columns.surname, &mut cache.margin_names, |name, scratch| {
                surname_part.find(name, |name| margins.find_name(name, scratch))
            })
        });
        let codes = columns.codes.iter().map(|(level, column)| Codes::new(batch, column, *level));
        Ok(People {
            surname,
            first_name: first_name.transpose()?,
            middle_name: middle_name.transpose()?,
            are_whole_names: columns.is_whole,
            own_place: columns.own_place.as_ref().map(|column| batch.texts(column)).transpose()?,
            codes: codes.collect::<apportion_io::Result<_>>()?,
            within: columns.within,
            writes_counties,
            margin_names: margin_names.transpose()?,
        })
    }

    /// Returns the number of people.
    pub(super) fn len(&self) -> usize {
        match &self.surname {
            Names::PlainTexts(texts) => texts.len(),
            Names::Found(dictionary, _) => dictionary.len(),
        }
    }

    /// Scores all people, in chunks.
    pub(super) fn score(&self, bisg: &Bisg, adjustment: Adjustment<'_>) -> Vec<Scored> {
        self.in_chunks(|start, end| {
            let (mut scored, people) = self.score_range(bisg, start, end);
            self.adjust(bisg, adjustment, start, &people, &mut scored);
            if self.writes_counties {
                scored.counties.extend(people.iter().map(|person| bisg.county_of(&person.place).unwrap_or(0)));
            }
            let rows = scored.matches.iter().zip(scored.scores.chunks_exact(bisg.classes()));
            rows.for_each(|(info, scores)| scored.tally.add(info, scores));
            scored
        })
    }

    /// Scores one person.
    pub(super) fn score_one(
        &self,
        lookup: Lookup<'_>,
        adjustment: Adjustment<'_>,
        row: usize,
    ) -> Option<OnePerson<'_>> {
        let bisg = lookup.bisg;
        let (mut scored, people) = self.score_range(bisg, row, row + 1);
        let before = scored.scores.clone();
        self.adjust(bisg, adjustment, row, &people, &mut scored);
        let margin_rows = lookup.margins.and_then(|margins| self.margin_rows(row, &people, margins).pop());
        let columns = [Some(&self.surname), self.first_name.as_ref(), self.middle_name.as_ref()];
        let mut names = columns.map(|names| names.map(|names| names.text(row).to_owned()));
        if self.are_whole_names {
            for (name, part) in names.iter_mut().zip(WholeNamePart::ALL) {
                name.iter_mut().for_each(|name| *name = part.of(name));
            }
        }
        Some(OnePerson {
            names,
            person: *people.first()?,
            info: *scored.matches.first()?,
            before,
            scores: scored.scores,
            margin_rows,
        })
    }

    /// Computes something from each chunk of people in parallel; returns the results in order.
    fn in_chunks<T: Send>(&self, compute: impl Fn(usize, usize) -> T + Sync) -> Vec<T> {
        let starts: Vec<usize> = (0..self.len()).step_by(CHUNK).collect();
        starts.into_par_iter().map(|start| compute(start, self.len().min(start + CHUNK))).collect()
    }

    /// Returns the sums that raking to one margin needs, at some weights.
    pub(super) fn margins(&self, bisg: &Bisg, weights: &[f64]) -> Vec<Margins> {
        self.in_chunks(|start, end| {
            let (scored, _) = self.score_range(bisg, start, end);
            let mut margins = Margins::new(bisg.classes());
            scored.scores.chunks_exact(bisg.classes()).for_each(|scores| margins.add(scores, weights));
            margins
        })
    }

    /// Counts people by their rows in margins by surname and place, and by their scores.
    pub(super) fn cells(&self, bisg: &Bisg, margins: &KnownMargins) -> Vec<Cells> {
        self.in_chunks(|start, end| {
            let (scored, people) = self.score_range(bisg, start, end);
            let mut cells = Cells::default();
            let rows = self.margin_rows(start, &people, margins);
            for (rows, scores) in rows.into_iter().zip(scored.scores.chunks_exact(bisg.classes())) {
                cells.add(rows, scores);
            }
            cells
        })
    }

    /// Returns the input of fBISG for each person: the names, and the ID of the place.
    pub(super) fn names_and_places(&self, bisg: &Bisg) -> Vec<Vec<([NameId; 3], u64)>> {
        self.in_chunks(|start, end| {
            let people = self.range(bisg, start, end, &mut Tally::new(bisg));
            let place = |person: &Person<'_>| bisg.place_of(&person.place).unwrap_or(NO_PLACE);
            let names = |person: &Person<'_>| [person.surname, person.first_name, person.middle_name];
            people.iter().map(|person| (names(person), place(person))).collect()
        })
    }

    /// Looks up a range of people.
    fn range(&self, bisg: &Bisg, start: usize, end: usize, tally: &mut Tally) -> Vec<Person<'_>> {
        let mut scratch = Scratch::default();
        let [surname_part, first_part, middle_part] =
            WholeNamePart::ALL.map(|part| part.if_whole(self.are_whole_names));
        let surnames = self.surname.ids(start, end, |names, ids| match surname_part {
            None => bisg.find_surnames(names, &mut scratch, ids),
            part => ids.extend(names.map(|name| part.find(name, |name| bisg.find_surname(name, &mut scratch)))),
        });
        let first_names = match &self.first_name {
            Some(names) => names.ids(start, end, |names, ids| match first_part {
                None => bisg.find_first_names(names, &mut scratch, ids),
                part => ids.extend(names.map(|name| part.find(name, |name| bisg.find_first_name(name, &mut scratch)))),
            }),
            None => vec![NameId::MISSING; end - start],
        };
        let middle_names = match &self.middle_name {
            Some(names) => names.ids(start, end, |names, ids| match middle_part {
                None => bisg.find_middle_names(names, &mut scratch, ids),
                part => ids.extend(names.map(|name| part.find(name, |name| bisg.find_middle_name(name, &mut scratch)))),
            }),
            None => vec![NameId::MISSING; end - start],
        };
        let places = (start..end).map(|row| self.place(row, tally));
        let named = surnames.into_iter().zip(first_names).zip(middle_names).zip(places);
        let person = |(((surname, first_name), middle_name), place)| Person { surname, first_name, middle_name, place };
        named.map(person).collect()
    }

    /// Returns the rows of people, from row `start` on, in margins by surname and place.
    fn margin_rows(&self, start: usize, people: &[Person<'_>], margins: &KnownMargins) -> Vec<MarginRows> {
        let (mut scratch, end) = (Scratch::default(), start + people.len());
        let names = match &self.margin_names {
            Some(names) => {
                names.ids(start, end, |names, ids| match WholeNamePart::Surname.if_whole(self.are_whole_names) {
                    None => margins.find_names(names, &mut scratch, ids),
                    part => ids.extend(names.map(|name| part.find(name, |name| margins.find_name(name, &mut scratch)))),
                })
            }
            None => vec![NameId::MISSING; people.len()],
        };
        names.into_iter().zip(people).map(|(name, person)| margins.rows(name, &person.place)).collect()
    }

    /// Scores a range of people by names and places.
    fn score_range(&self, bisg: &Bisg, start: usize, end: usize) -> (Scored, Vec<Person<'_>>) {
        let mut scored = Scored {
            scores: vec![0.0; (end - start) * bisg.classes()],
            matches: Vec::with_capacity(end - start),
            counties: Vec::new(),
            tally: Tally::new(bisg),
        };
        let people = self.range(bisg, start, end, &mut scored.tally);
        bisg.score_all(&people, &mut scored.scores, &mut scored.matches);
        (scored, people)
    }

    /// Adjusts the scores of people from row `start` on.
    fn adjust(
        &self,
        bisg: &Bisg,
        adjustment: Adjustment<'_>,
        start: usize,
        people: &[Person<'_>],
        scored: &mut Scored,
    ) {
        let k = bisg.classes();
        let rows = scored.scores.chunks_exact_mut(k);
        match adjustment {
            Adjustment::None => {}
            Adjustment::Weights(weights) => rows.for_each(|scores| reweight(scores, weights)),
            Adjustment::Means(means) => {
                let means = means.get(start * k..).unwrap_or_default().chunks_exact(k);
                for (((scores, means), person), info) in rows.zip(means).zip(people).zip(&mut scored.matches) {
                    if set_means(scores, means)
                        && let Some((level, row)) = bisg.place_of(&person.place).and_then(|place| bisg.level_at(place))
                    {
                        (info.place, info.place_row) = (Some(level), row);
                    }
                }
            }
            Adjustment::Raked(raked, margins) => {
                let margin_rows = self.margin_rows(start, people, margins);
                rows.zip(margin_rows).for_each(|(scores, rows)| raked.apply(rows, scores));
            }
        }
    }

    /// Returns the place of a person. Larger places are read first, because the codes of smaller ones may be relative
    /// to them.
    #[inline]
    fn place(&self, row: usize, tally: &mut Tally) -> Place<'_> {
        let mut place = Place {
            own: self.own_place.as_ref().map(|names| names.get(row)),
            code: self.within.map(|state| (Level::State, state)),
            ..Place::default()
        };
        let (mut state, mut county) = (self.within, None);
        for codes in self.codes.iter().rev() {
            let (level, Some(code)) = (codes.level, codes.get(row, state)) else { continue };
            let code = match (level, code.code) {
                (Level::County, part @ 0..1_000) => state.map(|state| state * 1_000 + part),
                (Level::Tract, part @ 0..1_000_000) => county.map(|county: u64| county * 1_000_000 + part),
                (_, whole) => {
                    tally.repaired += u64::from(code.repaired);
                    Some(whole)
                }
            };
            let Some(code) = code else { continue };
            match level {
                Level::Zcta => place.zcta = Some(code),
                Level::State => state = Some(code),
                Level::County => county = Some(code),
                Level::Own | Level::BlockGroup | Level::Tract | Level::ZipPrefix | Level::Nation | Level::All => {}
            }
            if level.is_nested() {
                place.wider.rotate_right(1);
                place.wider[0] = place.code.replace((level, code));
            }
        }
        place
    }
}

/// Sets scores to means, which sum to one after rounding. Returns whether there are any; if not, the scores are unchanged.
fn set_means(scores: &mut [f64], means: &[f32]) -> bool {
    let sum: f64 = means.iter().copied().map(f64::from).sum();
    if sum > 0.0 {
        scores.iter_mut().zip(means).for_each(|(score, &mean)| *score = f64::from(mean) / sum);
    }
    sum > 0.0
}

/// Multiplies scores by the weights of the classes. If all products are zero, the scores are unchanged.
fn reweight(scores: &mut [f64], weights: &[f64]) {
    let sum: f64 = scores.iter().zip(weights).map(|(score, weight)| score * weight).sum();
    if sum > 0.0 {
        scores.iter_mut().zip(weights).for_each(|(score, weight)| *score *= weight / sum);
    }
}

impl Names {
    /// Reads a column. The words of a dictionary are looked up in parallel, unless they are cached.
    fn new(
        batch: &ColumnBatch,
        column: &str,
        cache: &mut Option<FoundWords>,
        find: impl Fn(&str, &mut Scratch) -> NameId + Sync,
    ) -> apportion_io::Result<Names> {
        let dictionary = match batch.text_column(column)? {
            TextColumn::Plain(texts) => return Ok(Names::PlainTexts(texts)),
            TextColumn::Dictionary(dictionary) => dictionary,
        };
        let words = dictionary.words();
        if let Some(found) = cache.as_ref().filter(|found| found.words.is_same_memory(words)) {
            return Ok(Names::Found(dictionary, found.ids.clone()));
        }
        let starts: Vec<usize> = (0..words.len()).step_by(CHUNK).collect();
        let chunk = |start: usize| -> Vec<NameId> {
            let mut scratch = Scratch::default();
            (start..words.len().min(start + CHUNK)).map(|word| find(words.get(word), &mut scratch)).collect()
        };
        let ids: Vec<Vec<NameId>> = starts.into_par_iter().map(chunk).collect();
        let ids = Arc::new(ids.concat());
        *cache = Some(FoundWords { words: words.clone(), ids: ids.clone() });
        Ok(Names::Found(dictionary, ids))
    }

    /// Returns the name of a row as written; an empty text if it is missing.
    fn text(&self, row: usize) -> &str {
        match self {
            Names::PlainTexts(texts) => texts.get(row),
            Names::Found(dictionary, _) => dictionary.code(row).map_or("", |code| dictionary.words().get(code)),
        }
    }

    /// Returns the names of a range of rows, looked up in a table.
    fn ids(
        &self,
        start: usize,
        end: usize,
        find: impl FnOnce(&mut dyn Iterator<Item = &str>, &mut Vec<NameId>),
    ) -> Vec<NameId> {
        let mut all = Vec::with_capacity(end - start);
        match self {
            Names::PlainTexts(texts) => find(&mut (start..end).map(|row| texts.get(row)), &mut all),
            Names::Found(dictionary, ids) => {
                let id = |row: usize| dictionary.code(row).and_then(|code| ids.get(code).copied());
                all.extend((start..end).map(|row| id(row).unwrap_or(NameId::MISSING)));
            }
        }
        all
    }
}

impl Codes {
    fn new(batch: &ColumnBatch, column: &str, level: Level) -> apportion_io::Result<Codes> {
        let values = match batch.value_column(column)? {
            ValueColumn::Numbers(numbers) => CodeValues::Numbers(numbers),
            ValueColumn::Text(TextColumn::Plain(texts)) => CodeValues::PlainTexts(texts),
            // If a dictionary has more words than rows, parsing its words first is slower.
            ValueColumn::Text(TextColumn::Dictionary(dictionary)) if dictionary.words().len() > dictionary.len() => {
                CodeValues::PlainTexts(batch.texts(column)?)
            }
            ValueColumn::Text(TextColumn::Dictionary(dictionary)) => {
                let words = dictionary.words();
                let codes = (0..words.len()).map(|word| PlaceCode::from_text(words.get(word), level)).collect();
                CodeValues::Dictionary(dictionary, codes)
            }
        };
        Ok(Codes { level, values })
    }

    /// Returns the code of a row. Names of counties need a known state.
    #[inline]
    fn get(&self, row: usize, state: Option<u64>) -> Option<PlaceCode> {
        let code = match &self.values {
            CodeValues::Numbers(numbers) => {
                numbers.get(row).and_then(|number| PlaceCode::from_number(number, self.level))
            }
            CodeValues::PlainTexts(texts) => PlaceCode::from_text(texts.get(row), self.level),
            CodeValues::Dictionary(dictionary, codes) => {
                dictionary.code(row).and_then(|code| codes.get(code).copied()).flatten()
            }
        };
        code.or_else(|| self.county_by_name(row, state))
    }

    /// Returns the code of a county by its name.
    fn county_by_name(&self, row: usize, state: Option<u64>) -> Option<PlaceCode> {
        if self.level != Level::County {
            return None;
        }
        let name = match &self.values {
            CodeValues::Numbers(_) => return None,
            CodeValues::PlainTexts(texts) => texts.get(row),
            CodeValues::Dictionary(dictionary, _) => dictionary.words().get(dictionary.code(row)?),
        };
        Some(PlaceCode { code: code_of_county(state?, name)?, repaired: false })
    }
}

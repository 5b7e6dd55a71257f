//! Explains the scores of one row of `predict`: the rows of the tables that were used, and the numbers by class whose
//! product, divided by its sum, is the scores.
//!
//! ```text
//! row ──▶ names ─┐
//!         place ─┴─▶ factors ──▶ product ──(rake, fbisg: all people)──▶ scores
//! ```

mod factors;
mod names;
mod place;
mod text;

use apportion::text::{Message, Setting};
use apportion_bisg::{Factor, Gibbs, Level, NameRole};
use apportion_io::{ColumnBatch, ColumnBatches, Input};
use serde::{Deserialize, Serialize};

use super::columns::{PeopleColumns, has_first_names};
use super::passes::{AllPeople, ROWS};
use super::people::{Lookup, NameCache, OnePerson, People};
use super::setup::Setup;
use super::sources::TableFiles;
use super::{Model, note_columns};
use crate::text::{count, counted};
use crate::{Context, Error, Result};

pub use self::factors::ExplainedFactor;
pub use self::names::{ExplainedName, ExplainedRow, Smoothing};
pub use self::place::{PlaceResult, TriedPlace};

/// The settings of the job: those of `predict` that affect scores, and the row.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The people, the model and its tables.
    #[serde(flatten)]
    pub predict: super::Request,
    /// The row, from 1, over all inputs in order. The header is not counted.
    pub row: u64,
}

/// The scores of one row, and the numbers behind them.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Response {
    /// The version of the program.
    pub apportion: String,
    /// The model.
    pub model: Model,
    /// The row, from 1, over all inputs in order.
    pub row: u64,
    /// The names of the classes. Other lists are in this order.
    pub classes: Vec<String>,
    /// The surname.
    pub surname: ExplainedName,
    /// The first name, if the model uses first names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_name: Option<ExplainedName>,
    /// The middle name, if the model uses middle names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub middle_name: Option<ExplainedName>,
    /// The places that were looked up, from the smallest to the one that was used.
    pub places: Vec<TriedPlace>,
    /// The formula of the scores; r is a class.
    pub formula: String,
    /// The factors of the product, in the order of the formula.
    pub factors: Vec<ExplainedFactor>,
    /// The product of the factors.
    pub product: Vec<f64>,
    /// `rake`, `fbisg`: the product divided by its sum, which is the score before all people are used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Vec<f64>>,
    /// `rake`: the weight of each class, by which `before` is multiplied. By surname and place, `scores` divided by
    /// `before`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
    /// `rake` by surname and place: the rows of the margins that count the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margins: Option<Vec<ExplainedRow>>,
    /// `rake`: the number of passes or rounds over all people in which the weights were found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes: Option<usize>,
    /// `fbisg`: the draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draws: Option<Draws>,
    /// The scores, as `predict` writes them.
    pub scores: Vec<f64>,
    /// Remarks, for example if no name and no place of the row are known.
    pub remarks: Vec<String>,
    /// The row, the input and the model in words.
    #[serde(skip)]
    pub title: String,
}

/// The draws of fBISG in the place of a person.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Draws {
    /// The number of people of the input in the place, including this one.
    pub people: u64,
    /// The seed.
    pub seed: u64,
    /// The number of sweeps that were discarded.
    pub burn_in: u16,
    /// The number of sweeps whose probabilities were averaged.
    pub sweeps: u16,
}

/// Explains the scores of one row.
///
/// # Errors
/// If the input does not have the row, or `predict` refuses the settings, files or tables.
pub fn run(request: &Request, context: &Context) -> Result<Response> {
    request.predict.check()?;
    context.install(|| explain(request, context))
}

fn explain(request: &Request, context: &Context) -> Result<Response> {
    let input = request.predict.source.open(context)?;
    let mut predict = request.predict.clone();
    predict.choose_model(has_first_names(&input.columns(0)?));
    let columns = PeopleColumns::find(&predict, &input)?;
    let tables = TableFiles::read(&predict, &columns)?;
    let setup = Setup::new(&predict, columns, tables.clone(), context)?;
    note_columns(&predict, &input, &setup.columns, context);
    let Setup { columns, classes, bisg, margins, .. } = &setup;
    let found = FoundRow::find(&input, &columns.all(), request.row, context)?;

    let lookup = Lookup { columns, bisg, margins: margins.as_ref(), writes_counties: false };
    let row = found.first + found.row;
    let margin = setup.margin.as_deref();
    let all = AllPeople::collect(&predict, &input, lookup, margin, classes.names(), Some(row), context)?;
    let people = People::new(&found.batch, lookup, &mut NameCache::default())?;
    let scored = people.score_one(lookup, all.adjustment(found.first, lookup), found.row);
    let scored = scored.ok_or_else(|| no_row(&input, request.row, row))?;
    let explanation = Explanation { request: &predict, setup: &setup, tables: &tables, all: &all, scored: &scored };
    let inputs = match input.names().len() {
        1 => input.name(0).display().to_string(),
        several => counted(several as u64, "input", "inputs"),
    };
    let title = format!("row {} of {inputs}: {}", count(request.row), predict.describe_model());
    Ok(Response { row: request.row, title, ..explanation.response()? })
}

/// The batch that contains a row.
struct FoundRow {
    batch: ColumnBatch,
    /// The row of its first person, from 0.
    first: usize,
    /// The row within the batch.
    row: usize,
}

impl FoundRow {
    /// Reads the input up to a row, which is counted from 1.
    fn find(input: &Input, columns: &[String], row: u64, context: &Context) -> Result<FoundRow> {
        let Some(wanted) = row.checked_sub(1).and_then(|row| usize::try_from(row).ok()) else {
            return Err(Error::settings(Message::from(Setting::Row) + ": rows are numbered from 1"));
        };
        let (mut batches, mut first) = (ColumnBatches::new(input, columns), 0);
        loop {
            context.check_cancelled()?;
            let some = batches.next_rows(ROWS)?;
            if some.is_empty() {
                return Err(no_row(input, row, first));
            }
            for batch in some {
                let rows = batch.rows();
                if wanted < first + rows {
                    return Ok(FoundRow { batch, first, row: wanted - first });
                }
                first += rows;
            }
        }
    }
}

/// Returns the error for a row after the end of the input.
fn no_row(input: &Input, row: u64, rows: usize) -> Error {
    let setting = Message::from(Setting::Row.with(row.to_string()));
    let inputs = match input.names().len() {
        1 => format!("{} has", input.name(0).display()),
        several => format!("the {several} inputs have"),
    };
    Error::data(match rows {
        0 => setting + format!(": {inputs} no rows; check how the input was made"),
        _ => {
            let counted = counted(rows as u64, "row", "rows");
            setting + format!(": {inputs} {counted}; choose a row from 1 to {rows} (headers are not counted)")
        }
    })
}

/// The parts of a response.
struct Explanation<'a> {
    request: &'a super::Request,
    setup: &'a Setup,
    tables: &'a TableFiles,
    all: &'a AllPeople,
    scored: &'a OnePerson<'a>,
}

impl Explanation<'_> {
    /// Returns the response, without the row and the title.
    fn response(&self) -> Result<Response> {
        let (bisg, OnePerson { person, info, .. }) = (&self.setup.bisg, self.scored);
        let factors = match self.is_drawn() {
            true => bisg.sampler_factors(person)?,
            false => bisg.factors(person, info),
        };
        let product = Factor::product(&factors, bisg.classes());
        let [surname, first_name, middle_name] = NameRole::ALL.map(|role| self.name(role));
        let places = self.places();
        let mut response = Response {
            apportion: env!("CARGO_PKG_VERSION").into(),
            model: self.request.model(),
            row: 0,
            title: String::new(),
            classes: self.setup.classes.names().to_vec(),
            formula: self.formula(&factors),
            factors: Vec::new(),
            surname: surname.unwrap_or_default(),
            first_name,
            middle_name,
            places,
            product,
            before: None,
            weights: None,
            margins: None,
            passes: None,
            draws: None,
            scores: self.scored.scores.clone(),
            remarks: Vec::new(),
        };
        response.factors = factors.iter().map(|factor| self.factor(factor, &response)).collect();
        self.add_all_people(&mut response);
        self.add_remarks(&mut response);
        Ok(response)
    }

    /// Returns whether the scores are those of the sampler of fBISG.
    fn is_drawn(&self) -> bool {
        matches!(self.all, AllPeople::Means(_)) && self.setup.bisg.place_of(&self.scored.person.place).is_some()
    }

    /// Adds how a model that uses all people changed the scores.
    fn add_all_people(&self, response: &mut Response) {
        let (before, scores) = (&self.scored.before, &self.scored.scores);
        match self.all {
            AllPeople::Unused => {}
            AllPeople::Weights(weights, passes) => {
                response.before = Some(before.clone());
                (response.weights, response.passes) = (Some(weights.clone()), Some(*passes));
            }
            AllPeople::Raked(_, fit) => {
                let weight = |(score, before): (&f64, &f64)| if *before > 0.0 { score / before } else { 0.0 };
                let weights = scores.iter().zip(before).map(weight).collect();
                (response.before, response.margins) = (Some(before.clone()), Some(self.margin_rows()));
                (response.weights, response.passes) = (Some(weights), Some(fit.rounds));
            }
            AllPeople::Means(means) if self.is_drawn() => {
                let sum: f64 = response.product.iter().sum();
                response.before = Some(response.product.iter().map(|product| product / sum).collect());
                // Only the people of this place have means.
                let people = means.chunks_exact(scores.len()).filter(|means| means.iter().sum::<f32>() > 0.0);
                let (people, Gibbs { seed, burn_in, kept: sweeps }) = (people.count() as u64, self.request.gibbs());
                response.draws = Some(Draws { people, seed, burn_in, sweeps });
            }
            AllPeople::Means(_) => {}
        }
    }

    fn add_remarks(&self, response: &mut Response) {
        let names = [Some(&response.surname), response.first_name.as_ref(), response.middle_name.as_ref()];
        let uses_names = names.into_iter().flatten().any(|name| name.is_used);
        let levels = self.setup.bisg.levels();
        let level = self.scored.info.place.and_then(|place| levels.get(usize::from(place)));
        let has_place = level.is_some_and(|level| !matches!(level, Level::Nation | Level::All));
        if !uses_names && !has_place {
            let remark = "no name and no place of this row are known; all such rows have the same factors";
            response.remarks.push(remark.into());
        }
        if !response.product.iter().any(|product| *product > 0.0) {
            response.remarks.push("the product is 0 for every class, so all scores are equal".into());
        }
    }
}

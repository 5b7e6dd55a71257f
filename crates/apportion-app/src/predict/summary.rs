//! The response of the job: the model, match statistics, and mean scores.

use apportion::Classes;
use apportion_bisg::{Bisg, MarginKey};

use super::columns::PeopleColumns;
use super::passes::AllPeople;
use super::sources::UsedTable;
use super::tally::Tally;
use super::{InMargins, PopulationFit, Request, Response, UnusedColumn};

/// The parts of a response.
pub(super) struct PredictSummary<'a> {
    pub(super) request: &'a Request,
    pub(super) columns: &'a PeopleColumns,
    pub(super) classes: &'a Classes,
    pub(super) bisg: &'a Bisg,
    pub(super) used: &'a [UsedTable],
    pub(super) population: String,
    /// The warning about a file of voters, if it looks like one.
    pub(super) voter_remark: Option<String>,
    pub(super) unused: Vec<UnusedColumn>,
    pub(super) margin: Option<Vec<f64>>,
    pub(super) all: &'a AllPeople,
    pub(super) tally: &'a Tally,
}

impl PredictSummary<'_> {
    /// Returns the response, without provenance, paths and scores.
    pub(super) fn response(self) -> Response {
        let tally = self.tally;
        let mut remarks = self.bisg.remarks().to_vec();
        remarks.extend(self.voter_remark.clone());
        remarks.extend(tally.warnings(self.columns.is_closer_than_state()));
        Response {
            apportion: env!("CARGO_PKG_VERSION").into(),
            model: self.request.model(),
            people: tally.people,
            classes: self.classes.names().to_vec(),
            columns: self.columns.by_content(),
            posterior: tally.posterior(),
            in_tables: tally.shares_in_places(self.bisg).or_else(|| self.bisg.margin().map(<[f64]>::to_vec)),
            surname_match: tally.surname_match(),
            first_name_match: tally.first_name_match(),
            middle_name_match: tally.middle_name_match(),
            name_changes: tally.name_changes(),
            place_used: tally.place_used(),
            dropped: tally.dropped(),
            repaired_codes: tally.repaired,
            tables: self.used.iter().map(|table| table.description.clone()).collect(),
            remarks,
            fit: self.fit(),
            within: self.request.within.clone(),
            margin: self.margin,
            population: self.population,
            unused: self.unused,
            provenance: None,
            has_place_people: self.bisg.has_people(),
            paths: Vec::new(),
            scores: Vec::new(),
        }
    }

    fn fit(&self) -> Option<PopulationFit> {
        match self.all {
            AllPeople::Unused => None,
            AllPeople::Weights(weights, passes) => {
                Some(PopulationFit::Raked { weights: weights.clone(), passes: *passes })
            }
            AllPeople::Means(_) => {
                let gibbs = self.request.gibbs();
                Some(PopulationFit::Drawn { seed: gibbs.seed, burn_in: gibbs.burn_in, sweeps: gibbs.kept })
            }
            AllPeople::Raked(raked, fit) => Some(PopulationFit::RakedByRow {
                cells: raked.cells(),
                rounds: fit.rounds,
                off: fit.off,
                in_margins: InMargins {
                    surname: raked.covered(MarginKey::Name),
                    place: raked.covered(MarginKey::Place),
                },
            }),
        }
    }
}

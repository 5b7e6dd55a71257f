//! The people whom the rules label: simulated voters, or the voters of the public file.

use apportion::simulate::{VoterTables, Voters};
use apportion::{Classes, Groups, Label, Matrix, Result, Scores};
use apportion_bisg::census::{CLASSES, counties, surnames};
use rayon::prelude::*;

use crate::plan::Plan;
use crate::voters::Made;

/// The number of classes.
const K: usize = CLASSES.len();

/// The share of voters whom the vendor left unlabeled; tab:table-dropuncoded excludes them.
const UNCODED_SHARE: f64 = 205_683.0 / (205_683.0 + 6_168_953.0);

/// People with scores, true classes and counties.
#[derive(Clone, Debug)]
pub(crate) struct People {
    /// The names of the counties.
    pub(crate) counties: Vec<String>,
    /// The county of each person.
    pub(crate) codes: Vec<u32>,
    /// The true class of each person.
    pub(crate) truth: Vec<Label>,
    /// The scores, person by person.
    pub(crate) values: Vec<f64>,
}

impl People {
    /// Simulates voters of North Carolina.
    pub(crate) fn simulated(plan: &Plan, made: Made) -> Result<People> {
        let people = |people: &[u64; K]| people.map(|count| count as f64).to_vec();
        let tables = VoterTables {
            counties: counties().iter().map(|county| people(&county.people)).collect(),
            surnames: surnames().iter().map(|surname| people(&surname.people)).collect(),
        };
        let mut rows = drawn(&Voters::new(&tables, &made.options(plan.voter_seed()))?, plan.voters);
        if made == Made::WithoutUncoded {
            drop_unsure(&mut rows, (plan.voters as f64 * UNCODED_SHARE).round() as usize);
        }
        Ok(People {
            counties: counties().iter().map(|county| county.name.to_owned()).collect(),
            codes: rows.iter().map(|row| row.county).collect(),
            truth: rows.iter().map(|row| row.truth).collect(),
            values: rows.iter().flat_map(|row| row.scores).collect(),
        })
    }

    /// Returns the scores, with truth and counties.
    pub(crate) fn scores<'a>(&'a self, classes: &'a Classes) -> Result<Scores<'a>> {
        Scores::new(classes, Matrix::RowsF64(&self.values))?
            .with_truth(&self.truth)?
            .with_groups(Groups { codes: &self.codes, names: &self.counties })
    }
}

struct Row {
    county: u32,
    truth: Label,
    scores: [f64; K],
}

fn drawn(voters: &Voters, rows: u64) -> Vec<Row> {
    let row = |index| {
        let voter = voters.person(index);
        let mut scores = [0.0; K];
        voters.scores(&voter, &mut scores);
        Row { county: voter.county, truth: voter.truth, scores }
    };
    (0..rows).into_par_iter().map(row).collect()
}

/// Removes the rows with the smallest maximum scores; the others keep their order.
fn drop_unsure(rows: &mut Vec<Row>, number: usize) {
    let largest = |row: &Row| row.scores.iter().copied().fold(0.0, f64::max);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| largest(&rows[a]).total_cmp(&largest(&rows[b])));
    let mut kept = vec![true; rows.len()];
    order[..number].iter().for_each(|&row| kept[row] = false);
    let mut kept = kept.into_iter();
    rows.retain(|_| kept.next().unwrap_or(true));
}

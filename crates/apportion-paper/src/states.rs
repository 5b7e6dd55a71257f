//! By how much argmax undercounts people who are not white in each state: fig:pocrep, from the built-in tables of the
//! Census of 2020 instead of the commercial file.
//!
//! The scores are BISG from surname s and place g: q(r) ∝ N_gr · P(s | r). The same model gives the expected number of
//! adults with this surname, class and place, N_gr · P(s | r). Both sums below are therefore over all surnames and
//! places of a state, without sampling:
//!
//! ```text
//! posterior   Σ_g Σ_(r ≠ white) N_gr
//! argmax      Σ_g Σ_s Σ_r N_gr · P(s | r)   for all s, g whose largest score is not that of white
//! ```

use apportion_bisg::census::{CLASSES, CensusRows, CensusTable};
use rayon::prelude::*;

const K: usize = CLASSES.len();

/// The name of Puerto Rico in the tables. It is not a state, and the paper does not include it.
const NOT_A_STATE: &str = "PR";

/// A state or the District of Columbia.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The postal abbreviation.
    pub name: String,
    /// Adults, in the order of [`CLASSES`].
    pub adults: [f64; K],
    /// The number of adults whom argmax labels with a class other than white, with scores from surname and county.
    pub argmax_by_county: f64,
    /// The same with scores from surname and state, which contain less information.
    pub argmax_by_state: f64,
}

impl State {
    /// Returns the number of adults.
    pub fn people(&self) -> f64 {
        self.adults.iter().sum()
    }

    /// Returns the share of adults who are not white, which is also the mean of the scores.
    pub fn posterior_share(&self) -> f64 {
        self.adults[1..].iter().sum::<f64>() / self.people()
    }

    /// Returns the share of adults whom argmax labels as not white, with scores from surname and county.
    pub fn argmax_share(&self) -> f64 {
        self.argmax_by_county / self.people()
    }

    /// Returns the share that argmax labels as not white minus the posterior share: negative if it undercounts.
    pub fn bias(&self) -> f64 {
        self.argmax_share() - self.posterior_share()
    }

    /// Returns the same with scores from surname and state.
    pub fn bias_by_state(&self) -> f64 {
        self.argmax_by_state / self.people() - self.posterior_share()
    }

    /// Returns the largest class.
    pub fn largest_class(&self) -> &'static str {
        // The first of equal classes, as argmax does.
        let larger = |best: usize, class: usize| if self.adults[class] > self.adults[best] { class } else { best };
        CLASSES[(1..K).fold(0, larger)]
    }
}

/// P(surname | class): for each class, a number per surname.
#[derive(Clone, Debug)]
struct SurnamesByClass([Vec<f64>; K]);

impl SurnamesByClass {
    /// Computes count · share of each surname, divided by their sum over all surnames.
    fn of(surnames: &CensusRows) -> SurnamesByClass {
        let counts = surnames.counts.iter().flatten();
        let mut by_class: [Vec<f64>; K] = std::array::from_fn(|_| Vec::with_capacity(surnames.rows()));
        for (shares, &count) in surnames.values.chunks_exact(K).zip(counts) {
            let sum: f64 = shares.iter().sum();
            by_class.iter_mut().zip(shares).for_each(|(class, share)| class.push(count as f64 * share / sum));
        }
        for class in &mut by_class {
            let sum: f64 = class.iter().sum();
            class.iter_mut().for_each(|people| *people /= sum);
        }
        SurnamesByClass(by_class)
    }

    /// Returns the expected number of adults of a place whom argmax labels with a class other than the first. Ties go to
    /// the first class.
    fn not_white(&self, adults: &[f64]) -> f64 {
        let [white, others @ ..] = &self.0;
        let mut labeled = 0.0;
        for (surname, white) in white.iter().enumerate() {
            let white = adults[0] * white;
            let (mut all, mut largest) = (white, 0.0);
            for (class, adults) in others.iter().zip(&adults[1..]) {
                let people = adults * class[surname];
                all += people;
                largest = f64::max(largest, people);
            }
            labeled += if largest > white { all } else { 0.0 };
        }
        labeled
    }
}

/// Computes the 50 states and the District of Columbia, in the order of their codes.
pub(crate) fn states() -> Vec<State> {
    let surnames = SurnamesByClass::of(&CensusTable::Surnames2020.load());
    let counties = CensusTable::Counties2020.load();
    let labeled: Vec<f64> = counties.values.par_chunks_exact(K).map(|adults| surnames.not_white(adults)).collect();
    let mut states: Vec<State> = Vec::new();
    for ((key, adults), labeled) in counties.keys().zip(counties.values.chunks_exact(K)).zip(labeled) {
        let name = key.split('\t').nth(1).unwrap_or_default();
        if states.last().is_none_or(|state| state.name != name) {
            let state = State { name: name.to_owned(), adults: [0.0; K], argmax_by_county: 0.0, argmax_by_state: 0.0 };
            states.push(state);
        }
        if let Some(state) = states.last_mut() {
            state.adults.iter_mut().zip(adults).for_each(|(all, adults)| *all += adults);
            state.argmax_by_county += labeled;
        }
    }
    states.retain(|state| state.name != NOT_A_STATE);
    states.par_iter_mut().for_each(|state| state.argmax_by_state = surnames.not_white(&state.adults));
    states
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_bisg::{Bisg, Level, ModelTables, NameTable, Numbers, Place, PlaceTable, Population, Scratch};

    /// Every surname in every county of one state, with the scores of the model that `predict` uses.
    #[test]
    fn a_state_is_the_sum_over_the_scores_of_the_model() {
        let (rows, counties) = (CensusTable::Surnames2020.load(), CensusTable::Counties2020.load());
        let names: Vec<&str> = rows.keys().collect();
        let counts = rows.counts.as_ref().map(|counts| counts.iter().map(|&count| count as f64).collect());
        let surnames = NameTable::new(K, names.iter().copied(), rows.values.clone(), Numbers::Shares, counts).unwrap();
        let codes = counties.codes().unwrap();
        let places =
            PlaceTable::by_code(Level::County, K, codes.iter().copied(), counties.values.clone(), Numbers::People)
                .unwrap();
        let tables = ModelTables { surnames, first_names: None, places: vec![places], prior: None };
        let model = Bisg::new(tables, &Population::Everybody).unwrap();
        let by_class = SurnamesByClass::of(&rows);
        // Delaware has three counties.
        let (mut scratch, mut scores) = (Scratch::default(), [0.0; K]);
        let (mut not_white, mut posterior) = (0.0, 0.0);
        for (code, adults) in codes.iter().zip(counties.values.chunks_exact(K)).filter(|(code, _)| *code / 1000 == 10) {
            let place = Place { code: Some((Level::County, *code)), ..Place::default() };
            for (index, name) in names.iter().enumerate() {
                let people: f64 = (0..K).map(|class| adults[class] * by_class.0[class][index]).sum();
                model.predict(name, "", &place, &mut scratch, &mut scores);
                let largest = scores[1..].iter().copied().fold(0.0, f64::max);
                not_white += if largest > scores[0] { people } else { 0.0 };
                posterior += people * (1.0 - scores[0]);
            }
        }
        let states = states();
        let found = states.iter().find(|state| state.name == "DE").unwrap();
        let people = found.people();
        assert!((found.argmax_by_county - not_white).abs() < 1e-4 * people, "{found:?} and {not_white}");
        assert!((found.posterior_share() - posterior / people).abs() < 1e-4, "{found:?} and {posterior}");
    }

    /// Three surnames, two classes that are not empty, by hand.
    #[test]
    fn people_are_labeled_by_the_largest_product() {
        let mut classes: [Vec<f64>; K] = std::array::from_fn(|_| vec![0.0; 3]);
        classes[0] = vec![0.5, 0.3, 0.2];
        classes[1] = vec![0.1, 0.3, 0.6];
        let surnames = SurnamesByClass(classes);
        // The products are 50, 30, 20 and 10, 30, 60: a tie is white, and the last surname has 80 people.
        assert!((surnames.not_white(&[100.0, 100.0, 0.0, 0.0, 0.0, 0.0]) - 80.0).abs() < 1e-9);
        // 50, 30, 20 and 20, 60, 120.
        assert!((surnames.not_white(&[100.0, 200.0, 0.0, 0.0, 0.0, 0.0]) - 230.0).abs() < 1e-9);
        assert_eq!(surnames.not_white(&[0.0; K]), 0.0);
    }
}

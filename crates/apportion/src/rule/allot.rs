//! Rows that represent several people: how many of them get each class.

use super::{Joint, Rule, Settings, sampling};
use crate::decision::{Decision, Fitted};
use crate::error::Result;
use crate::scores::{Label, Scores, UNCODED};
use crate::seed;
use crate::transport::Split;

/// The number of people of each class, and of unlabeled people, in each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allotment {
    classes: usize,
    /// Row-major; the last column counts unlabeled people.
    people: Vec<u64>,
}

impl Allotment {
    /// Gives all people of a row its label, except in split rows.
    pub(super) fn new(scores: &Scores<'_>, labels: &[Label], splits: &[Split]) -> Allotment {
        let classes = scores.classes().len();
        let mut allotment = Allotment { classes, people: vec![0; labels.len() * (classes + 1)] };
        for (row, &label) in labels.iter().enumerate() {
            let column = if label == UNCODED { classes } else { usize::from(label) };
            allotment.row_mut(row)[column] = scores.counts().map_or(1, |counts| counts[row]);
        }
        for (row, people) in splits {
            let own = allotment.row_mut(*row);
            own.fill(0);
            own[..people.len()].copy_from_slice(people);
        }
        allotment
    }

    /// Returns the number of classes.
    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    fn row_mut(&mut self, row: usize) -> &mut [u64] {
        &mut self.people[row * (self.classes + 1)..][..self.classes + 1]
    }

    /// Returns the people of a row: of each class, then unlabeled.
    pub fn row(&self, row: usize) -> &[u64] {
        &self.people[row * (self.classes + 1)..][..self.classes + 1]
    }

    /// Returns all rows, as [`row`](Self::row) does.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u64]> {
        self.people.chunks_exact(self.classes + 1)
    }

    /// Returns the number of people of each class.
    pub fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.classes];
        self.rows().for_each(|row| counts.iter_mut().zip(row).for_each(|(sum, people)| *sum += people));
        counts
    }
}

/// An allotment, its decision and, for joint rules, its certificate.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Allotted {
    /// The people of each row.
    pub allotment: Allotment,
    /// The fitted rule, which labels further rows. It does not record how the people of tied rows were divided.
    pub decision: Decision,
    /// For joint rules only.
    pub joint: Option<Joint>,
}

impl Rule {
    /// Labels the people of rows that represent several ([`Scores::with_counts`]): joint rules split rows if
    /// necessary, sampling rules draw for each person, and other rules give all people of a row the same label.
    /// All counts are of people.
    ///
    /// ```
    /// # use apportion::*;
    /// let classes = Classes::new(["white", "black"])?;
    /// let scores = Scores::new(&classes, Matrix::RowsF64(&[0.7, 0.3]))?.with_counts(&[10])?;
    /// let matched = Rule::Match(Match::overall(Reference::Posterior)).allot(&scores, &Settings::default())?;
    /// assert_eq!(matched.allotment.row(0), [7, 3, 0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn allot(&self, scores: &Scores<'_>, settings: &Settings) -> Result<Allotted> {
        let solved = match self {
            Rule::Match(matching) => matching.solve(scores, settings)?,
            Rule::Balance(balance) => match balance.solve(scores, settings)? {
                Some(solved) => solved,
                None => return Rule::Argmax.allot(scores, settings),
            },
            Rule::FromSample(sample) => match sample.whole(scores)? {
                Some(rule) => return rule.allot(scores, settings),
                None => return self.allot_fitted(scores, settings),
            },
            Rule::Argmax | Rule::Threshold(_) | Rule::Thompson | Rule::TopK(_) | Rule::Learned(_) => {
                return self.allot_fitted(scores, settings);
            }
        };
        let allotment = Allotment::new(scores, &solved.labels, &solved.splits);
        Ok(Allotted { allotment, decision: solved.decision, joint: Some(solved.joint) })
    }

    /// Fits a decision and applies it.
    fn allot_fitted(&self, scores: &Scores<'_>, settings: &Settings) -> Result<Allotted> {
        let decision = self.fit(scores, settings)?;
        Ok(Allotted { allotment: decision.allot(scores, 0)?, decision, joint: None })
    }
}

impl Decision {
    /// Labels the people of rows that represent several. Prices give all people of a row the same class. Thompson
    /// sampling and top-k draw for each person; draws are numbered from 0.
    pub fn allot(&self, scores: &Scores<'_>, draw: u64) -> Result<Allotment> {
        let k = match &self.fitted {
            Fitted::Thompson => self.classes.len(),
            Fitted::TopK { k } => *k,
            Fitted::Argmax | Fitted::Threshold { .. } | Fitted::Prices(_) | Fitted::Learned(_) => {
                return Ok(Allotment::new(scores, self.apply(scores)?.values(), &[]));
            }
        };
        self.check_classes(scores)?;
        let mut allotment = Allotment::new(scores, &vec![UNCODED; scores.rows()], &[]);
        let mut sorted = Vec::new();
        scores.read_rows(0..scores.rows(), |index, row| {
            if k < row.len() {
                sampling::top_classes(row, k, &mut sorted);
            }
            let own = allotment.row_mut(index);
            let people = std::mem::take(&mut own[row.len()]);
            for person in 0..people {
                let key = person_key(scores.keys().of(index), person);
                own[usize::from(sampling::sample(row, self.seed, key, draw))] += 1;
            }
            Ok(())
        })?;
        Ok(allotment)
    }
}

/// Returns the key of one of a row's people; the first has the key of the row.
pub(crate) fn person_key(key: u64, person: u64) -> u64 {
    if person == 0 { key } else { seed::hash(key, person, u64::MAX - 1) }
}

//! Rows that stand for several people: how many of them get each class.

use super::{Joint, Rule, Settings, sampling};
use crate::decision::{Decision, Fitted};
use crate::error::Result;
use crate::scores::{Label, Scores, UNCODED};
use crate::seed;
use crate::transport::Split;

/// How many of each row's people have each class, and how many have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allotment {
    classes: usize,
    /// Row-major; the last column counts those without a label.
    people: Vec<u64>,
}

impl Allotment {
    /// All people of a row have its label, but for the rows that are split.
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

    /// How many classes there are.
    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    fn row_mut(&mut self, row: usize) -> &mut [u64] {
        &mut self.people[row * (self.classes + 1)..][..self.classes + 1]
    }

    /// The people of a row: of each class, and last those without a label.
    pub fn row(&self, row: usize) -> &[u64] {
        &self.people[row * (self.classes + 1)..][..self.classes + 1]
    }

    /// All rows, as [`row`](Self::row) gives them.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u64]> {
        self.people.chunks_exact(self.classes + 1)
    }

    /// How many people have each class.
    pub fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.classes];
        self.rows().for_each(|row| counts.iter_mut().zip(row).for_each(|(sum, people)| *sum += people));
        counts
    }
}

/// An allotment with the decision behind it and, for joint rules, its proof.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Allotted {
    /// The people of each row.
    pub allotment: Allotment,
    /// What to save. It labels further rows; how people of tied rows were shared out is not in it.
    pub decision: Decision,
    /// For joint rules only.
    pub joint: Option<Joint>,
}

impl Rule {
    /// Labels the people of rows that stand for several ([`Scores::with_counts`]): a joint rule splits rows where it must,
    /// chance draws for each person, and the other rules treat a row's people alike. All counts are of people.
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
    /// Labels the people of rows that stand for several. Prices give all people of a row one class. Thompson sampling and
    /// top-k draw for each person; draw 0 is the first.
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

/// Each of a row's people has a chance of their own; the first has that of the row.
pub(crate) fn person_key(key: u64, person: u64) -> u64 {
    if person == 0 { key } else { seed::hash(key, person, u64::MAX - 1) }
}

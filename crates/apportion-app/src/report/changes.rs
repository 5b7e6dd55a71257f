//! Compares the labels of argmax with other labels, person by person: who changes class, and at which scores.

use apportion::verify::GRID;
use apportion::{Scores, UNCODED};
use apportion_report::{Changes, SCORE_BINS, ScoreBin};

use crate::Result;
use crate::labels::Assignment;

/// Labels that are kept until those that they are compared with are known, with their index in the report.
struct Kept {
    index: usize,
    assignment: Assignment,
}

/// Waits for the labels before and after.
#[derive(Default)]
pub(super) struct ChangesBuilder {
    before: Option<Kept>,
    after: Option<Kept>,
    changes: Option<Changes>,
}

impl ChangesBuilder {
    /// Adds the labels of argmax. Later additions are ignored.
    pub(super) fn add_before(&mut self, index: usize, assignment: &Assignment, scores: &Scores<'_>) -> Result<()> {
        if self.before.is_none() {
            self.before = Some(Kept { index, assignment: first_draw(assignment) });
        }
        self.compare(scores)
    }

    /// Adds the labels that argmax is compared with. Later additions are ignored.
    pub(super) fn add_after(&mut self, index: usize, assignment: &Assignment, scores: &Scores<'_>) -> Result<()> {
        if self.after.is_none() {
            self.after = Some(Kept { index, assignment: first_draw(assignment) });
        }
        self.compare(scores)
    }

    /// Compares both labels as soon as they are known, and then releases them.
    fn compare(&mut self, scores: &Scores<'_>) -> Result<()> {
        if self.changes.is_some() {
            return Ok(());
        }
        let (Some(before), Some(after)) = (&mut self.before, &mut self.after) else { return Ok(()) };
        self.changes = Some(changes(before, after, scores)?);
        for kept in [before, after] {
            kept.assignment = Assignment::Labels(Vec::new());
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Option<Changes> {
        self.changes
    }
}

/// Returns the first of several draws.
fn first_draw(assignment: &Assignment) -> Assignment {
    match assignment {
        Assignment::Labels(draws) => Assignment::Labels(draws.iter().take(1).cloned().collect()),
        Assignment::People(allotment) => Assignment::People(allotment.clone()),
    }
}

fn changes(before: &Kept, after: &Kept, scores: &Scores<'_>) -> Result<Changes> {
    let k = scores.classes().len();
    let mut people = vec![vec![0; k + 1]; k + 1];
    let mut bins = vec![vec![ScoreBin::default(); SCORE_BINS]; k];
    let (mut own, mut other) = (vec![0; k + 1], vec![0; k + 1]);
    scores.read_rows(0..scores.rows(), |row, values| {
        let count = scores.counts().map_or(1, |counts| counts[row]);
        people_of(&before.assignment, row, count, &mut own);
        people_of(&after.assignment, row, count, &mut other);
        let all: u64 = own.iter().sum();
        for (class, &value) in values.iter().enumerate() {
            let bin = ((GRID.value(value) * SCORE_BINS as f64) as usize).min(SCORE_BINS - 1);
            let both = own[class].min(other[class]);
            let into = &mut bins[class][bin];
            into.both += both;
            into.before += own[class] - both;
            into.after += other[class] - both;
            into.neither += (all + both).saturating_sub(own[class] + other[class]);
        }
        move_people(&mut own, &mut other, &mut people);
        Ok(())
    })?;
    Ok(Changes { before: before.index, after: after.index, people, scores: bins })
}

/// Writes the people of a row by label, Uncoded last. `count` is the number of people that the row represents.
fn people_of(assignment: &Assignment, row: usize, count: u64, into: &mut [u64]) {
    match assignment {
        Assignment::Labels(draws) => {
            into.fill(0);
            let label = draws[0].values()[row];
            let column = if label == UNCODED { into.len() - 1 } else { usize::from(label) };
            into[column] = count;
        }
        Assignment::People(allotment) => into.copy_from_slice(allotment.row(row)),
    }
}

/// Adds the people of a row to the matrix of labels before and after. If the row represents several people, as many as
/// possible keep their label.
fn move_people(before: &mut [u64], after: &mut [u64], matrix: &mut [Vec<u64>]) {
    for class in 0..before.len() {
        let same = before[class].min(after[class]);
        matrix[class][class] += same;
        before[class] -= same;
        after[class] -= same;
    }
    for (from, row) in matrix.iter_mut().enumerate() {
        for (to, cell) in row.iter_mut().enumerate() {
            let moved = before[from].min(after[to]);
            *cell += moved;
            before[from] -= moved;
            after[to] -= moved;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_keep_their_label_if_they_can() {
        let mut matrix = vec![vec![0; 3]; 3];
        move_people(&mut [5, 2, 0], &mut [3, 3, 1], &mut matrix);
        assert_eq!(matrix, [[3, 1, 1], [0, 2, 0], [0, 0, 0]]);
    }

    #[test]
    fn a_label_is_that_of_all_people_of_a_row() {
        let classes = apportion::Classes::new(["a", "b"]).unwrap();
        let labels = apportion::Labels::new(vec![1, UNCODED], &classes).unwrap();
        let (assignment, mut people) = (Assignment::Labels(vec![labels]), [9; 3]);
        people_of(&assignment, 0, 40, &mut people);
        assert_eq!(people, [0, 40, 0]);
        people_of(&assignment, 1, 7, &mut people);
        assert_eq!(people, [0, 0, 7]);
    }
}

//! The only accumulator of audits, summaries and comparisons. It reads each row once and adds it to the sums of all
//! rows and of its group.

use std::ops::Range;

use rayon::prelude::*;

use super::cell::{Cell, Extent, Row, Shape};
use super::counts::{distance_between, largest, share_of_scores, shares_of_people};
use super::intervals::Draws;
use super::options::{AuditOptions, GroupMeasures, Measures};
use super::report::{Audit, GroupSection, Section, Undercounted};
use super::section::SectionBuilder;
use super::totals::GroupTotals;
use crate::error::{Error, Result};
use crate::kernel::{Grid, STRETCH};
use crate::label::Labels;
use crate::rule::Allotment;
use crate::scores::{Classes, Label, MAX_PEOPLE, Scores, UNCODED, expect_length};

/// Minimum number of rows per thread.
const ROWS_PER_PIECE: usize = 1024;

/// The sums of an audit: accumulates rows in batches and can be merged with tallies of other rows.
///
/// [`AuditOptions`] say what to sum. A tally is compact; results are computed from it on request, for all rows
/// ([`Tally::overall`]), for a group ([`Tally::group`]), or for everything ([`Tally::finish`]).
///
/// ```
/// use apportion::audit::{AuditOptions, Tally};
/// use apportion::{Classes, Labels, Matrix, Scores};
///
/// let classes = Classes::new(["white", "black"])?;
/// let mut tally = Tally::new(&classes, &AuditOptions::default(), &[])?;
/// for batch in [[0.9, 0.1, 0.6, 0.4], [0.7, 0.3, 0.8, 0.2]] {
///     let scores = Scores::new(&classes, Matrix::RowsF64(&batch))?;
///     tally.add(&scores, &Labels::new(vec![0, 0], &classes)?)?;
/// }
/// let audit = tally.finish()?;
/// let black = audit.overall.classes[1].against_posterior.expect("there are rows");
/// assert!((black.difference + 0.25).abs() < 1e-9);
/// # Ok::<(), apportion::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tally {
    classes: Classes,
    options: AuditOptions,
    groups: Vec<String>,
    overall: Cell,
    /// The sums of each group that has rows.
    cells: Vec<Option<Box<Cell>>>,
    /// The error of an invalid batch. Part of the batch may be in the sums, so they cannot be used.
    refused: Option<Error>,
}

/// The labels to audit: one per row, or those of each row's people.
#[derive(Clone, Copy)]
enum LabelSource<'a> {
    Labels(&'a Labels),
    People(&'a Allotment),
}

impl Tally {
    /// Starts an audit. If `groups` is empty or the options ignore groups, groups of the batches are ignored.
    pub fn new(classes: &Classes, options: &AuditOptions, groups: &[String]) -> Result<Tally> {
        let groups = match options.group_measures {
            GroupMeasures::None => &[],
            GroupMeasures::Each(_) => groups,
        };
        let options = options.checked(classes, groups)?;
        let replicates = options.replicates(options.measures);
        let overall = Cell::new(classes.len(), options.measures, replicates, Extent::Overall);
        let (classes, groups, cells) = (classes.clone(), groups.to_vec(), vec![None; groups.len()]);
        Ok(Tally { classes, options, groups, overall, cells, refused: None })
    }

    /// Sums a table in memory on the current rayon pool, by group if it has groups.
    pub fn of(scores: &Scores<'_>, labels: &Labels, options: &AuditOptions) -> Result<Tally> {
        let tally = Tally::for_table(scores, options)?;
        tally.check_fit(scores, labels)?;
        tally.with_all(scores, LabelSource::Labels(labels))
    }

    /// Sums rows that represent several people, who may have several labels.
    pub fn of_allotment(scores: &Scores<'_>, allotment: &Allotment, options: &AuditOptions) -> Result<Tally> {
        let tally = Tally::for_table(scores, options)?;
        expect_length("the list of allotted rows", allotment.rows().len(), scores.rows())?;
        expect_length("the list of the allotment's classes", allotment.classes(), scores.classes().len())?;
        tally.with_all(scores, LabelSource::People(allotment))
    }

    fn for_table(scores: &Scores<'_>, options: &AuditOptions) -> Result<Tally> {
        Tally::new(scores.classes(), options, scores.groups().map_or(&[][..], |groups| groups.names))
    }

    /// Adds all rows of a table in parallel.
    fn with_all(mut self, scores: &Scores<'_>, given: LabelSource<'_>) -> Result<Tally> {
        let pieces: Vec<Result<Tally>> = pieces_of(scores.rows())
            .into_par_iter()
            .map(|rows| {
                let mut piece = self.clone();
                piece.add_rows(scores, given, rows).map(|()| piece)
            })
            .collect();
        // In row order, so that the first invalid row is reported.
        for piece in pieces {
            self.merge(&piece?)?;
        }
        Ok(self)
    }

    /// Adds a batch. After an error the tally cannot be used: part of the batch may be in the sums.
    pub fn add(&mut self, scores: &Scores<'_>, labels: &Labels) -> Result<()> {
        self.check_usable()?;
        self.check_fit(scores, labels)?;
        check_people(self.overall.people, scores.people())?;
        self.add_rows(scores, LabelSource::Labels(labels), 0..scores.rows())
            .inspect_err(|error| self.refused = Some(error.clone()))
    }

    /// Adds a tally of other rows, with the same classes, groups and options.
    pub fn merge(&mut self, other: &Tally) -> Result<()> {
        self.check_usable()?;
        other.check_usable()?;
        self.check_classes(&other.classes)?;
        self.check_groups(&other.groups)?;
        if self.options != other.options {
            return Err(Error::Tally { what: "options" });
        }
        check_people(self.overall.people, other.overall.people)?;
        self.overall.merge(&other.overall);
        for (mine, theirs) in self.cells.iter_mut().zip(&other.cells) {
            match (mine, theirs) {
                (Some(mine), Some(theirs)) => mine.merge(theirs),
                (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
                (_, None) => {}
            }
        }
        Ok(())
    }

    /// Returns the audit of the rows so far. Fails if a batch was invalid.
    pub fn finish(&self) -> Result<Audit> {
        self.check_usable()?;
        let mut groups = Vec::new();
        for (code, name) in self.groups.iter().enumerate() {
            if let Some(section) = self.group(code) {
                groups.push(GroupSection { code, name: name.clone(), section });
            }
        }
        Ok(Audit {
            classes: self.classes.clone(),
            options: self.options.clone(),
            focus: self.focus(),
            overall: self.overall(),
            undercounted: undercounted(&groups, self.classes.len()),
            fidelity_in_groups: self.fidelity_in_groups(),
            groups,
        })
    }

    /// Returns the figures of all rows so far.
    pub fn overall(&self) -> Section {
        self.builder().section(&self.overall, self.options.reference.as_deref())
    }

    /// Returns the figures of a group; `None` if it has no rows.
    pub fn group(&self, code: usize) -> Option<Section> {
        let given = self.options.group_references.as_ref().map(|references| &references[code][..]);
        Some(self.builder().section(self.cells.get(code)?.as_ref()?, given))
    }

    /// Returns the number of groups.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Returns the totals that do not depend on labels: of a group, or of all included people.
    pub fn totals(&self, group: Option<usize>) -> GroupTotals {
        self.cell(group).map(|cell| GroupTotals::of(cell, self.options.uncoded)).unwrap_or_default()
    }

    /// Returns the number of people of each label, then Uncoded: of a group, or of all included people.
    pub fn labels(&self, group: Option<usize>) -> Vec<u64> {
        self.cell(group).map_or_else(|| vec![0; self.classes.len() + 1], Cell::labels)
    }

    /// Returns the number of labels of each class among people with known truth: of a group, or of all included people.
    pub fn labels_with_truth(&self, group: Option<usize>) -> Vec<u64> {
        self.cell(group).map_or_else(|| vec![0; self.classes.len()], Cell::labels_with_truth)
    }

    /// Returns the mean fidelity of the labels to the posterior within groups, weighted by people; `None` if no group
    /// has labels.
    pub fn fidelity_in_groups(&self) -> Option<f64> {
        let (mut people, mut sum) = (0.0, 0.0);
        for cell in self.cells.iter().flatten() {
            let totals = GroupTotals::of(cell, self.options.uncoded);
            let labels = shares_of_people(&cell.labels()[..self.classes.len()]);
            if let Some(distance) = distance_between(labels.as_ref(), totals.posterior.as_ref()) {
                people += totals.people as f64;
                sum += totals.people as f64 * distance.fidelity;
            }
        }
        (people > 0.0).then(|| sum / people)
    }

    /// Returns the sums of a group, or of all rows.
    fn cell(&self, group: Option<usize>) -> Option<&Cell> {
        match group {
            Some(code) => self.cells.get(code)?.as_deref(),
            None => Some(&self.overall),
        }
    }

    fn builder(&self) -> SectionBuilder<'_> {
        SectionBuilder { classes: &self.classes, options: &self.options, focus: self.focus() }
    }

    /// Returns the focus class: the requested one, or the largest of the overall reference.
    fn focus(&self) -> Option<usize> {
        let posterior = || share_of_scores(&self.overall.posterior(self.options.uncoded), self.overall.included());
        let reference = || self.options.reference.clone().or_else(posterior);
        self.options.focus.or_else(|| largest(&reference()?))
    }

    /// Returns whether rows must be described by their scores' shape.
    fn needs_shape(&self) -> bool {
        let of_groups = match self.options.group_measures {
            GroupMeasures::Each(measures) => measures.score_error && !self.groups.is_empty(),
            GroupMeasures::None => false,
        };
        self.options.measures.score_error || of_groups
    }

    /// Returns the labels if all sums of the rows are totals by label and class: one person per row, no truth, no groups
    /// and no further measures.
    fn plain_labels<'l>(&self, scores: &Scores<'_>, given: LabelSource<'l>) -> Option<&'l [Label]> {
        let LabelSource::Labels(labels) = given else { return None };
        let has_groups = !self.groups.is_empty() && scores.groups().is_some();
        let has_more = self.needs_shape() || self.options.replicates(self.options.measures) > 0;
        let is_plain = scores.counts().is_none() && scores.truth().is_none() && !has_groups && !has_more;
        is_plain.then(|| labels.values())
    }

    /// Reads rows, each once: in a vectorized pass if their sums are few and all have a label.
    fn add_rows(&mut self, scores: &Scores<'_>, given: LabelSource<'_>, rows: Range<usize>) -> Result<()> {
        let Some(labels) = self.plain_labels(scores, given) else { return self.add_each(scores, given, rows) };
        for start in rows.clone().step_by(STRETCH) {
            let stretch = start..rows.end.min(start + STRETCH);
            let own = &labels[stretch.clone()];
            if own.contains(&UNCODED) {
                self.add_each(scores, given, stretch)?;
            } else {
                self.overall.add_totals(&scores.label_totals(stretch, own)?);
            }
        }
        Ok(())
    }

    /// Reads rows one by one, without allocations.
    fn add_each(&mut self, scores: &Scores<'_>, given: LabelSource<'_>, rows: Range<usize>) -> Result<()> {
        let mut draws = Draws::new(self.options.bootstrap.as_ref());
        let needs_shape = self.needs_shape();
        scores.read_rows(rows, |index, values| {
            let mut row = Row {
                scores: values,
                is_new: true,
                people: scores.counts().map_or(1, |counts| counts[index]),
                given: UNCODED,
                label: None,
                truth: scores.truth().map_or(UNCODED, |truth| truth[index]),
                shape: needs_shape.then(|| Shape::of(values)),
                weights: draws.of(scores.keys().of(index)),
            };
            match given {
                LabelSource::Labels(labels) => self.add_row(scores, index, labels.values()[index], &row),
                LabelSource::People(allotment) => {
                    let people = allotment.row(index).iter().enumerate().filter(|(_, people)| **people > 0);
                    for (class, &people) in people {
                        row.people = people;
                        let label = if class == values.len() { UNCODED } else { class as Label };
                        self.add_row(scores, index, label, &row);
                        row.is_new = false;
                    }
                    // A row without people still counts as a row.
                    if row.is_new {
                        row.people = 0;
                        self.add_row(scores, index, UNCODED, &row);
                    }
                }
            }
            Ok(())
        })
    }

    /// Adds a row, or those of its people who have one label.
    #[inline]
    fn add_row(&mut self, scores: &Scores<'_>, index: usize, given: Label, row: &Row<'_>) {
        let argmax = || row.shape.unwrap_or_else(|| Shape::of(row.scores)).argmax;
        let row = Row { given, label: self.options.uncoded.label(given, argmax), ..*row };
        self.overall.add(&row);
        let (Some(groups), GroupMeasures::Each(measures)) = (scores.groups(), self.options.group_measures) else {
            return;
        };
        if self.groups.is_empty() {
            return;
        }
        let cell = &mut self.cells[groups.codes[index] as usize];
        cell.get_or_insert_with(|| new_group(row.scores.len(), measures, &self.options)).add(&row);
    }

    /// Fails if an earlier batch was invalid.
    fn check_usable(&self) -> Result<()> {
        self.refused.clone().map_or(Ok(()), Err)
    }

    /// Checks that a batch belongs to this audit.
    fn check_fit(&self, scores: &Scores<'_>, labels: &Labels) -> Result<()> {
        self.check_classes(scores.classes())?;
        expect_length("the list of labels", labels.values().len(), scores.rows())?;
        expect_length("the list of the labels' classes", labels.classes(), self.classes.len())?;
        match scores.groups() {
            _ if self.groups.is_empty() => Ok(()),
            Some(groups) => self.check_groups(groups.names),
            None => Err(Error::Missing {
                what: "a group for each row",
                by: "an audit by group",
                setting: crate::text::Setting::By,
                instead: "audit",
            }),
        }
    }

    /// Checks that the classes are the same.
    fn check_classes(&self, classes: &Classes) -> Result<()> {
        if *classes == self.classes {
            return Ok(());
        }
        Err(Error::Tally { what: "classes" })
    }

    /// Checks that the groups are the same.
    fn check_groups(&self, names: &[String]) -> Result<()> {
        if names == self.groups { Ok(()) } else { Err(Error::Tally { what: "groups" }) }
    }
}

impl Audit {
    /// Audits a table in memory on the current rayon pool, by group if it has groups.
    pub fn of(scores: &Scores<'_>, labels: &Labels, options: &AuditOptions) -> Result<Audit> {
        Tally::of(scores, labels, options)?.finish()
    }

    /// Audits rows that represent several people, who may have several labels.
    pub fn of_allotment(scores: &Scores<'_>, allotment: &Allotment, options: &AuditOptions) -> Result<Audit> {
        Tally::of_allotment(scores, allotment, options)?.finish()
    }
}

impl Section {
    /// Summarizes labels: counts, shares, bias and accuracy over all rows, several times faster than an audit.
    pub fn summary(scores: &Scores<'_>, labels: &Labels) -> Result<Section> {
        Ok(Tally::of(scores, labels, &AuditOptions::summary())?.overall())
    }
}

/// Creates the sums of a group.
fn new_group(classes: usize, measures: Measures, options: &AuditOptions) -> Box<Cell> {
    Box::new(Cell::new(classes, measures, options.replicates(measures), Extent::Group))
}

/// Divides the rows evenly among the threads.
fn pieces_of(rows: usize) -> Vec<Range<usize>> {
    let pieces = rows.div_ceil(ROWS_PER_PIECE).clamp(1, rayon::current_num_threads().max(1));
    let size = rows.div_ceil(pieces);
    (0..pieces).map(|piece| (piece * size).min(rows)..((piece + 1) * size).min(rows)).collect()
}

/// Checks that exact totals do not overflow.
fn check_people(before: u64, more: u64) -> Result<()> {
    match before.checked_add(more) {
        Some(people) if people <= MAX_PEOPLE => Ok(()),
        _ => Err(Error::TooManyPeople { limit: MAX_PEOPLE }),
    }
}

/// Counts the groups in which the other classes are undercounted.
fn undercounted(groups: &[GroupSection], classes: usize) -> Option<Undercounted> {
    let bias = |section: &Section| Some((section.others?.against_posterior?.difference, section.people as f64));
    let biases: Vec<(f64, f64)> = groups.iter().filter_map(|group| bias(&group.section)).collect();
    let noise = classes as f64 / (2 * Grid::UNIT) as f64;
    let low = biases.iter().filter(|(bias, _)| *bias < -noise).count();
    let whole = biases.iter().filter(|(bias, people)| bias * people <= -1.0).count();
    (!biases.is_empty()).then_some(Undercounted { groups: low, by_a_person_or_more: whole, of: biases.len() })
}

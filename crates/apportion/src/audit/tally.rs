//! The pass of an audit: reads each row once and adds it to the sums of all rows and of its group.

use std::ops::Range;

use rayon::prelude::*;

use super::cell::{Cell, Extent, Row, Shape};
use super::counts::{largest, posterior, share_of_scores};
use super::intervals::Draws;
use super::options::{AuditOptions, UncodedPolicy};
use super::report::{Audit, GroupSection, Section, Undercounted};
use super::section::SectionBuilder;
use crate::error::{Error, Result};
use crate::kernel::Grid;
use crate::label::Labels;
use crate::rule::Allotment;
use crate::scores::{Classes, Label, MAX_PEOPLE, Scores, UNCODED, expect_length};

/// Minimum number of rows per thread.
const ROWS_PER_PIECE: usize = 1024;

/// An audit in progress: accumulates rows in batches and can be merged with tallies of other rows.
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
    /// Starts an audit. If `groups` is empty, groups of the batches are ignored.
    pub fn new(classes: &Classes, options: &AuditOptions, groups: &[String]) -> Result<Tally> {
        let options = options.checked(classes, groups)?;
        let overall = Cell::new(classes.len(), replicates(&options), Extent::Overall);
        let (classes, groups, cells) = (classes.clone(), groups.to_vec(), vec![None; groups.len()]);
        Ok(Tally { classes, options, groups, overall, cells, refused: None })
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
        let focus = self.focus();
        let frame = SectionBuilder { classes: &self.classes, options: &self.options, focus };
        let overall = frame.section(&self.overall, self.options.reference.as_deref());
        let group = |(code, (cell, name)): (usize, (&Option<Box<Cell>>, &String))| {
            let given = self.options.group_references.as_ref().map(|references| &references[code][..]);
            let section = frame.section(cell.as_ref()?, given);
            Some(GroupSection { code, name: name.clone(), section })
        };
        let groups: Vec<GroupSection> = self.cells.iter().zip(&self.groups).enumerate().filter_map(group).collect();
        let undercounted = undercounted(&groups, self.classes.len());
        let (classes, options) = (self.classes.clone(), self.options.clone());
        Ok(Audit { classes, options, focus, overall, groups, undercounted })
    }

    /// Returns the focus class: the requested one, or the largest of the overall reference.
    fn focus(&self) -> Option<usize> {
        let posterior = || share_of_scores(&posterior(&self.overall, self.options.uncoded), self.overall.considered);
        let reference = || self.options.reference.clone().or_else(posterior);
        self.options.focus.or_else(|| largest(&reference()?))
    }

    /// Reads rows, each once, without allocations.
    fn add_rows(&mut self, scores: &Scores<'_>, given: LabelSource<'_>, rows: Range<usize>) -> Result<()> {
        let mut draws = Draws::new(self.options.bootstrap.as_ref());
        scores.read_rows(rows, |index, values| {
            let mut row = Row {
                scores: values,
                is_new: true,
                people: scores.counts().map_or(1, |counts| counts[index]),
                given: UNCODED,
                label: UNCODED,
                truth: scores.truth().map_or(UNCODED, |truth| truth[index]),
                shape: Shape::of(values),
                considered: true,
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
        let policy = self.options.uncoded;
        let row = Row {
            given,
            label: if given == UNCODED && policy == UncodedPolicy::Argmax { row.shape.argmax } else { given },
            considered: given != UNCODED || policy != UncodedPolicy::Drop,
            ..*row
        };
        self.overall.add(&row);
        if let Some(groups) = scores.groups().filter(|_| !self.groups.is_empty()) {
            let new = || Box::new(Cell::new(row.scores.len(), replicates(&self.options), Extent::Group));
            self.cells[groups.codes[index] as usize].get_or_insert_with(new).add(&row);
        }
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
        let tally = Audit::begin(scores, options)?;
        tally.check_fit(scores, labels)?;
        Audit::with(tally, scores, LabelSource::Labels(labels))
    }

    /// Audits rows that represent several people, who may have several labels.
    pub fn of_allotment(scores: &Scores<'_>, allotment: &Allotment, options: &AuditOptions) -> Result<Audit> {
        let tally = Audit::begin(scores, options)?;
        expect_length("the list of allotted rows", allotment.rows().len(), scores.rows())?;
        expect_length("the list of the allotment's classes", allotment.classes(), scores.classes().len())?;
        Audit::with(tally, scores, LabelSource::People(allotment))
    }

    fn begin(scores: &Scores<'_>, options: &AuditOptions) -> Result<Tally> {
        Tally::new(scores.classes(), options, scores.groups().map_or(&[][..], |groups| groups.names))
    }

    fn with(mut tally: Tally, scores: &Scores<'_>, given: LabelSource<'_>) -> Result<Audit> {
        let pieces: Vec<Result<Tally>> = pieces_of(scores.rows())
            .into_par_iter()
            .map(|rows| {
                let mut piece = tally.clone();
                piece.add_rows(scores, given, rows).map(|()| piece)
            })
            .collect();
        // In row order, so that the first invalid row is reported.
        pieces.into_iter().try_for_each(|piece| tally.merge(&piece?))?;
        tally.finish()
    }
}

/// Divides the rows evenly among the threads.
fn pieces_of(rows: usize) -> Vec<Range<usize>> {
    let pieces = rows.div_ceil(ROWS_PER_PIECE).clamp(1, rayon::current_num_threads().max(1));
    let size = rows.div_ceil(pieces);
    (0..pieces).map(|piece| (piece * size).min(rows)..((piece + 1) * size).min(rows)).collect()
}

/// Returns the number of requested replicates.
fn replicates(options: &AuditOptions) -> usize {
    options.bootstrap.map_or(0, |bootstrap| bootstrap.replicates as usize)
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

//! The one pass: reads each row once and sends it to the sums of all rows and of its group.

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

/// Fewer rows than this are not worth a thread of their own.
const ROWS_PER_PIECE: usize = 1024;

/// An audit in the making: takes rows in by the batch, and merges with tallies of other rows.
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
    /// The sums of each group, once it has a row.
    cells: Vec<Option<Box<Cell>>>,
    /// Why a batch was refused. Part of it may be in the sums, so nothing more can come of them.
    refused: Option<Error>,
}

/// The labels to be audited: one a row, or those of each row's people.
#[derive(Clone, Copy)]
enum LabelSource<'a> {
    Labels(&'a Labels),
    People(&'a Allotment),
}

impl Tally {
    /// Begins an audit. Without groups (an empty list) it is of all rows only, whatever groups the batches have.
    pub fn new(classes: &Classes, options: &AuditOptions, groups: &[String]) -> Result<Tally> {
        let options = options.checked(classes, groups)?;
        let overall = Cell::new(classes.len(), replicates(&options), Extent::Overall);
        let (classes, groups, cells) = (classes.clone(), groups.to_vec(), vec![None; groups.len()]);
        Ok(Tally { classes, options, groups, overall, cells, refused: None })
    }

    /// Takes a batch in. Once a batch is refused, so is everything after it: part of the batch may be in the sums.
    pub fn add(&mut self, scores: &Scores<'_>, labels: &Labels) -> Result<()> {
        self.check_usable()?;
        self.check_fit(scores, labels)?;
        check_people(self.overall.people, scores.people())?;
        self.add_rows(scores, LabelSource::Labels(labels), 0..scores.rows())
            .inspect_err(|error| self.refused = Some(error.clone()))
    }

    /// Takes in a tally of other rows, which must have the same classes, groups and options.
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

    /// The audit of the rows taken in. An error if a batch was refused.
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

    /// The focus class: the one asked for, else the largest in the reference of all rows.
    fn focus(&self) -> Option<usize> {
        let posterior = || share_of_scores(&posterior(&self.overall, self.options.uncoded), self.overall.considered);
        let reference = || self.options.reference.clone().or_else(posterior);
        self.options.focus.or_else(|| largest(&reference()?))
    }

    /// Reads rows, each once, and without allocating.
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
                    // A row of nobody is a row all the same.
                    if row.is_new {
                        row.people = 0;
                        self.add_row(scores, index, UNCODED, &row);
                    }
                }
            }
            Ok(())
        })
    }

    /// Takes in a row that has been read, or those of its people who have one label.
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

    /// Refuses to go on once a batch was refused.
    fn check_usable(&self) -> Result<()> {
        self.refused.clone().map_or(Ok(()), Err)
    }

    /// Refuses a batch that is not one of this audit.
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
                with: "with_groups",
                instead: "audit",
            }),
        }
    }

    /// Refuses other classes.
    fn check_classes(&self, classes: &Classes) -> Result<()> {
        if *classes == self.classes {
            return Ok(());
        }
        Err(Error::Tally { what: "classes" })
    }

    /// Refuses other groups: codes would stand for other names.
    fn check_groups(&self, names: &[String]) -> Result<()> {
        if names == self.groups { Ok(()) } else { Err(Error::Tally { what: "groups" }) }
    }
}

impl Audit {
    /// Audits a table in memory, on all threads of the present rayon pool, by group where it has groups.
    pub fn of(scores: &Scores<'_>, labels: &Labels, options: &AuditOptions) -> Result<Audit> {
        let tally = Audit::begin(scores, options)?;
        tally.check_fit(scores, labels)?;
        Audit::with(tally, scores, LabelSource::Labels(labels))
    }

    /// The same where rows stand for several people, who may have several labels.
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
        // In the order of the rows, so that the first bad row is the one reported.
        pieces.into_iter().try_for_each(|piece| tally.merge(&piece?))?;
        tally.finish()
    }
}

/// The rows in as many even pieces as there are threads.
fn pieces_of(rows: usize) -> Vec<Range<usize>> {
    let pieces = rows.div_ceil(ROWS_PER_PIECE).clamp(1, rayon::current_num_threads().max(1));
    let size = rows.div_ceil(pieces);
    (0..pieces).map(|piece| (piece * size).min(rows)..((piece + 1) * size).min(rows)).collect()
}

/// How many replicates are asked for.
fn replicates(options: &AuditOptions) -> usize {
    options.bootstrap.map_or(0, |bootstrap| bootstrap.replicates as usize)
}

/// Refuses more people than exact totals hold.
fn check_people(before: u64, more: u64) -> Result<()> {
    match before.checked_add(more) {
        Some(people) if people <= MAX_PEOPLE => Ok(()),
        _ => Err(Error::TooManyPeople { limit: MAX_PEOPLE }),
    }
}

/// In how many groups the others are undercounted.
fn undercounted(groups: &[GroupSection], classes: usize) -> Option<Undercounted> {
    let bias = |section: &Section| Some((section.others?.against_posterior?.difference, section.people as f64));
    let biases: Vec<(f64, f64)> = groups.iter().filter_map(|group| bias(&group.section)).collect();
    let noise = classes as f64 / (2 * Grid::UNIT) as f64;
    let low = biases.iter().filter(|(bias, _)| *bias < -noise).count();
    let whole = biases.iter().filter(|(bias, people)| bias * people <= -1.0).count();
    (!biases.is_empty()).then_some(Undercounted { groups: low, by_a_person_or_more: whole, of: biases.len() })
}

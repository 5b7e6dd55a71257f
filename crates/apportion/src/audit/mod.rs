//! What labels do: their counts, bias, accuracy and calibration against the scores, the truth and a reference.
//!
//! An audit is one pass. [`Tally`] takes the rows in, in any number of batches; tallies merge; [`Tally::finish`] turns
//! the sums into an [`Audit`]. All sums are whole numbers on the grid, so an audit is the same to the last bit
//! whatever the order of the rows, the size of the batches and the number of threads. [`Audit::of`] does it all for a
//! table in memory.
//!
//! | file | purpose |
//! |---|---|
//! | `options` | what may be asked of an audit, checked once |
//! | `tally` | reads rows and sends each to its cells |
//! | `cell` | the sums of one section: all rows, or one group |
//! | `counts` | shares, bias, distances, the undercount split, the others together |
//! | `accuracy` | accuracy, confusion, rates, errors of the scores |
//! | `calibration` | the histogram of scores, its bins, calibration error and Kuiper's measure |
//! | `intervals` | Wilson intervals and the bootstrap |
//! | `section` | puts the figures of one section together |
//! | `report` | the result: plain data |
//! | `label_summary` | the few figures that a summary needs |
//! | `drift` | whether a decision still has the counts that it should, on rows that it was not fitted to |
//! | `frontier_gap` | how far labels lie below the frontier |
//! | `population`, `crosstab` | what is known whatever the labels, and people by label: together, a comparison of many labellings |
//!
//! # Which rows a figure is over
//! - A row that stands for c people weighs c in every figure. One that stands for none is counted in `rows` alone.
//! - `rows`, `people`, `labeled`, `uncoded`, `with_truth`, the coverages, the agreement with argmax and what is said of
//!   Uncoded rows describe the labels **as given**. Everything else is after [`UncodedPolicy`] has been followed:
//!   `Drop` leaves the Uncoded rows out of it, `Argmax` gives them the argmax class.
//! - Shares of labels are among the labelled rows, the posterior is over all rows.
//! - Whatever is compared with the truth is taken over the rows whose truth is known, the labels and the posterior of
//!   the undercount split included: a file with truth for some states is not blamed for the others. Where the truth of
//!   every row is known, these are the shares of the line above.

mod accuracy;
mod calibration;
mod cell;
mod counts;
mod crosstab;
mod drift;
mod frontier_gap;
mod intervals;
mod label_summary;
mod options;
mod population;
mod report;
mod section;
mod tally;

pub use crosstab::Crosstab;
pub use drift::Drift;
pub(crate) use intervals::{Draws, NORMAL, wilson_at};
pub use label_summary::LabelSummary;
pub use options::{AuditOptions, Bootstrap, UncodedPolicy};
pub(crate) use population::read;
pub use population::{GroupTotals, PopulationTotals, calibration_in_tenths, posterior_coverage};
pub use report::{
    ArgmaxBias, Audit, Bias, Bin, Binning, Calibration, ClassAudit, Confusion, Distance, GroupSection, Interval,
    Intervals, Others, Rates, ScoreError, Section, Split, UncodedRows, Undercounted,
};
pub use tally::Tally;

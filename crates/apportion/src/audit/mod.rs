//! Audit of labels: counts, bias, accuracy and calibration against the scores, the truth and a reference.
//!
//! An audit is one pass. [`Tally`] accumulates rows in any number of batches; tallies can be merged;
//! [`Tally::finish`] turns the sums into an [`Audit`]. All sums are integers on the grid, so an audit is bitwise the
//! same for any row order, batch size and number of threads. [`Audit::of`] audits a table in memory.
//!
//! | file | purpose |
//! |---|---|
//! | `options` | options of an audit, checked once |
//! | `tally` | reads rows and adds each to its cells |
//! | `cell` | the sums of one section: all rows, or one group |
//! | `counts` | shares, bias, distances, the decomposition of undercounts, all other classes together |
//! | `accuracy` | accuracy, confusion matrix, rates, errors of the scores |
//! | `calibration` | histograms of scores, bins, calibration error and Kuiper's statistic |
//! | `intervals` | Wilson intervals and the bootstrap |
//! | `section` | assembles the figures of one section |
//! | `report` | the result: plain data |
//! | `label_summary` | the few figures of a summary |
//! | `drift` | whether a decision still gives the expected counts on rows that it was not fitted to |
//! | `frontier_gap` | how far labels are below the frontier |
//! | `population`, `crosstab` | figures that do not depend on labels, and counts by label: together, a comparison of several labelings |
//!
//! # Rows included in a figure
//! - A row that represents c people has weight c in every figure. A row with c = 0 counts in `rows` only.
//! - `rows`, `people`, `labeled`, `uncoded`, `with_truth`, the coverages, the agreement with argmax and the figures
//!   about Uncoded rows describe the labels **as given**. All other figures apply [`UncodedPolicy`] first: `Drop`
//!   excludes Uncoded rows, `Argmax` gives them the argmax class.
//! - Shares of labels are among labeled rows; the posterior is over all rows.
//! - Comparisons with the truth include only rows with known truth, also for the labels and the posterior in the
//!   decomposition of undercounts, so that missing truth for some states does not count as bias. If the truth of
//!   every row is known, these shares equal those above.

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

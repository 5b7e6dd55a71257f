//! Audit of labels: counts, bias, accuracy and calibration against the scores, the truth and a reference.
//!
//! There is one accumulator, [`Tally`], and one result for a set of rows, [`Section`]: a summary, a comparison, an audit
//! and a report show parts of it. [`AuditOptions`] say what to sum; a [`Section::summary`] sums only what the last lines
//! of a labeling show. Tallies accumulate rows in any number of batches and can be merged; [`Tally::finish`] turns the
//! sums into an [`Audit`]: a section for all rows and one for each group. All sums are integers on the grid, so results
//! are bitwise the same for any row order, batch size and number of threads. [`Audit::of`] audits a table in memory.
//!
//! | file | purpose |
//! |---|---|
//! | `options` | options of an audit, checked once; what to sum |
//! | `uncoded` | how rows without a label are treated |
//! | `tally` | the accumulator: reads rows and adds each to its cells |
//! | `cell`, `score_sums` | the sums of one section: all rows, or one group |
//! | `counts` | shares, bias, distances, the decomposition of undercounts, all other classes together |
//! | `accuracy` | accuracy, confusion matrix, rates, errors of the scores |
//! | `calibration` | histograms of scores, bins, calibration error and Kuiper's statistic |
//! | `intervals` | Wilson intervals and the bootstrap |
//! | `section` | assembles the figures of one section |
//! | `totals` | people, scores and truth of a group, without labels |
//! | `report` | the result: plain data |
//! | `drift` | whether a decision still gives the expected counts on rows that it was not fitted to |
//! | `frontier_gap` | how far labels are below the frontier |
//! | `read` | a parallel pass over all rows |
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
mod drift;
mod frontier_gap;
mod intervals;
mod options;
mod read;
mod report;
mod score_sums;
mod section;
mod tally;
mod totals;
mod uncoded;

pub use drift::Drift;
pub(crate) use intervals::{Draws, NORMAL, percentile, wilson_at};
pub use options::{AuditOptions, Bootstrap, GroupMeasures, Measures};
pub(crate) use read::read;
pub use report::{
    ArgmaxBias, Audit, Bias, Bin, Binning, Calibration, ClassAudit, Confusion, Distance, GroupSection, Interval,
    Intervals, Others, Rates, ScoreError, Section, Split, UncodedRows, Undercounted,
};
pub use tally::Tally;
pub use totals::GroupTotals;
pub use uncoded::{IncludedRows, UncodedPolicy};

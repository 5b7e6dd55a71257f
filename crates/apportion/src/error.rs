//! Errors of the library, with row, class and a suggested fix.
//!
//! Rows are counted from 0 here; a layer that reads files converts them to line numbers.

use crate::scores::Scaling;
use crate::text::{Setting, count, counted, quoted};

/// An error of the library. Its message is one sentence with the location and a fix. Rows are counted from 0.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A score is NaN or infinite.
    #[error("row {row}: the score of {class:?} is {value}; scores must be finite numbers")]
    NotFinite {
        /// Row, from 0.
        row: usize,
        /// Name of the class.
        class: String,
        /// The value.
        value: f64,
    },
    /// A score is below −1e-6.
    #[error("row {row}: the score of {class:?} is {value}; scores must not be negative")]
    Negative {
        /// Row, from 0.
        row: usize,
        /// Name of the class.
        class: String,
        /// The value.
        value: f64,
    },
    /// A row's scores do not sum to one.
    #[error(
        "row {row}: the scores sum to {sum} (classes {classes}), not to {}; {}", scaling.expected_sum(), sum_hint(*scaling)
    )]
    NotOne {
        /// Row, from 0.
        row: usize,
        /// The classes summed, as text.
        classes: String,
        /// The sum found.
        sum: f64,
        /// The scaling of the rows, which determines the expected sum.
        scaling: Scaling,
    },
    /// Stored scores could not be read.
    #[error("the scores could not be read again: {problem}")]
    Store {
        /// The problem.
        problem: String,
    },
    /// There are too many rows to gather by group.
    #[error(
        "{} rows are too many to label by group at once (at most {}); split the table",
        count(*found as u64),
        count(*limit as u64)
    )]
    TooManyRows {
        /// The number found.
        found: usize,
        /// The maximum.
        limit: usize,
    },
    /// The computation was cancelled: see [`Scores::with_cancel`](crate::Scores::with_cancel).
    #[error("the computation was cancelled")]
    Cancelled,
    /// There are no classes.
    #[error("there are no classes; name at least one score column")]
    NoClasses,
    /// There are too many classes.
    #[error("{found} classes are too many; at most {limit} are supported")]
    TooManyClasses {
        /// The number found.
        found: usize,
        /// The maximum.
        limit: usize,
    },
    /// A class name is empty, repeated, or reserved for unlabeled rows.
    #[error("class name {} is {problem}; class names must be unique, not empty and not Uncoded", quoted(.name))]
    ClassName {
        /// The name.
        name: String,
        /// The problem with the name.
        problem: &'static str,
    },
    /// A class that is not in the list.
    #[error("unknown class {}; the classes are {classes}", quoted(.name))]
    UnknownClass {
        /// The name.
        name: String,
        /// The known classes, as text.
        classes: String,
    },
    /// A list per row or per class has the wrong length.
    #[error("{what} has {}; expected {expected}", counted(*found as u64, "entry", "entries"))]
    Length {
        /// The list.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The expected length.
        expected: usize,
    },
    /// A code, such as that of a group, a true class, a label, an outcome or a cell, is out of range.
    #[error("row {row}: {what} code {code} is out of range; codes run from 0 to {last}")]
    Code {
        /// Row, from 0.
        row: usize,
        /// The kind of code.
        what: &'static str,
        /// The code found.
        code: usize,
        /// The largest code allowed.
        last: usize,
    },
    /// Two groups have the same name.
    #[error("group {} is listed twice; give every group one code", quoted(.group))]
    RepeatedGroup {
        /// The name.
        group: String,
    },
    /// The sum of the row counts is too large.
    #[error("the counts of the rows sum to more than {}; split the table", count(*limit))]
    TooManyPeople {
        /// The largest total.
        limit: u64,
    },
    /// Labels were requested for rows that represent several people and may have to be split.
    #[error("{rule} may split a row of several people between classes, but a row can have only one label; use `allot`")]
    CountsUnsupported {
        /// The rule.
        rule: &'static str,
    },
    /// Something that the rule or reference needs is missing.
    #[error(
        "{by} needs {what}, which the table does not have; add it with `Scores::{}`, or choose another {instead}",
        method_of(*setting)
    )]
    Missing {
        /// The missing data.
        what: &'static str,
        /// The rule or reference that needs it.
        by: &'static str,
        /// The setting that names its column: [`Setting::By`] or [`Setting::Truth`].
        setting: Setting,
        /// The alternative.
        instead: &'static str,
    },
    /// A parameter is outside its range.
    #[error("{what} is {value}; it must be {range}")]
    Parameter {
        /// The parameter.
        what: String,
        /// Its value.
        value: f64,
        /// The values allowed.
        range: &'static str,
    },
    /// A reference distribution is invalid.
    #[error("the reference{of} {problem}")]
    Reference {
        /// ` of group "x"`, or empty.
        of: String,
        /// The problem, and how to fix it.
        problem: String,
    },
    /// A reference is given by group, and the rule is not by group.
    #[error("the reference is given by group, but the rule uses all rows together; match by group")]
    ReferenceByGroup,
    /// Targets cannot be met.
    #[error(
        "the targets{of} sum to {}, but the number of rows to label is {}; the two must be equal (in each group, if groups are \
         matched)",
        count(*sum),
        count(*rows)
    )]
    TargetSum {
        /// ` of group "x"`, or empty.
        of: String,
        /// The sum of the targets.
        sum: u64,
        /// The number of rows.
        rows: u64,
    },
    /// Bounds cannot be met.
    #[error("the bounds{of} {problem}")]
    Bounds {
        /// ` of group "x"`, or empty.
        of: String,
        /// The problem, and how to fix it.
        problem: String,
    },
    /// Two options cannot be combined.
    #[error("{one} cannot be used with {other}: {why}")]
    Incompatible {
        /// The first option.
        one: &'static str,
        /// The second option.
        other: &'static str,
        /// The reason, and how to fix it.
        why: &'static str,
    },
    /// A group is not in the reference or the decision.
    #[error(
        "group {} is not in the {what}, which has {}; {hint}",
        quoted(.group),
        counted(*known as u64, "group", "groups")
    )]
    UnknownGroup {
        /// The group.
        group: String,
        /// Reference or decision.
        what: &'static str,
        /// The number of known groups.
        known: usize,
        /// How to fix it.
        hint: &'static str,
    },
    /// A decision is applied to other classes than those of the fit.
    #[error("the decision was fitted to the classes {fitted}, but the table has {found}; use the same order")]
    ClassesDiffer {
        /// The decision's classes.
        fitted: String,
        /// The table's classes.
        found: String,
    },
    /// An outcome is too large to be averaged.
    #[error("row {row}: the outcome is {value}; outcomes must be finite numbers within ±1e100, or NaN if unknown")]
    Outcome {
        /// Row, from 0.
        row: usize,
        /// The value.
        value: f64,
    },
    /// A survey weight is invalid.
    #[error("row {row}: the weight is {value}; weights must be numbers from 0 to 1e30")]
    Weight {
        /// Row, from 0.
        row: usize,
        /// The value.
        value: f64,
    },
    /// A batch or tally does not belong to an audit.
    #[error("the audit was started with different {what}; use the same for every batch and tally of an audit")]
    Tally {
        /// The property that differs.
        what: &'static str,
    },
    /// The solver found no proof. This is a bug, never a problem of the data.
    #[error("the labels could not be proved optimal, so they are not returned; please report this bug")]
    Unproved,
    /// A decision without prices cannot be certified.
    #[error("this decision has no prices and cannot be proved optimal; use argmax or match")]
    NoPrices,
    /// A decision has no prices for all rows.
    #[error(
        "the decision has no overall prices; fit it again by group, without bounds and with a reference for all groups"
    )]
    NoOverallPrices,
    /// A decision has no SQL expression.
    #[error("the decision cannot be written as SQL: {problem}")]
    Sql {
        /// The reason, and how to fix it.
        problem: String,
    },
    /// Scores cannot be calibrated.
    #[error("the scores cannot be calibrated: {problem}")]
    NotCalibrated {
        /// The reason, and how to fix it.
        problem: String,
    },
    /// A saved calibration is invalid.
    #[error("invalid calibration: {problem}; fit it again")]
    Calibration {
        /// The problem.
        problem: String,
    },
    /// A saved decision is invalid.
    #[error("invalid decision: {problem}; fit it again")]
    Decision {
        /// The problem.
        problem: String,
    },
}

/// The library's result type.
pub type Result<T> = std::result::Result<T, Error>;

/// Returns how to fix a row with another sum.
fn sum_hint(scaling: Scaling) -> &'static str {
    match scaling {
        Scaling::AsGiven => {
            "to divide each row by its sum, use `Scaling::Normalize`; for percentages, use `Scaling::Percent`"
        }
        Scaling::Percent => "to divide each row by its sum, use `Scaling::Normalize`",
        Scaling::Normalize => "leave the row out",
    }
}

/// Returns the method of `Scores` that sets what a setting names.
fn method_of(setting: Setting) -> &'static str {
    if setting == Setting::Truth { "with_truth" } else { "with_groups" }
}

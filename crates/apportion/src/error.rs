//! What can go wrong, said so that the reader can go and mend it: row, class and the next step.
//!
//! Rows are counted from 0 here; a layer that reads files turns them into the line the user sees.

use crate::text::quoted;

/// An error of the library. Its text is one sentence that names the place and the way on. Rows are counted from 0.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A score is not a number, or is infinite.
    #[error("row {row}: the score of {class:?} is {value}; scores must be finite numbers")]
    NotFinite {
        /// Row, from 0.
        row: usize,
        /// Name of the class.
        class: String,
        /// What stands there.
        value: f64,
    },
    /// A score is below −1e-6.
    #[error("row {row}: the score of {class:?} is {value}; scores must not be negative")]
    Negative {
        /// Row, from 0.
        row: usize,
        /// Name of the class.
        class: String,
        /// What stands there.
        value: f64,
    },
    /// A row's scores do not sum to one.
    #[error("row {row}: the scores sum to {sum} (classes {classes}), not to {expected}; {hint}")]
    NotOne {
        /// Row, from 0.
        row: usize,
        /// The classes summed, as text.
        classes: String,
        /// The sum that was found.
        sum: f64,
        /// The sum that was expected, as text.
        expected: &'static str,
        /// The way on.
        hint: &'static str,
    },
    /// Scores that are kept elsewhere could not be read.
    #[error("the scores could not be read again: {problem}")]
    Store {
        /// What is wrong.
        problem: String,
    },
    /// More rows than can be brought together by group.
    #[error("{found} rows are too many to be labelled by group at once; at most {limit} are; label parts of them")]
    TooManyRows {
        /// How many there are.
        found: usize,
        /// How many can be.
        limit: usize,
    },
    /// There is no class.
    #[error("there is no class; name at least one score column")]
    NoClasses,
    /// More classes than a label can tell apart.
    #[error("{found} classes are too many; at most {limit} are supported")]
    TooManyClasses {
        /// How many were given.
        found: usize,
        /// How many can be.
        limit: usize,
    },
    /// A class name is empty, given twice, or that of rows without a label.
    #[error("class name {} is {problem}; class names must be unique, not empty and not Uncoded", quoted(.name))]
    ClassName {
        /// The name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A class that is not in the list.
    #[error("unknown class {}; the classes are {classes}", quoted(.name))]
    UnknownClass {
        /// The name.
        name: String,
        /// The classes there are, as text.
        classes: String,
    },
    /// Something given per row or per class has the wrong length.
    #[error("{what} has {found} entries where {expected} were expected")]
    Length {
        /// What has the wrong length.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The right length.
        expected: usize,
    },
    /// A code (group, truth or label) that stands for nothing.
    #[error("row {row}: {what} code {code} is out of range; codes run from 0 to {last}")]
    Code {
        /// Row, from 0.
        row: usize,
        /// What is coded.
        what: &'static str,
        /// The code found.
        code: usize,
        /// The largest code allowed.
        last: usize,
    },
    /// Two groups have one name.
    #[error("group {} is listed twice; give every group one code", quoted(.group))]
    RepeatedGroup {
        /// The name.
        group: String,
    },
    /// The total of the row counts is beyond what is supported.
    #[error("the counts of the rows sum to more than {limit}; split the table")]
    TooManyPeople {
        /// The largest total.
        limit: u64,
    },
    /// A rule that cannot split rows was given rows that stand for several people.
    #[error("{rule} may split rows that stand for several people, and labels cannot say so; use `allot`")]
    CountsUnsupported {
        /// The rule.
        rule: &'static str,
    },
    /// Something that the rule or reference needs is not in the table.
    #[error(
        "{what} is needed for {by} but the table has none; give it with `Scores::{with}`, or choose another {instead}"
    )]
    Missing {
        /// What is missing.
        what: &'static str,
        /// What needs it.
        by: &'static str,
        /// The method that gives it.
        with: &'static str,
        /// What may be chosen instead.
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
    /// A reference distribution that is none.
    #[error("the reference{of} {problem}")]
    Reference {
        /// ` of group "x"`, or nothing.
        of: String,
        /// What is wrong with it, and the way on.
        problem: String,
    },
    /// Whole-number targets that cannot be met.
    #[error(
        "the targets{of} sum to {sum} but there are {rows} rows to label; they must be equal, in each group where \
             groups are matched"
    )]
    TargetSum {
        /// ` of group "x"`, or nothing.
        of: String,
        /// The sum of the targets.
        sum: u64,
        /// The rows there are.
        rows: u64,
    },
    /// Bounds that no labels can keep.
    #[error("the bounds{of} {problem}")]
    Bounds {
        /// ` of group "x"`, or nothing.
        of: String,
        /// What is wrong with them, and the way on.
        problem: String,
    },
    /// Two options that do not go together.
    #[error("{one} does not go together with {other}: {why}")]
    Incompatible {
        /// The one.
        one: &'static str,
        /// The other.
        other: &'static str,
        /// Why not, and the way on.
        why: &'static str,
    },
    /// A group that the reference or the decision does not know.
    #[error("group {} is not in the {what}, which has {known} groups; {hint}", quoted(.group))]
    UnknownGroup {
        /// The group.
        group: String,
        /// Reference or decision.
        what: &'static str,
        /// How many groups it knows.
        known: usize,
        /// The way on.
        hint: &'static str,
    },
    /// A decision is applied to other classes than it was fitted to.
    #[error(
        "the decision was fitted to the classes {fitted}, the table has {found}; bring the columns into that order"
    )]
    ClassesDiffer {
        /// The decision's classes.
        fitted: String,
        /// The table's classes.
        found: String,
    },
    /// An outcome that is too large to be averaged.
    #[error("row {row}: the outcome is {value}; outcomes must be finite numbers within ±1e100, or NaN where not known")]
    Outcome {
        /// Row, from 0.
        row: usize,
        /// What stands there.
        value: f64,
    },
    /// A batch or a tally that does not belong to an audit.
    #[error("the audit was begun with other {what}; give every batch and tally of one audit the same")]
    Tally {
        /// What differs.
        what: &'static str,
    },
    /// The solver found no proof. This is a fault of the program, never of the data.
    #[error("the labels could not be proved optimal, so none are returned; please report this as a bug")]
    Unproved,
    /// A decision that has no prices to prove anything with.
    #[error("only argmax and match have prices, and can be proved optimal; this decision has none")]
    NoPrices,
    /// A decision that has no SQL expression.
    #[error("the decision cannot be written as SQL: {problem}")]
    Sql {
        /// Why not, and the way on.
        problem: String,
    },
    /// A saved decision that cannot be one.
    #[error("the decision is not sound: {problem}; fit it again")]
    Decision {
        /// What is wrong with it.
        problem: String,
    },
}

/// The library's result type.
pub type Result<T> = std::result::Result<T, Error>;

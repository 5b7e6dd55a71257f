//! Sentences for errors of the core library, with settings in place of its methods.

use apportion::text::{Message, Setting};
use apportion::{Error, Scaling};

/// The message after a cancellation.
pub(crate) const CANCELLED: &str = "cancelled; nothing was written";

/// Returns the sentence of an error of the core library, for a front end to render.
pub fn core_message(error: &Error) -> Message {
    match error {
        Error::CountsUnsupported { rule } => {
            Message::from(format!("{rule} may split a row of several people between classes; use `label` with "))
                + Setting::Count
        }
        Error::Missing { what, by, setting, instead } => {
            Message::from(format!("{by} needs {what}, which the table does not have; add it with "))
                + *setting
                + format!(", or choose another {instead}")
        }
        Error::Cancelled => CANCELLED.into(),
        Error::ReferenceByGroup => Message::from(format!("{error} with ")) + Setting::By,
        other => other.to_string().into(),
    }
}

/// Returns the problem with a row or a value, and how to fix it. The caller adds the location.
pub(crate) fn located_problem(error: &Error) -> Message {
    match error {
        Error::NotFinite { value, .. } if value.is_nan() => {
            Message::from("the score is missing; add it, or skip rows with missing scores with ") + Setting::SkipMissing
        }
        Error::NotFinite { class, value, .. } => {
            format!("the score of {class:?} is {value}; scores must be finite numbers").into()
        }
        Error::Negative { class, value, .. } => {
            format!("the score of {class:?} is {value}; scores must not be negative").into()
        }
        Error::NotOne { classes, sum, scaling, .. } => {
            let expected = scaling.expected_sum();
            let problem = Message::from(format!("the scores sum to {sum} (classes {classes}), not to {expected}; "));
            match scaling {
                Scaling::AsGiven | Scaling::Percent => {
                    problem + "to divide each row by its sum, use " + Setting::Normalize
                }
                Scaling::Normalize => problem + "leave the row out",
            }
        }
        Error::Weight { value, .. } => format!("the weight is {value}; weights must be numbers from 0 to 1e30").into(),
        Error::Outcome { value, .. } => {
            format!("the outcome is {value}; outcomes must be finite numbers within ±1e100, or NaN if unknown").into()
        }
        other => core_message(other),
    }
}

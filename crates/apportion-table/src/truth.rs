//! What values of a column of classes mean, and what to say of those that mean nothing.

use apportion::Classes;

use crate::error::{Error, Result};
use crate::nearest::{did_you_mean, nearest};
use crate::table::TruthOptions;

/// Refuses to map a value to a class that there is not.
pub(crate) fn check_map(options: &TruthOptions, classes: &Classes) -> Result<()> {
    let names = || classes.names().iter().map(String::as_str);
    match options.map.iter().find(|(_, class)| classes.position(class).is_err()) {
        Some((value, class)) => Err(Error::Options(format!(
            "{} {value}={class}: there is no class {class:?}{}; the classes are {classes}",
            option(options),
            did_you_mean(class, names())
        ))),
        None => Ok(()),
    }
}

/// How values that are no class could be mapped to the classes that they are near to: ` (--truth-map White=white)`.
pub(crate) fn map_hint(options: &TruthOptions, unknown: &[(String, u64)], classes: &Classes) -> String {
    let names = || classes.names().iter().map(String::as_str);
    let near = unknown.iter().filter_map(|(value, _)| Some((value, nearest(value, names())?)));
    // What has these letters in it cannot be written so.
    let pairs: Vec<String> = near
        .filter(|(value, _)| !value.contains([',', '=', ' ']))
        .take(12)
        .map(|(value, class)| format!("{value}={class}"))
        .collect();
    if pairs.is_empty() { String::new() } else { format!(" (such as {} {})", option(options), pairs.join(",")) }
}

/// The option's name, without what it takes.
fn option(options: &TruthOptions) -> &str {
    options.options.0.split(' ').next().unwrap_or_default()
}

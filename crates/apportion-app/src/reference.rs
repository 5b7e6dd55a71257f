//! References: by name, or from a table of shares.

use std::collections::BTreeMap;
use std::path::Path;

use apportion::text::{Message, Setting};
use apportion::{Classes, PerGroup, Reference};
use apportion_io::{Input, InputOptions, MemoryTable, TextTable, group_name, quoted, same_name};

use crate::provenance::ExtraFile;
use crate::{Context, Error, Result};

/// The names of references; any other text is a file.
pub const REFERENCES: [&str; 5] = ["posterior", "truth", "uniform", "em", "pacc"];

/// The name in messages of shares in memory without a name.
pub const SHARES_IN_MEMORY: &str = "the table of shares";

/// Returns whether a reference is a file.
pub fn is_file(reference: &str) -> bool {
    !REFERENCES.contains(&reference)
}

/// Returns the name or path of a reference; by default the posterior, unless there are shares in memory.
pub fn name<'a>(reference: Option<&'a str>, table: Option<&MemoryTable>) -> &'a str {
    reference.unwrap_or(if table.is_some() { SHARES_IN_MEMORY } else { "posterior" })
}

/// Refuses shares in memory together with a named reference.
///
/// # Errors
/// If both are given.
pub fn check_table(reference: Option<&str>, table: Option<&MemoryTable>) -> Result<()> {
    match reference.filter(|name| table.is_some() && !is_file(name)) {
        Some(name) => {
            let problem = ": a table of shares is also given; leave one of them out";
            Err(Error::Settings(Message::from(Setting::Reference.with(name)) + problem))
        }
        None => Ok(()),
    }
}

/// Reads a reference: by name, from a file, or from a table in memory instead of the file.
///
/// # Errors
/// If the table does not contain shares.
pub fn read(
    reference: &str,
    table: Option<&MemoryTable>,
    classes: &Classes,
    by: &[String],
    context: &Context,
) -> Result<Reference> {
    match reference {
        "posterior" => Ok(Reference::Posterior),
        "truth" => Ok(Reference::Truth),
        "uniform" => Ok(Reference::Uniform),
        "em" | "pacc" => {
            let problem = " is estimated from the scores of a table, and there are none here; use a file of shares";
            Err(Error::settings(Message::from(Setting::Reference.with(reference)) + problem))
        }
        path => {
            let (shares, missing) = read_shares(Setting::Reference, path, table, classes, by)?;
            for class in missing {
                context.note(format!("{path}: there is no share for {class:?}; 0 is used"));
            }
            Ok(Reference::Shares(shares))
        }
    }
}

/// Returns the file of a reference with its number of rows, if the reference is a file.
///
/// # Errors
/// If the file cannot be read.
pub fn extra_files(reference: &str) -> Result<Vec<ExtraFile>> {
    if !is_file(reference) {
        return Ok(Vec::new());
    }
    let path = Path::new(reference);
    // A pipe can be read only once.
    let rows = match path.is_file() {
        true => {
            let rows = open(reference, None).and_then(|input| Ok(input.read_text(0)?.rows.len() as u64));
            Some(rows.map_err(|error| in_setting(Setting::Reference, reference, &error))?)
        }
        false => None,
    };
    Ok(vec![ExtraFile { path: path.into(), what: "the reference", rows }])
}

fn open(path: &str, table: Option<&MemoryTable>) -> Result<Input> {
    Ok(match table.cloned() {
        Some(table) => Input::from_memory(path, table, InputOptions::default()),
        None => Input::new(&[path.to_owned()], InputOptions::default())?,
    })
}

/// Returns an error in the file of a setting.
fn in_setting(setting: Setting, path: &str, error: &Error) -> Error {
    Error::Data(Message::from(setting.with(path)) + ": " + error.message())
}

/// Reads shares from the file of a setting, or from a table in memory instead.
///
/// # Errors
/// If the table does not contain shares.
pub fn read_shares(
    setting: Setting,
    path: &str,
    table: Option<&MemoryTable>,
    classes: &Classes,
    by: &[String],
) -> Result<Shares> {
    let shares = open(path, table).and_then(|input| shares(&input, classes, by));
    shares.map_err(|error| in_setting(setting, path, &error))
}

/// Shares of all rows or of each group, and the classes that are missing in some group.
pub type Shares = (PerGroup<Vec<f64>>, Vec<String>);

/// Reads shares from a table with the columns class,share or group,class,share, or with a row for each group and a
/// column for each class.
fn shares(input: &Input, classes: &Classes, by: &[String]) -> Result<Shares> {
    let TextTable { names, rows } = input.read_text(0)?;
    let column = |wanted: &str| names.iter().position(|name| same_name(name, wanted));
    let long = column("class").zip(column("share"));
    let wide: Vec<Option<usize>> = classes.names().iter().map(|class| column(class)).collect();
    if long.is_none() && wide.iter().all(Option::is_none) {
        return Err(Error::data(format!(
            "it has neither the columns class and share nor one column per class ({classes}); add them"
        )));
    }
    let of_shares = |place: usize| match long {
        Some((class, share)) => place == class || place == share,
        None => wide.contains(&Some(place)),
    };
    let others: Vec<usize> = (0..names.len()).filter(|&place| !of_shares(place)).collect();
    let groups = group_columns(&names, &others, by)?;
    let number = |row: usize, text: &str| -> Result<f64> {
        let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| Error::data(format!("row {}: {} is not a number; enter a share", row + 1, quoted(text))))
    };
    let mut found: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (row, values) in rows.iter().enumerate() {
        let name = group_name(groups.iter().map(|&place| values[place].as_str()));
        let shares = found.entry(name).or_insert_with(|| vec![f64::NAN; classes.len()]);
        let given: Vec<(usize, usize)> = match long {
            Some((class, share)) => {
                let class = classes.position(values[class].trim());
                vec![(class.map_err(|error| Error::data(format!("row {}: {error}", row + 1)))?, share)]
            }
            None => wide.iter().enumerate().filter_map(|(class, place)| Some((class, (*place)?))).collect(),
        };
        for (class, place) in given {
            if !shares[class].is_nan() {
                let class = &classes.names()[class];
                return Err(Error::data(format!("row {}: the share of {class:?} is given twice; keep one", row + 1)));
            }
            shares[class] = number(row, &values[place])?;
        }
    }
    let is_missing = |class: &usize| found.values().any(|shares| shares[*class].is_nan());
    let missing = (0..classes.len()).filter(is_missing).map(|class| classes.names()[class].clone()).collect();
    found.values_mut().flatten().filter(|share| share.is_nan()).for_each(|share| *share = 0.0);
    match (groups.is_empty(), found.len()) {
        (_, 0) => Err(Error::data("it has no rows; add the shares")),
        (true, _) => Ok((PerGroup::Overall(found.into_values().flatten().collect()), missing)),
        (false, _) => Ok((PerGroup::ByGroup(found), missing)),
    }
}

/// Returns the columns that name groups: the columns in `by`, otherwise the only remaining one.
fn group_columns(names: &[String], others: &[usize], by: &[String]) -> Result<Vec<usize>> {
    let named = |by: &String| others.iter().copied().find(|&place| same_name(&names[place], by));
    if let Some(places) = by.iter().map(named).collect::<Option<Vec<_>>>().filter(|places| !places.is_empty()) {
        return Ok(places);
    }
    if others.len() > 1 {
        let columns = others.iter().map(|&place| names[place].as_str()).collect::<Vec<_>>().join(", ");
        let which = Message::from(format!("several columns may be the groups: {columns}; name them as in "));
        return Err(Error::Data(which + Setting::By + ", or leave the others out"));
    }
    Ok(others.to_vec())
}

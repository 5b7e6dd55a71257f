//! References by name, or from a file of shares.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use apportion::{Classes, PerGroup, Reference};
use apportion_io::{Input, InputOptions, TextTable, group_name, quoted, same_name};

use crate::host::Host;

/// posterior, truth, uniform, or a file, as [`values::reference`](crate::values::reference) let it through; and what is worth
/// a word of it.
pub(crate) fn read(
    text: &str,
    classes: &Classes,
    by: &[String],
    host: Option<&Host>,
) -> Result<(Reference, Vec<String>)> {
    let reference = match text {
        "posterior" => Reference::Posterior,
        "truth" => Reference::Truth,
        "uniform" => Reference::Uniform,
        path => return of_file("--reference", path, classes, by, host),
    };
    Ok((reference, Vec::new()))
}

/// How many rows a file of shares has.
pub(crate) fn rows(path: &str) -> Result<u64> {
    let table = opened(path, None).and_then(|input| Ok(input.read_text(0)?));
    Ok(table.with_context(|| format!("--reference {path}"))?.rows.len() as u64)
}

/// A file of shares, or what another program lends in its place.
fn opened(path: &str, host: Option<&Host>) -> Result<Input> {
    Ok(match host.and_then(|host| host.reference.clone()) {
        Some(held) => Input::from_memory(path, held, InputOptions::default()),
        None => Input::new(&[path.to_owned()], InputOptions::default())?,
    })
}

/// Shares from a file that an option names, and what is worth a word of it.
pub(crate) fn of_file(
    option: &str,
    path: &str,
    classes: &Classes,
    by: &[String],
    host: Option<&Host>,
) -> Result<(Reference, Vec<String>)> {
    let shares = opened(path, host).and_then(|input| shares(&input, classes, by));
    let (shares, missing) = shares.with_context(|| format!("{option} {path}"))?;
    let remark = |class: &String| format!("{path}: no share of {class:?} is given; it counts as 0");
    Ok((Reference::Shares(shares), missing.iter().map(remark).collect()))
}

/// Shares of all rows or of each group, and the classes that are missing somewhere.
type Shares = (PerGroup<Vec<f64>>, Vec<String>);

/// Shares from a table with class,share; with group,class,share; or with a row for each group and a column for each class.
fn shares(input: &Input, classes: &Classes, by: &[String]) -> Result<Shares> {
    let TextTable { names, rows } = input.read_text(0)?;
    let column = |wanted: &str| names.iter().position(|name| same_name(name, wanted));
    let long = column("class").zip(column("share"));
    let wide: Vec<Option<usize>> = classes.names().iter().map(|class| column(class)).collect();
    if long.is_none() && wide.iter().all(Option::is_none) {
        bail!("it has neither the columns class and share nor one for each class ({classes})");
    }
    let of_shares = |place: usize| match long {
        Some((class, share)) => place == class || place == share,
        None => wide.contains(&Some(place)),
    };
    let others: Vec<usize> = (0..names.len()).filter(|&place| !of_shares(place)).collect();
    let groups = group_columns(&names, &others, by)?;
    let number = |row: usize, text: &str| -> Result<f64> {
        let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
        number.with_context(|| format!("row {}: {} is no number; write a share there", row + 1, quoted(text)))
    };
    let mut found: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (row, values) in rows.iter().enumerate() {
        let name = group_name(groups.iter().map(|&place| values[place].as_str()));
        let shares = found.entry(name).or_insert_with(|| vec![f64::NAN; classes.len()]);
        let given: Vec<(usize, usize)> = match long {
            Some((class, share)) => {
                vec![(classes.position(values[class].trim()).with_context(|| format!("row {}", row + 1))?, share)]
            }
            None => wide.iter().enumerate().filter_map(|(class, place)| Some((class, (*place)?))).collect(),
        };
        for (class, place) in given {
            if !shares[class].is_nan() {
                bail!("row {}: the share of {:?} is given twice", row + 1, classes.names()[class]);
            }
            shares[class] = number(row, &values[place])?;
        }
    }
    let is_missing = |class: &usize| found.values().any(|shares| shares[*class].is_nan());
    let missing = (0..classes.len()).filter(is_missing).map(|class| classes.names()[class].clone()).collect();
    found.values_mut().flatten().filter(|share| share.is_nan()).for_each(|share| *share = 0.0);
    match (groups.is_empty(), found.len()) {
        (_, 0) => bail!("it has no rows"),
        (true, _) => Ok((PerGroup::Overall(found.into_values().flatten().collect()), missing)),
        (false, _) => Ok((PerGroup::ByGroup(found), missing)),
    }
}

/// The columns that name groups: those that the rows have their groups by, or else the one that is left.
fn group_columns(names: &[String], others: &[usize], by: &[String]) -> Result<Vec<usize>> {
    let named = |by: &String| others.iter().copied().find(|&place| same_name(&names[place], by));
    if let Some(places) = by.iter().map(named).collect::<Option<Vec<_>>>().filter(|places| !places.is_empty()) {
        return Ok(places);
    }
    if others.len() > 1 {
        let columns = others.iter().map(|&place| names[place].as_str()).collect::<Vec<_>>().join(", ");
        bail!("which of its columns {columns} name the groups? Call them as --by does, or leave the others out");
    }
    Ok(others.to_vec())
}

//! References by name, or from a file of shares.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use apportion::{Classes, Reference, Spread};
use apportion_table::{Input, InputOptions, same_name};
use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::DataType;

use crate::text;

/// posterior, truth, uniform, or a file, as [`values::reference`](crate::values::reference) let it through.
pub(crate) fn read(text: &str, classes: &Classes) -> Result<Reference> {
    Ok(match text {
        "posterior" => Reference::Posterior,
        "truth" => Reference::Truth,
        "uniform" => Reference::Uniform,
        path => Reference::Shares(shares(path, classes).with_context(|| format!("--reference {path}"))?),
    })
}

/// Shares from a table with class,share; with group,class,share; or with a row for each group and a column for each class.
fn shares(path: &str, classes: &Classes) -> Result<Spread<Vec<f64>>> {
    let (names, rows) = text_of(path)?;
    let column = |wanted: &str| names.iter().position(|name| same_name(name, wanted));
    let number = |row: usize, text: &str| -> Result<f64> {
        text.trim().parse().ok().with_context(|| format!("row {}: {text:?} is no number; write a share there", row + 1))
    };
    if let (Some(class), Some(share)) = (column("class"), column("share")) {
        let group = (0..names.len()).find(|&place| place != class && place != share);
        let mut found: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for (row, values) in rows.iter().enumerate() {
            let place = classes.position(values[class].trim()).with_context(|| format!("row {}", row + 1))?;
            let name = group.map_or("", |group| values[group].as_str()).to_owned();
            let shares = found.entry(name).or_insert_with(|| vec![f64::NAN; classes.len()]);
            if !shares[place].is_nan() {
                bail!("row {}: the share of {:?} is given twice", row + 1, classes.names()[place]);
            }
            shares[place] = number(row, &values[share])?;
        }
        for shares in found.values_mut() {
            for (share, class) in shares.iter_mut().zip(classes.names()).filter(|(share, _)| share.is_nan()) {
                text::say(format!("{path}: no share of {class:?} is given; it counts as 0"));
                *share = 0.0;
            }
        }
        return match (group, found.remove("")) {
            (None, Some(shares)) => Ok(Spread::Overall(shares)),
            (None, None) => bail!("it has no rows"),
            (Some(_), _) => Ok(Spread::ByGroup(found)),
        };
    }
    let places: Vec<Option<usize>> = classes.names().iter().map(|class| column(class)).collect();
    if places.iter().all(Option::is_none) {
        bail!("it has neither the columns class and share nor one for each class ({classes})");
    }
    let group = (0..names.len()).find(|place| !places.contains(&Some(*place)));
    let mut found = BTreeMap::new();
    for (row, values) in rows.iter().enumerate() {
        let share = |place: &Option<usize>| place.map_or(Ok(0.0), |place| number(row, &values[place]));
        let shares = places.iter().map(share).collect::<Result<Vec<f64>>>()?;
        found.insert(group.map_or_else(String::new, |group| values[group].clone()), shares);
    }
    match (group, found.len()) {
        (None, 1) => Ok(Spread::Overall(found.into_values().flatten().collect())),
        (None, _) => bail!("it has several rows and no column that names their groups"),
        (Some(_), _) => Ok(Spread::ByGroup(found)),
    }
}

/// A small table as text.
fn text_of(path: &str) -> Result<(Vec<String>, Vec<Vec<String>>)> {
    let input = Input::new(&[path.to_owned()], InputOptions::default())?;
    let batches = input.open(0)?;
    let names = batches.names();
    let mut rows = Vec::new();
    for batch in batches {
        let batch = batch?;
        let columns =
            batch.columns().iter().map(|column| cast(column, &DataType::Utf8)).collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            rows.push(columns.iter().map(|column| column.as_string::<i32>().value(row).to_owned()).collect());
        }
    }
    Ok((names, rows))
}

//! The synthetic North Carolina of 100,000 voters in the data files next to the checkout.

use std::collections::HashMap;
use std::fs::File;

use apportion::{Classes, Groups, Label, Matrix, Scores};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;

use super::shared;

pub const CLASSES: [&str; 6] = ["white", "black", "hispanic", "asian", "aian", "other"];

pub struct Voters {
    pub classes: Classes,
    pub scores: Vec<f64>,
    pub truth: Vec<Label>,
    pub counties: Vec<u32>,
    pub county_names: Vec<String>,
}

pub fn rows(name: &str) -> Option<Vec<parquet::record::Row>> {
    let reader = SerializedFileReader::new(File::open(shared(name)?).unwrap()).unwrap();
    Some(reader.get_row_iter(None).unwrap().map(|row| row.unwrap()).collect())
}

pub fn voters() -> Option<Voters> {
    let classes = Classes::new(CLASSES).unwrap();
    let (mut scores, mut truth, mut counties, mut names) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut codes = HashMap::new();
    for row in rows("nc_synth_100k.parquet")? {
        // id, county, county_fips, surname, race, then the scores
        scores.extend((5..11).map(|column| row.get_double(column).unwrap()));
        truth.push(classes.position(row.get_string(4).unwrap()).unwrap() as Label);
        let county = row.get_string(1).unwrap();
        counties.push(*codes.entry(county.clone()).or_insert_with(|| {
            names.push(county.clone());
            names.len() as u32 - 1
        }));
    }
    Some(Voters { classes, scores, truth, counties, county_names: names })
}

impl Voters {
    /// Returns the table with truth and counties.
    pub fn table(&self) -> Scores<'_> {
        let scores = Scores::new(&self.classes, Matrix::RowsF64(&self.scores)).unwrap();
        let scores = scores.with_truth(&self.truth).unwrap();
        scores.with_groups(Groups { codes: &self.counties, names: &self.county_names }).unwrap()
    }
}

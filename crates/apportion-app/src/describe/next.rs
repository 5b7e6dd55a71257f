//! The commands that can be run on a described file.

use apportion::text::Setting;

use super::{Column, Content};
use crate::demo::Step;

/// Returns the commands for a file with these columns, the most useful first.
pub(super) fn commands(inputs: &[String], columns: &[Column]) -> Vec<Step> {
    let find = |content| columns.iter().find(|column| column.content == Some(content)).map(|own| own.name.as_str());
    let first = |contents: &[Content]| contents.iter().find_map(|content| find(*content));
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let truth = find(Content::Truth);
    let group = first(&[Content::CountyName, Content::County, Content::State]);
    if find(Content::Score).is_none() {
        return predict(&inputs, columns);
    }
    let mut steps = Vec::new();
    if find(Content::Label).is_some() {
        let title = "Measure the bias of the labels";
        steps.push(Step::new(title, "audit", &inputs).with_column(Setting::Truth, truth));
    } else {
        let label = |title: &str, by: Option<&str>| {
            let step = Step::new(title, "label", &inputs).with(Setting::Output, "labels.csv");
            step.with_column(Setting::By, by).with_column(Setting::Id, find(Content::Id))
        };
        steps.push(label("Label every row, with the counts that the scores sum to", None));
        let by = group.map(|group| label("The same in each group", Some(group)));
        steps.extend(by);
    }
    let title = "Compare all rules";
    steps.push(Step::new(title, "compare", &inputs).with_column(Setting::Truth, truth));
    steps
}

/// Returns the commands that compute scores from names and places.
fn predict(inputs: &[&str], columns: &[Column]) -> Vec<Step> {
    let find = |content| columns.iter().find(|column| column.content == Some(content)).map(|own| own.name.as_str());
    if find(Content::Surname).is_none() && find(Content::FullName).is_none() {
        return Vec::new();
    }
    let places = [Content::BlockGroup, Content::Tract, Content::Zcta, Content::County, Content::State];
    let has_places = places.into_iter().any(|place| find(place).is_some());
    let title = match (has_places, find(Content::CountyName)) {
        (true, _) => "Compute scores from names and places",
        (false, Some(_)) => "Compute scores from names and counties, if all people live in one state, such as NC",
        (false, None) => "Compute scores from names alone",
    };
    let mut step = Step::new(title, "predict", inputs).with(Setting::Output, "scores.csv");
    if find(Content::Surname).is_none() {
        step = step.with_column(Setting::FullName, find(Content::FullName));
    }
    step = match (has_places, find(Content::CountyName)) {
        (true, _) => step,
        (false, Some(_)) => step.with(Setting::Within, "NC"),
        (false, None) => step.with(Setting::Geography, "none"),
    };
    vec![step]
}

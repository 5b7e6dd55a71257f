//! Finds the columns of an output that contain labels, their scores or people, and those that repeat the input.

use apportion::Classes;
use apportion::text::{Message, Setting};
use apportion_io::Input;

use super::Request;
use super::stop::{Checked, differs};
use crate::Error;
use crate::provenance::{Recorded, holds_metadata};

/// The columns of the output, by content.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// Columns of the input that are also in the output.
    pub(super) kept: Vec<String>,
    /// The columns whose values are compared, except those found to be identical byte by byte.
    pub(super) compared: Vec<String>,
    /// The label column of each draw, and the column of its scores if there is one.
    pub(super) labels: Vec<(String, Option<String>)>,
    /// With counts: the columns with the people of each class, and with unlabeled people.
    pub(super) people: Vec<String>,
    pub(super) id: Option<String>,
    /// Whether one side is text, in which empty and missing cells cannot be distinguished.
    pub(super) is_text: bool,
}

impl Columns {
    /// Finds the columns of an output from the settings with which it was made.
    pub(super) fn find(
        request: &Request,
        settings: &Recorded,
        classes: &Classes,
        input: &Input,
        output: &Input,
    ) -> Checked<Columns> {
        let (of_input, of_output) = (input.columns(0)?, output.columns(0)?);
        let name = request.label.clone().or_else(|| settings.label.clone()).unwrap_or_else(|| "label".into());
        let (mut labels, mut people) = (Vec::new(), Vec::new());
        if settings.count.is_some() {
            people.extend(classes.names().iter().map(|class| format!("n_{class}")));
            people.push("n_uncoded".into());
        } else {
            let draws = settings.draws.unwrap_or(1);
            for draw in 1..=draws {
                let label = if draws == 1 { name.clone() } else { format!("{name}_{draw}") };
                let score = format!("{label}_score");
                let has_score = of_output.contains(&score) && !of_input.contains(&score);
                labels.push((label, has_score.then_some(score)));
            }
        }
        let added: Vec<&String> = people.iter().chain(labels.iter().map(|(label, _)| label)).collect();
        if let Some(missing) = added.iter().find(|column| !of_output.contains(column)) {
            let problem = format!("{}: it has no column {missing:?}; ", output.name(0).display());
            let fix = Message::from("name the column of the labels with ") + Setting::Label;
            let fix = fix + ", or the count column with " + Setting::Count;
            return Err(Error::Settings(Message::from(problem) + fix).into());
        }
        let is_new = |column: &String| added.contains(&column);
        let has_only_labels = settings.only_label
            || settings.id.as_ref().is_some_and(|id| of_output.iter().all(|column| column == id || is_new(column)));
        let kept: Vec<String> = match (has_only_labels, &settings.id) {
            (true, Some(id)) => vec![id.clone()],
            (true, None) => {
                let problem = "the output contains only labels; name the ID column with ";
                return Err(Error::Data(Message::from(problem) + Setting::Id).into());
            }
            (false, Some(_) | None) => of_input,
        };
        if let Some(missing) = kept.iter().find(|column| !of_output.contains(column)) {
            let path = output.name(0).display();
            return Err(differs(format!("{path}: it does not have column {missing:?} of the input")));
        }
        let is_text = has_text_file(input) || has_text_file(output);
        Ok(Columns { compared: kept.clone(), kept, labels, people, id: settings.id.clone(), is_text })
    }

    /// Returns the columns of the output that are read.
    pub(super) fn of_output(&self) -> Vec<String> {
        let mut columns: Vec<String> = self.compared.iter().chain(&self.people).cloned().collect();
        for (label, score) in &self.labels {
            columns.push(label.clone());
            columns.extend(score.clone());
        }
        columns
    }
}

fn has_text_file(files: &Input) -> bool {
    let is_text =
        |file: usize| files.memory_table(file).is_none() && !holds_metadata(&files.name(file).to_string_lossy());
    (0..files.names().len()).any(is_text)
}

//! The label columns: their contents and names.

use apportion::Labels;
use apportion::rule::Allotment;

use crate::table::Table;

/// The labels of the rows of a table.
#[derive(Clone, Copy, Debug)]
pub enum Assigned<'a> {
    /// A label for each row, once for each draw.
    Labels(&'a [Labels]),
    /// For rows that represent several people, the number of people in each class.
    People(&'a Allotment),
}

/// The names of label columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelColumns {
    /// The name of the label column; draws are numbered if there are several. Columns of people are
    /// called `n_CLASS`.
    pub name: String,
    /// Whether each label has a column with its score, `NAME_score`.
    pub with_scores: bool,
}

impl LabelColumns {
    /// Returns the names of the new columns.
    pub fn names(&self, table: &Table, draws: u64) -> Vec<String> {
        if table.has_counts() {
            let names = table.classes().names().iter().map(String::as_str).chain(["uncoded"]);
            return names.map(|name| format!("n_{name}")).collect();
        }
        let mut names = Vec::new();
        for draw in 1..=draws {
            let name = if draws == 1 { self.name.clone() } else { format!("{}_{draw}", self.name) };
            let score = self.with_scores.then(|| format!("{name}_score"));
            names.push(name);
            names.extend(score);
        }
        names
    }
}

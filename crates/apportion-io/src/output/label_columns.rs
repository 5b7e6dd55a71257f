//! The columns of labels: what rows were given, and how the columns are named.

use apportion::Labels;
use apportion::rule::Allotment;

use crate::table::Table;

/// What the rows of a table were given.
#[derive(Clone, Copy, Debug)]
pub enum Assigned<'a> {
    /// A label for each row, once for each draw.
    Labels(&'a [Labels]),
    /// For rows that represent several people, how many of them have each class.
    People(&'a Allotment),
}

/// How label columns are named.
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

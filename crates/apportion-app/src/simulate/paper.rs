//! Rows of the paper's simulations: people without names, with the best possible scores.

use apportion::simulate::Generator;
use apportion_io::{PlainColumn, PlainRows, PlainValues};

use super::{RowMaker, score_columns};

/// Makes rows with the columns `id`, `truth`, `p_1`, `p_2`, ….
pub(super) struct PaperRows<G> {
    generator: G,
    classes: Vec<String>,
    double: bool,
}

impl<G: Generator> PaperRows<G> {
    pub(super) fn new(generator: G, double: bool) -> PaperRows<G> {
        let classes = (1..=generator.classes()).map(|class| class.to_string()).collect();
        PaperRows { generator, classes, double }
    }
}

impl<G: Generator + Sync> RowMaker for PaperRows<G> {
    fn rows(&self, start: u64, rows: u64) -> PlainRows {
        let k = self.classes.len();
        let mut scores = vec![0.0; rows as usize * k];
        let mut truth = Vec::with_capacity(rows as usize);
        for (row, index) in scores.chunks_exact_mut(k).zip(start..) {
            let class = self.generator.row(index, row);
            truth.push(self.classes[usize::from(class)].as_str());
        }
        let mut columns = vec![
            PlainColumn::new("id", PlainValues::Whole((start + 1..=start + rows).collect())),
            PlainColumn::new("truth", PlainValues::Text(truth.into_iter().collect())),
        ];
        columns.extend(score_columns(&scores, &self.classes, self.double));
        PlainRows::new(columns)
    }
}

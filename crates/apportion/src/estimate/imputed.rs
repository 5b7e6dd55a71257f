//! Multiple imputation: classes drawn by the scores several times and combined by Rubin's rules, so that the interval
//! includes the uncertainty about each person's class.

use super::cells::Cells;
use super::figures::{Estimate, Figure, Gap, Mean, Moments, pairs};
use super::outcomes::{Measure, Outcomes};
use crate::audit::{Interval, NORMAL, read};
use crate::error::{Error, Result};
use crate::rule::{person_key, sample_each};
use crate::scores::{Scores, expect_length};

/// Default number of draws.
pub const IMPUTATIONS: u32 = 20;

/// Outcomes by drawn class, for several draws. One pass; it can be merged and does not depend on the row order.
///
/// The draws are those of Thompson sampling with the same seed and keys: draw d is
/// [`Decision::draw`](crate::Decision::draw) d.
#[derive(Clone, Debug)]
pub struct Imputed {
    classes: usize,
    draws: usize,
    seed: u64,
    measure: Measure,
    /// By draw, then by class.
    cells: Cells,
}

impl Imputed {
    /// Draws a class for each person `draws` times (from 5 to 1,000).
    pub fn of(scores: &Scores<'_>, outcomes: &Outcomes<'_>, draws: u32, seed: u64) -> Result<Imputed> {
        expect_length("the list of outcomes", outcomes.rows(), scores.rows())?;
        if !(5..=1000).contains(&draws) {
            let what = "the number of imputations".to_owned();
            return Err(Error::Parameter { what, value: f64::from(draws), range: "from 5 to 1000" });
        }
        let (classes, measure, draws) = (scores.classes().len(), outcomes.measure(), draws as usize);
        let (cells, _) = read(
            scores,
            || (Cells::new(&measure, draws * classes), Vec::new()),
            |(cells, buffer), index, row, people, _| {
                let Some(value) = outcomes.at(index) else { return };
                let (key, weight) = (scores.keys().of(index), outcomes.weight(index));
                for person in 0..people {
                    let key = person_key(key, person);
                    sample_each(row, seed, key, draws as u64, buffer, |draw, class| {
                        cells.add(draw as usize * classes + class, value, 1, weight);
                    });
                }
            },
            |(cells, _), (part, _)| cells.merge(&part),
        )?;
        Ok(Imputed { classes, draws, seed, measure, cells })
    }

    /// Adds the draws of other rows, with the same number and seed.
    pub fn merge(&mut self, other: &Imputed) -> Result<()> {
        if (self.classes, self.draws, self.seed) != (other.classes, other.draws, other.seed) {
            return Err(Error::Tally { what: "classes, draws or seed" });
        }
        self.measure.check_same(&other.measure)?;
        self.cells.merge(&other.cells);
        Ok(())
    }

    /// Returns the mean outcome of each class, for each requested level. Draws without people of a class are
    /// omitted for it.
    pub fn estimates(&self) -> Vec<Estimate> {
        self.measure.shown().map(|level| self.estimate(level)).collect()
    }

    fn estimate(&self, level: usize) -> Estimate {
        let moments: Vec<Vec<Moments>> = (0..self.classes)
            .map(|class| (0..self.draws).map(|draw| self.cells.moments([draw * self.classes + class], level)).collect())
            .collect();
        let figure = |own: &Vec<Moments>| {
            let known = own.iter().filter_map(|moments| Some((moments.mean()?, moments.variance)));
            let pooled = Pooled::of(&known.collect::<Vec<_>>())?;
            let estimate = self.measure.about() + pooled.mean;
            let people = own.iter().map(|moments| moments.effective_n).sum::<f64>() / self.draws as f64;
            // With known classes, the variance would be its first part only.
            let effective_n = if pooled.variance > 0.0 { people * pooled.within / pooled.variance } else { people };
            let error = pooled.variance.sqrt();
            let mean = Mean { quantile: pooled.quantile(), ..Mean::new(pooled.mean, effective_n) };
            let interval = mean.interval(&self.measure, error);
            Some(Figure { estimate: Some(estimate), error: Some(error), interval: Some(interval), effective_n })
        };
        let gap = |(a, b): (usize, usize)| {
            let both = moments[a].iter().zip(&moments[b]);
            let known = both.filter_map(|(a, b)| Some((a.mean()? - b.mean()?, a.variance + b.variance)));
            let pooled = Pooled::of(&known.collect::<Vec<_>>())?;
            let (error, half) = (pooled.variance.sqrt(), pooled.quantile() * pooled.variance.sqrt());
            let interval = Some(Interval { low: pooled.mean - half, high: pooled.mean + half });
            Some(Gap { class: a, against: b, difference: Some(pooled.mean), error: Some(error), interval })
        };
        Estimate { classes: moments.iter().map(figure).collect(), gaps: pairs(self.classes).filter_map(gap).collect() }
    }
}

/// Several draws of one figure with their variances, combined by Rubin's rules.
struct Pooled {
    mean: f64,
    /// The mean of the variances.
    within: f64,
    /// The total variance, including that between draws.
    variance: f64,
    freedom: f64,
}

impl Pooled {
    /// Returns `None` for fewer than two draws.
    fn of(draws: &[(f64, f64)]) -> Option<Pooled> {
        let number = draws.len() as f64;
        if draws.len() < 2 {
            return None;
        }
        let mean = draws.iter().map(|(value, _)| value).sum::<f64>() / number;
        let within = draws.iter().map(|(_, variance)| variance).sum::<f64>() / number;
        let between = draws.iter().map(|(value, _)| (value - mean).powi(2)).sum::<f64>() / (number - 1.0);
        let more = (1.0 + 1.0 / number) * between;
        let freedom = if more > 0.0 { (number - 1.0) * (1.0 + within / more).powi(2) } else { f64::INFINITY };
        Some(Pooled { mean, within, variance: within + more, freedom })
    }

    /// Returns the 97.5% quantile of Student's distribution by its expansion in the degrees of freedom, accurate
    /// to 0.001 from four on.
    fn quantile(&self) -> f64 {
        let (z, f) = (NORMAL, self.freedom.max(4.0));
        let power = |exponent: i32| z.powi(exponent);
        z + (power(3) + z) / (4.0 * f)
            + (5.0 * power(5) + 16.0 * power(3) + 3.0 * z) / (96.0 * f.powi(2))
            + (3.0 * power(7) + 19.0 * power(5) + 17.0 * power(3) - 15.0 * z) / (384.0 * f.powi(3))
            + (79.0 * power(9) + 776.0 * power(7) + 1482.0 * power(5) - 1920.0 * power(3) - 945.0 * z)
                / (92160.0 * f.powi(4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rubins_rules_by_hand() {
        // Means 1, 2, 3 with variances 0.5, 0.25, 0.75: within 0.5, between 1, total 0.5 + 4/3.
        let pooled = Pooled::of(&[(1.0, 0.5), (2.0, 0.25), (3.0, 0.75)]).expect("draws");
        assert!((pooled.mean - 2.0).abs() < 1e-15 && (pooled.within - 0.5).abs() < 1e-15);
        assert!((pooled.variance - 11.0 / 6.0).abs() < 1e-15);
        assert!((pooled.freedom - 2.0 * (11.0f64 / 8.0).powi(2)).abs() < 1e-12);
        assert!(Pooled::of(&[(1.0, 0.5)]).is_none());
    }

    #[test]
    fn students_quantiles_are_those_of_tables() {
        for (freedom, quantile) in
            [(4.0, 2.776_445), (5.0, 2.570_582), (9.0, 2.262_157), (19.0, 2.093_024), (1e9, NORMAL)]
        {
            let own = Pooled { mean: 0.0, within: 0.0, variance: 0.0, freedom }.quantile();
            assert!((own - quantile).abs() < 1e-3, "{freedom}: {own}");
        }
    }
}

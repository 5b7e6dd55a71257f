//! The labels of rules for scores of three classes, as points of a triangle (fig:simplex-main, fig:simplex-appendix).

use apportion::{Classes, Label, Matrix, Result, Scores, Settings, UNCODED};

use crate::people::People;
use crate::voters::rules;

/// The classes. The scores of all others are added up.
pub const CORNERS: [&str; 3] = ["white", "black", "other"];

/// The rules of fig:simplex-main, by their names in `published.csv`.
pub const MAIN_RULES: [&str; 4] = ["argmax", "threshold 0.8", "thompson", "match"];

/// The rules of fig:simplex-appendix.
pub const APPENDIX_RULES: [&str; 3] = ["top-2", "balance γ 0.9", "learned"];

/// The number of people who are shown.
const POINTS: usize = 1000;

/// Some people's scores, and their labels by each rule.
#[derive(Clone, Debug)]
pub struct Simplex {
    /// The number of people who are labeled, of whom only the first are shown.
    pub people: usize,
    /// The scores of the people who are shown.
    pub points: Vec<[f64; 3]>,
    /// Their labels by each rule. `None` if they are unlabeled.
    pub labels: Vec<(&'static str, Vec<Option<usize>>)>,
}

impl Simplex {
    /// Adds up the scores of all classes except the first two, and labels everyone.
    pub(crate) fn of(people: &People, settings: &Settings) -> Result<Simplex> {
        let sums = people.values.chunks_exact(people.values.len() / people.truth.len());
        let points: Vec<[f64; 3]> = sums.map(|row| [row[0], row[1], row[2..].iter().sum()]).collect();
        Simplex::of_points(&points, settings)
    }

    fn of_points(points: &[[f64; 3]], settings: &Settings) -> Result<Simplex> {
        let classes = Classes::new(CORNERS)?;
        let scores = Scores::new(&classes, Matrix::RowsF64(points.as_flattened()))?;
        let shown = points.len().min(POINTS);
        let corner = |label: &Label| (*label != UNCODED).then_some(usize::from(*label));
        let is_shown = |name: &&str| MAIN_RULES.contains(name) || APPENDIX_RULES.contains(name);
        let labels = rules()
            .into_iter()
            .filter(|(name, _)| is_shown(name))
            .map(|(name, rule)| {
                let labels = rule.label(&scores, settings)?.labels;
                Ok((name, labels.values()[..shown].iter().map(corner).collect()))
            })
            .collect::<Result<_>>()?;
        Ok(Simplex { people: points.len(), points: points[..shown].to_vec(), labels })
    }

    /// Returns the labels of a rule.
    pub fn labels_of(&self, rule: &str) -> &[Option<usize>] {
        self.labels.iter().find(|(name, _)| *name == rule).map_or(&[], |(_, labels)| labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The points of a triangle with 35 steps per side, without ties for the largest score, more often near the first
    /// corner: 1,000 people or fewer, so that all are shown.
    fn grid() -> Vec<[f64; 3]> {
        const STEPS: usize = 35;
        let mut points = Vec::new();
        for a in 0..=STEPS {
            for b in 0..=STEPS - a {
                let point = [a, b, STEPS - a - b].map(|part| part as f64 / STEPS as f64);
                let mut sorted = point;
                sorted.sort_by(f64::total_cmp);
                if sorted[2] > sorted[1] {
                    points.extend(std::iter::repeat_n(point, if point[0] > 0.5 { 2 } else { 1 }));
                }
            }
        }
        points
    }

    /// The largest gain from an exchange of labels that keeps all counts: along a cycle of two or three classes, the
    /// person at each class for whom the next class is best moves there.
    fn best_exchange(points: &[[f64; 3]], labels: &[Option<usize>]) -> f64 {
        let step = |from: usize, to: usize| {
            let own = points.iter().zip(labels).filter(|(_, label)| **label == Some(from));
            own.map(|(point, _)| point[to] - point[from]).fold(f64::NEG_INFINITY, f64::max)
        };
        let cycles: [&[usize]; 5] = [&[0, 1], &[0, 2], &[1, 2], &[0, 1, 2], &[0, 2, 1]];
        let gain = |cycle: &[usize]| -> f64 {
            let next = cycle.iter().cycle().skip(1);
            cycle.iter().zip(next).map(|(from, to)| step(*from, *to)).sum()
        };
        cycles.into_iter().map(gain).fold(f64::NEG_INFINITY, f64::max)
    }

    #[test]
    fn labels_on_a_grid_are_those_of_the_definitions() {
        let points = grid();
        assert!((800..=POINTS).contains(&points.len()), "{}", points.len());
        let simplex = Simplex::of_points(&points, &Settings { seed: 5, ..Settings::default() }).unwrap();
        let labels = |rule: &str| simplex.labels_of(rule);
        assert_eq!(simplex.points, points);
        let count = |rule: &str| -> [usize; 3] {
            [0, 1, 2].map(|class| labels(rule).iter().filter(|label| **label == Some(class)).count())
        };
        let ranked = |point: &[f64; 3]| {
            let mut classes = [0, 1, 2];
            classes.sort_by(|a, b| point[*b].total_cmp(&point[*a]));
            classes
        };
        for (index, point) in points.iter().enumerate() {
            let [first, second, _] = ranked(point);
            assert_eq!(labels("argmax")[index], Some(first), "{point:?}");
            assert_eq!(labels("threshold 0.8")[index], (point[first] >= 0.8).then_some(first), "{point:?}");
            let drawn = labels("thompson")[index].unwrap();
            assert!(point[drawn] > 0.0, "{point:?}: {drawn}");
            let top = labels("top-2")[index].unwrap();
            assert!(point[top] > 0.0 && point[top] >= point[second], "{point:?}: {top}");
        }
        // Match: the counts of the scores, rounded, and no better labels with these counts.
        let sums = [0, 1, 2].map(|class| points.iter().map(|point| point[class]).sum::<f64>());
        for (count, sum) in count("match").into_iter().zip(sums) {
            assert!((count as f64 - sum).abs() < 1.0, "{count} and {sum}");
        }
        assert!(best_exchange(&points, labels("match")) < 1e-9);
        assert!(best_exchange(&points, labels("balance γ 0.9")) < 1e-9);
        assert!(best_exchange(&points, labels("thompson")) > 0.5, "draws are far from it");
        // Balance: no other count in reach is better, where one person changes to any class.
        let objective = |labels: &[Option<usize>]| {
            let n = points.len() as f64;
            let accuracy: f64 = points.iter().zip(labels).map(|(point, label)| point[label.unwrap()]).sum();
            let off = |class: usize| {
                let own = labels.iter().filter(|label| **label == Some(class)).count() as f64;
                ((own - sums[class]) / n).abs()
            };
            0.9 * accuracy / n - 0.1 * (off(0) + off(1) + off(2))
        };
        let balanced = labels("balance γ 0.9").to_vec();
        let best = objective(&balanced);
        for person in 0..points.len() {
            for class in 0..3 {
                let mut changed = balanced.clone();
                changed[person] = Some(class);
                assert!(objective(&changed) <= best + 1e-12, "{:?} to {class}", points[person]);
            }
        }
        assert!(objective(labels("argmax")) < best && objective(labels("match")) < best);
        let same = labels("learned").iter().zip(labels("match")).filter(|(a, b)| a == b).count();
        assert!(same as f64 > 0.95 * points.len() as f64, "{same}");
    }
}

//! The coefficients of fits, by Newton's method, and their covariance. Least squares need one step.

use super::observe::Fit;
use super::pass::{Averages, Derivatives, Meat, Pass};
use super::solve::Inverse;
use super::{Absent, Model};
use crate::error::Result;

/// The maximum number of steps of a logistic fit.
const MAX_STEPS: usize = 60;

/// A logistic fit has converged if no coefficient changes by more than this.
const CONVERGED: f64 = 1e-9;

/// A coefficient beyond this (in standard deviations of its column) belongs to a perfect prediction.
const LARGE: f64 = 10.0;

/// Repetitions of the search for classes and levels with the same outcome.
const MAX_EXCLUSIONS: usize = 10;

/// An estimate and its variance, if it is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimated {
    pub(super) value: f64,
    pub(super) variance: Option<f64>,
}

/// The result of one fit.
pub(super) struct Fitted {
    /// By class: the difference from the baseline class.
    pub(super) gaps: Vec<Option<Estimated>>,
    /// By class, for the logistic model: the average effect.
    pub(super) effects: Vec<Option<Estimated>>,
    /// By column of the controls.
    pub(super) controls: Vec<Option<Estimated>>,
    /// By column: why it has no coefficient.
    pub(super) absent: Vec<Option<Absent>>,
    pub(super) effective_n: Vec<f64>,
    pub(super) people: u64,
    pub(super) clusters: Option<u64>,
    /// The degrees of freedom of Student's distribution.
    pub(super) freedom: f64,
    /// The controls that predict the outcome perfectly.
    pub(super) separated_by: Vec<usize>,
    pub(super) converged: bool,
}

/// The state of a fit.
struct State {
    derivatives: Derivatives,
    inverse: Inverse,
    separated: Vec<usize>,
    converged: bool,
}

/// Fits all fits of a source.
pub(super) fn fit(pass: &Pass<'_>, clusters: Option<&[u32]>, against: usize) -> Result<Vec<Fitted>> {
    let size = pass.design.size();
    let mut fits = vec![Fit::new(size); pass.source.fits()];
    let mut states = first_states(pass, &mut fits)?;
    match pass.model {
        Model::Linear => {
            for (fit, state) in fits.iter_mut().zip(&states) {
                fit.coefficients = state.inverse.times(&state.derivatives.first);
            }
        }
        Model::Logistic => newton(pass, &mut fits, &mut states)?,
    }
    let meats = pass.meat(&fits, clusters)?;
    if pass.model == Model::Linear {
        // The sums of residuals would be zero without rounding errors; this step removes most of them.
        for ((fit, state), meat) in fits.iter_mut().zip(&states).zip(&meats) {
            let step = state.inverse.times(&meat.first);
            fit.coefficients.iter_mut().zip(step).for_each(|(own, step)| *own += step);
        }
    }
    let averages = match pass.model {
        Model::Linear => Vec::new(),
        Model::Logistic => pass.averages(&fits)?,
    };
    let all = fits.iter().zip(states).zip(meats).enumerate();
    Ok(all
        .map(|(index, ((fit, state), meat))| fitted(pass, fit, &state, &meat, averages.get(index), against))
        .collect())
}

/// Returns the derivatives at zero of the linear model, whose second derivatives show which columns are collinear. For
/// the logistic model, leaves out classes and levels whose people all have the same outcome.
fn first_states(pass: &Pass<'_>, fits: &mut [Fit]) -> Result<Vec<State>> {
    let mut derivatives = pass.derivatives(Model::Linear, fits)?;
    for _ in 0..MAX_EXCLUSIONS {
        let mut found = false;
        for (fit, own) in fits.iter_mut().zip(&derivatives) {
            for (excluded, same) in fit.excluded.iter_mut().zip(&own.same_outcome) {
                found |= *same && pass.model == Model::Logistic && !*excluded;
                *excluded |= *same && pass.model == Model::Logistic;
            }
        }
        if !found {
            break;
        }
        derivatives = pass.derivatives(Model::Linear, fits)?;
    }
    let state = |(fit, derivatives): (&Fit, Derivatives)| {
        let inverse = Inverse::of(pass.design.size(), &derivatives.second, |column| !fit.excluded[column]);
        State { derivatives, inverse, separated: Vec::new(), converged: true }
    };
    Ok(fits.iter().zip(derivatives).map(state).collect())
}

/// Maximizes the likelihood of the logistic model. Steps that decrease it are halved.
fn newton(pass: &Pass<'_>, fits: &mut [Fit], states: &mut [State]) -> Result<()> {
    let size = pass.design.size();
    let kept: Vec<Vec<bool>> = states.iter().map(|state| state.inverse.kept.clone()).collect();
    let mut steps = vec![vec![0.0; size]; fits.len()];
    let mut best = vec![f64::NEG_INFINITY; fits.len()];
    states.iter_mut().for_each(|state| state.converged = false);
    for _ in 0..MAX_STEPS {
        let derivatives = pass.derivatives(Model::Logistic, fits)?;
        for (index, (fit, own)) in fits.iter_mut().zip(derivatives).enumerate().filter(|(_, (fit, _))| !fit.is_done) {
            let state = &mut states[index];
            if own.log_likelihood < best[index] - 1e-9 * best[index].abs() {
                for (own, step) in fit.coefficients.iter_mut().zip(&mut steps[index]) {
                    *step /= 2.0;
                    *own -= *step;
                }
                continue;
            }
            best[index] = own.log_likelihood;
            let mut inverse = Inverse::of(size, &own.second, |column| kept[index][column]);
            let is_large = |column: usize| fit.coefficients[column].abs() > LARGE;
            if inverse.rank() < kept[index].iter().filter(|kept| **kept).count() {
                let singular = |column: usize| kept[index][column] && !inverse.kept[column];
                state.separated = (0..size).filter(|&column| singular(column) || is_large(column)).collect();
                fit.is_done = true;
                continue;
            }
            inverse.left_out = std::mem::take(&mut state.inverse.left_out);
            let step = inverse.times(&own.first);
            fit.coefficients.iter_mut().zip(&step).for_each(|(own, step)| *own += step);
            let change = step.iter().fold(0.0f64, |most, own| most.max(own.abs()));
            steps[index] = step;
            (state.inverse, state.derivatives) = (inverse, own);
            if change < CONVERGED {
                (fit.is_done, state.converged) = (true, true);
            }
        }
        if fits.iter().all(|fit| fit.is_done) {
            break;
        }
    }
    for (fit, state) in fits.iter_mut().zip(states) {
        if !state.converged && state.separated.is_empty() {
            state.separated = (0..size).filter(|&column| fit.coefficients[column].abs() > LARGE).collect();
        }
        // Later passes read all fits.
        fit.is_done = false;
        if !state.converged {
            fit.coefficients.fill(0.0);
        }
    }
    Ok(())
}

fn fitted(
    pass: &Pass<'_>,
    fit: &Fit,
    state: &State,
    meat: &Meat,
    averages: Option<&Averages>,
    against: usize,
) -> Fitted {
    let (design, inverse, people) = (pass.design, &state.inverse, state.derivatives.people);
    let (classes, size, rank) = (design.classes, design.size(), inverse.rank());
    let absent: Vec<Option<Absent>> = absent(fit, state, classes);
    let left = people as f64 - rank as f64;
    let factor = match meat.clusters {
        _ if left <= 0.0 => None,
        None => Some(people as f64 / left),
        Some(clusters) if clusters < 2 => None,
        Some(clusters) => {
            let clusters = clusters as f64;
            Some(clusters / (clusters - 1.0) * (people as f64 - 1.0) / left)
        }
    };
    let freedom = match (pass.model, meat.clusters) {
        (Model::Logistic, _) => f64::INFINITY,
        (Model::Linear, None) => left.max(1.0),
        (Model::Linear, Some(clusters)) => clusters.saturating_sub(1).max(1) as f64,
    };
    let variance = |combination: &[f64], scale: f64| {
        factor.map(|factor| factor * scale * scale * inverse.variance(combination, &meat.pairs))
    };
    let has_gap = |class: usize| class != against && absent[class].is_none() && absent[against].is_none();
    let gap = |class: usize| {
        has_gap(class).then(|| {
            let mut combination = vec![0.0; size];
            (combination[class], combination[against]) = (1.0, -1.0);
            let value = fit.coefficients[class] - fit.coefficients[against];
            Estimated { value: value * design.scale, variance: variance(&combination, design.scale) }
        })
    };
    let effect = |class: usize| {
        let averages = averages.filter(|_| has_gap(class))?;
        let (own, its) = (&averages.slopes[class], &averages.slopes[against]);
        let combination: Vec<f64> = own.iter().zip(its).map(|(own, its)| own - its).collect();
        let value = averages.means[class] - averages.means[against];
        Some(Estimated { value, variance: variance(&combination, 1.0) })
    };
    let control = |(index, column): (usize, &super::design::Column)| {
        let at = classes + index;
        absent[at].is_none().then(|| {
            let mut combination = vec![0.0; size];
            combination[at] = 1.0;
            let scale = design.scale / column.scale;
            Estimated { value: fit.coefficients[at] * scale, variance: variance(&combination, scale) }
        })
    };
    let own_control = |&column: &usize| Some(design.columns[column.checked_sub(classes)?].control);
    let mut separated_by: Vec<usize> = state.separated.iter().filter_map(own_control).collect();
    separated_by.dedup();
    Fitted {
        gaps: (0..classes).map(gap).collect(),
        effects: (0..classes).map(effect).collect(),
        controls: design.columns.iter().enumerate().map(control).collect(),
        effective_n: state.derivatives.effective_n.clone(),
        people,
        clusters: meat.clusters,
        freedom,
        separated_by,
        converged: state.converged,
        absent,
    }
}

/// Returns why columns have no coefficient.
fn absent(fit: &Fit, state: &State, classes: usize) -> Vec<Option<Absent>> {
    let mut absent = vec![None; fit.excluded.len()];
    if !state.converged {
        absent.fill(Some(Absent::NoFit));
    }
    for (column, parts) in &state.inverse.left_out {
        if parts.is_empty() {
            absent[*column] = Some(Absent::Empty);
            continue;
        }
        absent[*column] = Some(Absent::Collinear);
        // The mean of a class is not determined if the scores of another class are a combination of its scores.
        if *column < classes {
            parts.iter().for_each(|&part| absent[part] = Some(Absent::Collinear));
        }
    }
    let excluded = absent.iter_mut().zip(&fit.excluded).filter(|(_, excluded)| **excluded);
    excluded.for_each(|(absent, _)| *absent = Some(Absent::SameOutcome));
    absent
}

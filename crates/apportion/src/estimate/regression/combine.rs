//! The result of an estimator from one fit, or from several by Rubin's rules.

use super::design::Design;
use super::distribution::Student;
use super::fit::{Estimated, Fitted};
use super::{Absent, ClassEffect, ControlEffect, Effect, Model, Regression};
use crate::audit::Interval;

/// Combines the fits of an estimator.
pub(super) fn combine(design: &Design<'_>, model: Model, against: usize, fits: &[Fitted]) -> Regression {
    // The draws whose fit converges would be a selection.
    let have_converged = fits.iter().all(|fit| fit.converged);
    let of = |get: &dyn Fn(&Fitted) -> Option<Estimated>| {
        if !have_converged {
            return None;
        }
        let all: Vec<(Estimated, f64)> = fits.iter().filter_map(|fit| Some((get(fit)?, fit.freedom))).collect();
        effect(&all, fits.len())
    };
    let reason = |column: usize, is_absent: bool| {
        let found = fits.iter().filter_map(|fit| fit.absent[column]).min_by_key(|own| rank(*own));
        found.filter(|_| is_absent)
    };
    let mean = |get: &dyn Fn(&Fitted) -> f64| fits.iter().map(get).sum::<f64>() / fits.len().max(1) as f64;
    let class = |class: usize| {
        let gap = of(&|fit| fit.gaps[class]);
        let has_average = model == Model::Logistic;
        ClassEffect {
            gap,
            average_effect: has_average.then(|| of(&|fit| fit.effects[class])).flatten(),
            effective_n: mean(&|fit| fit.effective_n[class]),
            absent: reason(class, gap.is_none()),
        }
    };
    let control = |(index, column): (usize, &super::design::Column)| {
        let effect = of(&|fit| fit.controls[index]);
        ControlEffect {
            control: column.control,
            level: column.level.map(usize::from),
            people: column.people,
            effect,
            absent: reason(design.classes + index, effect.is_none()),
        }
    };
    let mut separated_by: Vec<usize> = fits.iter().flat_map(|fit| fit.separated_by.iter().copied()).collect();
    separated_by.sort_unstable();
    separated_by.dedup();
    let mut classes: Vec<ClassEffect> = (0..design.classes).map(class).collect();
    // The baseline has no gap; it is absent only if its own coefficient is.
    classes[against].absent = reason(against, fits.iter().all(|fit| fit.absent[against].is_some()));
    Regression {
        classes,
        controls: design.columns.iter().enumerate().map(control).collect(),
        people: mean(&|fit| fit.people as f64).round() as u64,
        clusters: fits.iter().filter_map(|fit| fit.clusters).min(),
        separated_by,
        converged: have_converged,
    }
}

/// Returns the order in which reasons are reported if fits differ.
fn rank(own: Absent) -> usize {
    match own {
        Absent::NoFit => 0,
        Absent::SameOutcome => 1,
        Absent::Collinear => 2,
        Absent::Empty => 3,
    }
}

/// Returns the effect of one fit, or of several by Rubin's rules with the degrees of freedom of Barnard and Rubin (1999).
fn effect(fits: &[(Estimated, f64)], draws: usize) -> Option<Effect> {
    if draws == 1 {
        let (own, freedom) = fits.first()?;
        return Some(with_uncertainty(own.value, own.variance, Student(*freedom)));
    }
    if fits.len() < 2 {
        return None;
    }
    let number = fits.len() as f64;
    let mean = fits.iter().map(|(own, _)| own.value).sum::<f64>() / number;
    let Some(variances) = fits.iter().map(|(own, _)| own.variance).collect::<Option<Vec<f64>>>() else {
        return Some(with_uncertainty(mean, None, Student(f64::INFINITY)));
    };
    let complete = fits.iter().map(|(_, freedom)| *freedom).fold(f64::INFINITY, f64::min);
    let within = variances.iter().sum::<f64>() / number;
    let between = fits.iter().map(|(own, _)| (own.value - mean).powi(2)).sum::<f64>() / (number - 1.0);
    let more = (1.0 + 1.0 / number) * between;
    let total = within + more;
    Some(with_uncertainty(mean, Some(total), Student(degrees_of_freedom(number, within, more, complete))))
}

/// Returns the degrees of freedom from the number of draws, the variances within and between draws, and the degrees of
/// freedom with known classes.
fn degrees_of_freedom(draws: f64, within: f64, between: f64, complete: f64) -> f64 {
    let total = within + between;
    if between <= 0.0 {
        return complete;
    }
    let share = between / total;
    let by_draws = (draws - 1.0) / (share * share);
    if complete.is_infinite() {
        return by_draws;
    }
    let observed = (complete + 1.0) / (complete + 3.0) * complete * (1.0 - share);
    if observed <= 0.0 { by_draws } else { (1.0 / (1.0 / by_draws + 1.0 / observed)).max(1.0) }
}

fn with_uncertainty(estimate: f64, variance: Option<f64>, student: Student) -> Effect {
    let error = variance.map(f64::sqrt);
    let half = error.map(|error| error * student.quantile());
    let p_value = error.map(|error| match error > 0.0 {
        true => student.p_value(estimate / error),
        false => f64::from(u8::from(estimate == 0.0)),
    });
    let interval = half.map(|half| Interval { low: estimate - half, high: estimate + half });
    Effect { estimate, error, interval, p_value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rubins_rules_by_hand() {
        // Values 1, 2, 3 with variances 0.5, 0.25, 0.75: within 0.5, between 1, total 0.5 + 4/3.
        let draws = [(1.0, 0.5), (2.0, 0.25), (3.0, 0.75)];
        let fits: Vec<(Estimated, f64)> = draws
            .into_iter()
            .map(|(value, variance)| (Estimated { value, variance: Some(variance) }, f64::INFINITY))
            .collect();
        let own = effect(&fits, 3).expect("an effect");
        let total: f64 = 11.0 / 6.0;
        assert!((own.estimate - 2.0).abs() < 1e-15);
        assert!((own.error.expect("an error") - total.sqrt()).abs() < 1e-15);
        let freedom = 2.0 * (11.0f64 / 8.0).powi(2);
        assert_eq!(own.p_value, Some(Student(freedom).p_value(2.0 / total.sqrt())));
        // Barnard and Rubin: with 9 degrees of freedom for known classes.
        let observed = 10.0 / 12.0 * 9.0 * (3.0 / 11.0);
        let expected = 1.0 / (1.0 / freedom + 1.0 / observed);
        assert!((degrees_of_freedom(3.0, 0.5, 4.0 / 3.0, 9.0) - expected).abs() < 1e-12);
        assert!(effect(&fits[..1], 3).is_none());
    }
}

//! A small part of `make simulate-estimators`: estimators are right if their condition holds, and off by the bias of their
//! formula otherwise.

use apportion_trust::estimators::{Dependence, Method, simulate};

/// All classes, and the gaps of black and other to white.
const ALL: [usize; 5] = [0, 1, 2, 3, 4];

/// White, black, and the gap between them. The scores hardly identify the third class.
const LARGE: [usize; 3] = [0, 1, 3];

/// Checks an estimator whose condition holds: the bias is small, and the intervals contain the truth.
fn check(
    method: Method,
    dependence: Dependence,
    places: usize,
    files: u64,
    figures: &[usize],
    coverage: std::ops::RangeInclusive<f64>,
) {
    assert!(method.is_valid(dependence));
    let (errors, _) = simulate(method, dependence, places, 0..files, 50).expect("an estimate of each file");
    for &index in figures {
        assert_eq!(errors.files(index), files);
        let (bias, found) = (errors.bias(index), errors.coverage(index));
        assert!(coverage.contains(&found), "{method:?} with {places} places, figure {index}: covers {found}");
        assert!(bias.abs() < 0.02, "{method:?} with {places} places, figure {index}: bias {bias}");
    }
}

#[test]
fn weighted_covers_if_outcome_and_class_are_independent_given_the_scores() {
    for places in [1, 10, 400] {
        check(Method::Weighted, Dependence::NameAndPlace, places, 1000, &ALL, 0.93..=0.97);
    }
}

#[test]
fn imputed_covers_at_least_as_often_as_stated() {
    check(Method::Imputed, Dependence::NameAndPlace, 100, 200, &ALL, 0.93..=1.0);
}

#[test]
fn linear_covers_if_the_outcome_depends_on_the_class_only() {
    for places in [1, 10, 400] {
        check(Method::Linear, Dependence::Class, places, 1000, &ALL, 0.93..=0.97);
    }
}

#[test]
fn birdie_covers_large_classes_if_the_outcome_depends_on_the_class_only() {
    check(Method::Birdie, Dependence::Class, 10, 120, &LARGE, 0.9..=1.0);
}

#[test]
fn the_bias_of_weighted_is_its_formula() {
    for dependence in [Dependence::Class, Dependence::ClassAndPlace] {
        let (errors, formula) =
            simulate(Method::Weighted, dependence, 10, 0..400, 0).expect("an estimate of each file");
        for (class, formula) in formula.into_iter().enumerate() {
            let bias = errors.bias(class);
            assert!((bias - formula).abs() < 0.004, "{dependence:?}, class {class}: {bias}, by formula {formula}");
        }
        assert!(formula[2] > 0.1, "{formula:?}");
    }
}

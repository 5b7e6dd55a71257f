//! Middle names: P(surname | class) · P(first name | class) · P(middle name | class) · P(class | place), against values
//! computed by hand.
#![allow(clippy::unwrap_used)] // in helpers

use apportion_bisg::{Bisg, Level, ModelTables, NameMatch, NameTable, Numbers, Person, Place, PlaceTable, Population};
use apportion_bisg::{NameId, Scratch};

/// P(name | class): ADAMS .6 .2, ANN .25 .75, MAE .2 .6, LEE .8 .4; the county has 60 and 40 people.
fn model() -> Bisg {
    let table = |names: [&'static str; 2], people: [f64; 4]| {
        NameTable::new(2, names, people.to_vec(), Numbers::People, None).unwrap()
    };
    let surnames = table(["ADAMS", "BAKER"], [30.0, 10.0, 20.0, 40.0]);
    let first_names = Some(table(["ANN", "ZOE"], [10.0, 30.0, 30.0, 10.0]));
    let middle_names = table(["MAE", "LEE"], [5.0, 45.0, 20.0, 30.0]);
    let counties = PlaceTable::by_code(Level::County, 2, [37001], vec![60.0, 40.0], Numbers::People).unwrap();
    let tables = ModelTables { surnames, first_names, places: vec![counties], prior: None };
    Bisg::new(tables, &Population::Everybody).unwrap().with_middle_names(middle_names).unwrap()
}

fn person(model: &Bisg, names: [&str; 3]) -> Person<'static> {
    let mut scratch = Scratch::default();
    Person {
        surname: model.find_surname(names[0], &mut scratch),
        first_name: model.find_first_name(names[1], &mut scratch),
        middle_name: model.find_middle_name(names[2], &mut scratch),
        place: Place { code: Some((Level::County, 37001)), ..Place::default() },
    }
}

#[test]
fn scores_are_the_product_of_all_names_and_the_place() {
    let model = model();
    for (names, products, found) in [
        (["ADAMS", "ANN", "MAE"], [0.6 * 0.25 * 0.2 * 60.0, 0.2 * 0.75 * 0.6 * 40.0], NameMatch::Exact),
        (["ADAMS", "ANN", "Lee"], [0.6 * 0.25 * 0.8 * 60.0, 0.2 * 0.75 * 0.4 * 40.0], NameMatch::Exact),
        (["ADAMS", "ANN", "MAE JR"], [0.6 * 0.25 * 0.2 * 60.0, 0.2 * 0.75 * 0.6 * 40.0], NameMatch::Cleaned),
        // A middle name that is unknown, an initial or missing is left out.
        (["ADAMS", "ANN", "QXZQXZ"], [0.6 * 0.25 * 60.0, 0.2 * 0.75 * 40.0], NameMatch::None),
        (["ADAMS", "ANN", "M."], [0.6 * 0.25 * 60.0, 0.2 * 0.75 * 40.0], NameMatch::None),
        (["ADAMS", "", "MAE"], [0.6 * 0.2 * 60.0, 0.2 * 0.6 * 40.0], NameMatch::Exact),
    ] {
        let someone = person(&model, names);
        let mut scores = [0.0; 2];
        let info = model.score_person(&someone, &mut scores);
        let expected = products[0] / (products[0] + products[1]);
        assert!((scores[0] - expected).abs() < 1e-15 && (scores[0] + scores[1] - 1.0).abs() < 1e-15, "{names:?}");
        assert_eq!((info.middle_name, info.without_middle_name), (found, found == NameMatch::None), "{names:?}");
        let (mut all, mut infos) = ([0.0; 2], Vec::new());
        model.score_all(&[someone], &mut all, &mut infos);
        assert_eq!((all, infos[0]), (scores, info), "{names:?}");
    }
    // 1.8 to 3.6.
    let mut scores = [0.0; 2];
    model.score_person(&person(&model, ["ADAMS", "ANN", "MAE"]), &mut scores);
    assert!((scores[0] - 1.0 / 3.0).abs() < 1e-15);
}

#[test]
fn the_likelihood_of_fbisg_has_the_middle_name() {
    let model = model();
    let likelihoods = model.likelihoods().unwrap();
    let someone = person(&model, ["ADAMS", "ANN", "MAE"]);
    let mut found = [0.0; 2];
    likelihoods.of([someone.surname, someone.first_name, someone.middle_name], &mut found);
    // .6 · .25 · .2 to .2 · .75 · .6
    assert!((found[1] / found[0] - 3.0).abs() < 1e-5, "{found:?}");
    likelihoods.of([someone.surname, someone.first_name, NameId::MISSING], &mut found);
    assert!((found[1] / found[0] - 1.0).abs() < 1e-5, "{found:?}");
}

#[test]
fn a_middle_name_that_excludes_every_class_is_dropped_first() {
    let table = |names: [&'static str; 2], people: [f64; 4]| {
        NameTable::new(2, names, people.to_vec(), Numbers::People, None).unwrap()
    };
    let surnames = table(["ADAMS", "BAKER"], [10.0, 0.0, 10.0, 20.0]);
    let first_names = Some(table(["ANN", "ZOE"], [5.0, 5.0, 5.0, 0.0]));
    let tables = ModelTables { surnames, first_names, places: Vec::new(), prior: None };
    let middle_names = table(["MAE", "LEE"], [0.0, 5.0, 5.0, 5.0]);
    let model = Bisg::new(tables, &Population::Everybody).unwrap().with_middle_names(middle_names).unwrap();
    let mut scores = [0.0; 2];
    let info = model.score_person(&person(&model, ["ADAMS", "ANN", "MAE"]), &mut scores);
    assert_eq!((scores, info.without_middle_name, info.without_first_name), ([1.0, 0.0], true, false));
}

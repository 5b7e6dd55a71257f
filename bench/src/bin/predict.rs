//! Runs BISG in memory on all threads, from the text of surnames and ZIP codes to scores. Prints people and seconds.
//!
//!     predict SURNAMES.tsv ZCTAS.tsv PEOPLE.tsv ROUNDS
//!
//! A table has a key and six numbers per line, P(class | surname) or P(ZCTA | class). PEOPLE.tsv has a surname and a
//! ZCTA.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // an internal tool, which may panic

use std::fs;
use std::hint::black_box;
use std::time::Instant;

use apportion_bisg::{
    Bisg, Level, ModelTables, NameId, NameTable, Numbers, Person, Place, PlaceTable, Population, Scratch,
};
use rayon::prelude::*;

const K: usize = 6;

fn table(text: &str) -> (Vec<&str>, Vec<f64>) {
    let rows = || text.lines().map(|line| line.split_once('\t').unwrap());
    let values = rows().flat_map(|(_, values)| values.split('\t').map(|value| value.parse().unwrap_or(f64::NAN)));
    (rows().map(|(key, _)| key).collect(), values.collect())
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let texts: Vec<String> = args[..3].iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let ((names, shares), (zctas, spread)) = (table(&texts[0]), table(&texts[1]));
    let zctas = zctas.iter().map(|zcta| zcta.parse().unwrap());
    let tables = ModelTables {
        surnames: NameTable::new(K, names, shares, Numbers::Shares, None).unwrap(),
        first_names: None,
        places: vec![PlaceTable::by_code(Level::Zcta, K, zctas, spread, Numbers::KeyGivenClass).unwrap()],
        prior: None,
    };
    let bisg = Bisg::new(tables, &Population::Everybody).unwrap();
    let people: Vec<(&str, &str)> = texts[2].lines().map(|line| line.split_once('\t').unwrap()).collect();
    let mut scores = vec![0.0; people.len() * K];
    for _ in 0..args[3].parse().unwrap() {
        let begin = Instant::now();
        scores.par_chunks_mut(4096 * K).zip(people.par_chunks(4096)).for_each(|(scores, people)| {
            let mut room = Scratch::default();
            let mut hits = Vec::with_capacity(people.len());
            bisg.find_surnames(people.iter().map(|(surname, _)| *surname), &mut room, &mut hits);
            let someone = |((_, zcta), surname): (&(&str, &str), &NameId)| Person {
                surname: *surname,
                first_name: NameId::MISSING,
                middle_name: NameId::MISSING,
                place: Place { zcta: zcta.parse().ok(), ..Place::default() },
            };
            let people: Vec<Person<'_>> = people.iter().zip(&hits).map(someone).collect();
            let mut hows = Vec::with_capacity(people.len());
            bisg.score_all(&people, scores, &mut hows);
            black_box(hows);
        });
        println!("{} {}", people.len(), begin.elapsed().as_secs_f64());
    }
}

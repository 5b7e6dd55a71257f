//! The Census tables that can be imported: which column counts which people, and how they become classes.
//!
//! Sources, by the Census Bureau: the variables of the tables at `https://api.census.gov/data/2020/dec/pl/groups/P2.html`
//! (also P4), `https://api.census.gov/data/2020/dec/dhc/groups/P5.html` (also P11) and
//! `https://api.census.gov/data/2023/acs/acs5/groups/B03002.html`; annotations in
//! `https://www.census.gov/data/developers/data-sets/acs-1year/data-notes.html`.

/// The classes, in the order of the built-in tables.
pub(super) const CLASSES: [&str; 6] = ["white", "black", "hispanic", "asian", "aian", "other"];

/// A table of race and Hispanic origin.
#[derive(Debug)]
pub(super) struct CensusLayout {
    /// The code of the table, with which the names of its columns start.
    pub(super) code: &'static str,
    /// The file that it belongs to.
    pub(super) dataset: &'static str,
    /// The people that it counts.
    pub(super) population: &'static str,
    /// The last letter of columns with counts: N for numbers, E for estimates.
    suffix: char,
    cells: &'static Cells,
}

/// The numbers of the columns of a table. All but `total` and `hispanic` count people who are not Hispanic.
#[derive(Debug)]
struct Cells {
    total: u8,
    hispanic: u8,
    white: u8,
    black: u8,
    aian: u8,
    asian: u8,
    pacific: u8,
    other_race: u8,
    several: u8,
    /// Combinations that belong to one class if Some Other Race is allocated, with the index of the class.
    combinations: &'static [(u8, usize)],
    /// The last column. Other tables with the same code have fewer.
    last: u8,
}

/// P2 and P4 of the redistricting data, and P11: 73 columns with every combination of races.
static ALL_COMBINATIONS: Cells = Cells {
    total: 1,
    hispanic: 2,
    white: 5,
    black: 6,
    aian: 7,
    asian: 8,
    pacific: 9,
    other_race: 10,
    several: 11,
    // White, Black, AIAN, Asian and Pacific Islander, each with Some Other Race; Asian with Pacific Islander, without
    // and with Some Other Race.
    combinations: &[(17, 0), (21, 1), (24, 4), (26, 3), (27, 3), (25, 3), (48, 3)],
    last: 73,
};

/// P5 of the Demographic and Housing Characteristics: 17 columns.
const P5: Cells = Cells {
    total: 1,
    hispanic: 10,
    white: 3,
    black: 4,
    aian: 5,
    asian: 6,
    pacific: 7,
    other_race: 8,
    several: 9,
    combinations: &[],
    last: 17,
};

/// B03002 of the American Community Survey: 21 columns.
const B03002: Cells = Cells { hispanic: 12, last: 21, ..P5 };

const REDISTRICTING: &str = "2020 Census, redistricting data (P.L. 94-171)";
const CHARACTERISTICS: &str = "2020 Census, Demographic and Housing Characteristics";

pub(super) static LAYOUTS: [CensusLayout; 5] = [
    CensusLayout {
        code: "P2",
        dataset: REDISTRICTING,
        population: "residents of all ages",
        suffix: 'N',
        cells: &ALL_COMBINATIONS,
    },
    CensusLayout {
        code: "P4",
        dataset: REDISTRICTING,
        population: "adults (18 and over)",
        suffix: 'N',
        cells: &ALL_COMBINATIONS,
    },
    CensusLayout { code: "P5", dataset: CHARACTERISTICS, population: "residents of all ages", suffix: 'N', cells: &P5 },
    CensusLayout {
        code: "P11",
        dataset: CHARACTERISTICS,
        population: "adults (18 and over)",
        suffix: 'N',
        cells: &ALL_COMBINATIONS,
    },
    CensusLayout {
        code: "B03002",
        dataset: "American Community Survey",
        population: "residents of all ages (estimates)",
        suffix: 'E',
        cells: &B03002,
    },
];

/// The people of a place, before Some Other Race is handled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PlacePeople {
    /// By class, without combinations; `other` counts two or more races.
    pub(super) classes: [f64; 6],
    /// Some Other Race alone.
    pub(super) other_race: f64,
    /// Of two or more races, those whose combination belongs to a class, by class.
    pub(super) combinations: [f64; 6],
}

impl CensusLayout {
    /// Returns the name of a column.
    fn column(&self, cell: u8) -> String {
        format!("{}_{cell:03}{}", self.code, self.suffix)
    }

    /// Returns the columns that are read: the total, and then the others.
    pub(super) fn columns(&self) -> Vec<String> {
        let Cells { total, hispanic, white, black, aian, asian, pacific, other_race, several, combinations, .. } =
            self.cells;
        let fixed = [total, hispanic, white, black, aian, asian, pacific, other_race, several];
        fixed.into_iter().chain(combinations.iter().map(|(cell, _)| cell)).map(|cell| self.column(*cell)).collect()
    }

    /// Returns the last column of the table.
    pub(super) fn last_column(&self) -> String {
        self.column(self.cells.last)
    }

    /// Returns columns whose labels identify the table, with the last part of their labels.
    pub(super) fn labels(&self) -> [(String, &'static str); 2] {
        [(self.column(self.cells.hispanic), "Hispanic or Latino"), (self.column(self.cells.white), "White alone")]
    }

    /// Returns the people of a row, given its values in the order of [`CensusLayout::columns`]; otherwise the columns
    /// that do not add up, with both numbers.
    pub(super) fn people(&self, values: &[f64]) -> Result<PlacePeople, BadSum> {
        let &[total, hispanic, white, black, aian, asian, pacific, other_race, several, ref combinations @ ..] = values
        else {
            return Err(BadSum { whole: self.column(self.cells.total), expected: f64::NAN, parts: f64::NAN });
        };
        let sum = hispanic + white + black + aian + asian + pacific + other_race + several;
        if sum != total {
            return Err(BadSum { whole: self.column(self.cells.total), expected: total, parts: sum });
        }
        let mut people = PlacePeople {
            classes: [white, black, hispanic, asian + pacific, aian, several],
            other_race,
            combinations: [0.0; 6],
        };
        for ((_, class), count) in self.cells.combinations.iter().zip(combinations) {
            people.combinations[*class] += count;
        }
        let combined: f64 = people.combinations.iter().sum();
        if combined > several {
            return Err(BadSum { whole: self.column(self.cells.several), expected: several, parts: combined });
        }
        Ok(people)
    }

    /// Returns whether the table tells a race together with Some Other Race from other combinations.
    pub(super) fn has_combinations(&self) -> bool {
        !self.cells.combinations.is_empty()
    }
}

/// A column that is not the sum of its parts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BadSum {
    pub(super) whole: String,
    pub(super) expected: f64,
    pub(super) parts: f64,
}

impl PlacePeople {
    /// Adds the people of another place.
    pub(super) fn add(&mut self, other: &PlacePeople) {
        let add =
            |own: &mut [f64; 6], other: &[f64; 6]| own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
        add(&mut self.classes, &other.classes);
        add(&mut self.combinations, &other.combinations);
        self.other_race += other.other_race;
    }

    /// Returns people by class with Some Other Race in `other`.
    pub(super) fn with_other_race_in_other(&self) -> [f64; 6] {
        let mut classes = self.classes;
        classes[OTHER] += self.other_race;
        classes
    }

    /// Returns people by class with Some Other Race allocated: a race together with Some Other Race counts as that
    /// race, and Some Other Race alone is spread over the other classes that are not Hispanic, in proportion. Without
    /// such people, it stays in `other`.
    pub(super) fn with_other_race_allocated(&self) -> [f64; 6] {
        let mut classes = self.classes;
        for (class, combined) in self.combinations.iter().enumerate() {
            classes[class] += combined;
            classes[OTHER] -= combined;
        }
        let others: f64 = classes.iter().sum::<f64>() - classes[HISPANIC];
        if others > 0.0 {
            let factor = 1.0 + self.other_race / others;
            let not_hispanic = classes.iter_mut().enumerate().filter(|(class, _)| *class != HISPANIC);
            not_hispanic.for_each(|(_, people)| *people *= factor);
        } else {
            classes[OTHER] += self.other_race;
        }
        classes
    }
}

const HISPANIC: usize = 2;
const OTHER: usize = 5;

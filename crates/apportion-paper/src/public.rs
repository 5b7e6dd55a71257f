//! The public file of Greengard and Gelman, on which tab:table-public is based: cells of voters with the same surname
//! and county, with two sets of scores and the number of voters of each class.

use apportion_bisg::census::CLASSES;

use crate::PublicFacts;
use crate::people::People;
use crate::voters::Made;

/// The number of classes.
const K: usize = CLASSES.len();

/// Voters with the same surname in the same county. Classes are in the order of [`CLASSES`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublicCell {
    /// The index of the county.
    pub county: u32,
    /// The number of voters of each class.
    pub voters: [u64; K],
    /// The scores of BISG.
    pub bisg: [f64; K],
    /// The scores of raking.
    pub raking: [f64; K],
}

/// The public file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PublicVoters {
    /// The name of the file.
    pub name: String,
    /// The names or codes of the counties.
    pub counties: Vec<String>,
    /// The cells.
    pub cells: Vec<PublicCell>,
}

impl PublicVoters {
    /// Returns the number of voters of known class.
    pub fn voters(&self) -> u64 {
        self.cells.iter().flat_map(|cell| cell.voters).sum()
    }

    /// Returns the file in numbers.
    pub(crate) fn facts(&self) -> PublicFacts {
        PublicFacts { name: self.name.clone(), cells: self.cells.len() as u64, voters: self.voters() }
    }

    /// Returns the voters with the scores of a table, one row per voter as in the paper; `None` for other tables.
    pub(crate) fn people(&self, made: Made) -> Option<People> {
        let scores: fn(&PublicCell) -> &[f64; K] = match made {
            Made::Calibrated => |cell| &cell.bisg,
            Made::CensusPrior => |cell| &cell.raking,
            Made::Overconfident | Made::WithoutUncoded => return None,
        };
        let voters = usize::try_from(self.voters()).ok()?;
        let mut people = People {
            counties: self.counties.clone(),
            codes: Vec::with_capacity(voters),
            truth: Vec::with_capacity(voters),
            values: Vec::with_capacity(voters * K),
        };
        for cell in &self.cells {
            for (class, &number) in (0..).zip(&cell.voters) {
                for _ in 0..number {
                    people.codes.push(cell.county);
                    people.truth.push(class);
                    people.values.extend(scores(cell));
                }
            }
        }
        Some(people)
    }
}

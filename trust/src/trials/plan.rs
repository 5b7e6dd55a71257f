//! The input of each trial, which depends only on the seed and the number of the trial, not on the process.

use crate::corpus::{self, Input};
use crate::draw::Draw;
use crate::targets::{TARGETS, Target, target};

/// A campaign of inputs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The targets with their inputs; each is repeated according to its share of the trials.
    turns: Vec<(&'static Target, Vec<Input>)>,
    seed: u64,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// An unlimited number of mutations of stored inputs.
    Files,
    /// Every stored input, and this many mutations of each.
    Replay(u64),
}

/// A trial.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The target.
    pub target: &'static Target,
    /// The stored input that it starts from.
    pub base: String,
    /// The format that it is counted under.
    pub format: String,
    /// The input.
    pub bytes: Vec<u8>,
    /// Whether the input must be accepted.
    pub is_valid: bool,
}

/// The targets for files, with their weights.
const SHARES: [(&str, usize); 10] = [
    ("text", 3),
    ("parquet", 4),
    ("arrow", 3),
    ("workbook", 1),
    ("decision", 2),
    ("reference", 1),
    ("geometry", 1),
    ("names", 1),
    ("columns", 1),
    ("sql", 1),
];

impl Plan {
    /// Creates a plan of mutated files of all kinds.
    pub fn files(seed: u64) -> Plan {
        let of = |&(name, share): &(&str, usize)| {
            let own = target(name).map(|target| (target, corpus::of_target(name)));
            own.into_iter().flat_map(move |own| std::iter::repeat_n(own, share)).collect::<Vec<_>>()
        };
        Plan {
            turns: SHARES.iter().flat_map(of).filter(|(_, inputs)| !inputs.is_empty()).collect(),
            seed,
            kind: Kind::Files,
        }
    }

    /// Creates a plan of the stored inputs of one target or all targets, with some mutations of each.
    pub fn replay(name: &str, mutations: u64, seed: u64) -> Plan {
        let targets = TARGETS.iter().filter(|target| name == "all" || target.name == name);
        let turns = targets.map(|target| (target, corpus::of_target(target.name))).collect();
        Plan { turns, seed, kind: Kind::Replay(mutations) }
    }

    /// Returns the number of trials, or `None` if it is unlimited.
    pub fn len(&self) -> Option<u64> {
        let Kind::Replay(mutations) = self.kind else { return None };
        Some(self.turns.iter().map(|(_, inputs)| inputs.len() as u64 * (mutations + 1)).sum())
    }

    /// Returns whether there are no inputs.
    pub fn is_empty(&self) -> bool {
        self.turns.iter().all(|(_, inputs)| inputs.is_empty())
    }

    /// Returns the trial with this number.
    pub fn trial(&self, number: u64) -> Option<Trial> {
        let mut draw = Draw::from_seed(self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number);
        match self.kind {
            Kind::Files => {
                let (target, inputs) = self.turns.get((number % self.turns.len().max(1) as u64) as usize)?;
                let input = draw.pick(inputs);
                let bytes = (target.mutate)(&input.bytes, &mut draw);
                Some(Trial { target, base: input.name.clone(), format: input.format(), bytes, is_valid: false })
            }
            Kind::Replay(mutations) => {
                let all =
                    self.turns.iter().flat_map(|(target, inputs)| inputs.iter().map(move |input| (target, input)));
                let (target, input) = all.clone().nth((number / (mutations + 1)) as usize)?;
                let is_first = number.is_multiple_of(mutations + 1);
                let bytes = if is_first { input.bytes.clone() } else { (target.mutate)(&input.bytes, &mut draw) };
                let is_valid = is_first && input.is_valid();
                Some(Trial { target, base: input.name.clone(), format: input.format(), bytes, is_valid })
            }
        }
    }
}

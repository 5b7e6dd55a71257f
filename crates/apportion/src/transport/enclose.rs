//! Finds all optimal prices of a table: sample, estimate, box, one pass, and the same again for the remaining rows.

use super::band::{Band, Guard, sweep_into_band};
use super::bracket::{Bracket, on_grid};
use super::demand::Demand;
use super::newton::{Estimate, Guess, estimate};
use super::paths::Atoms;
use super::prices::PriceSet;
use super::sample::Sample;
use super::target_curve::{Outline, TargetCurve};
use crate::error::{Error, Result};
use crate::kernel::{Real, SimdLevel, Source, Swept, Watch};

/// Up to this many rows are solved by paths directly. (Small in unit tests, so that small problems reach every
/// stage.)
const FEW: usize = if cfg!(test) { 32 } else { 1024 };
/// The distance between the prices of similar problems, times the square root of the rows.
const LIKENESS: f32 = 3.0;
/// Up to this many rows use the prices of a similar problem, if any, without refining them.
const VERY_FEW: usize = 256;
/// Below this many rows, a box around the prices of a similar problem would leave nearly all rows open.
const TINY: usize = 64;
/// Up to this many rows are their own sample: Newton's method then leaves a thin band.
const ALL: usize = if cfg!(test) { 128 } else { 1 << 15 };
/// Above this many rows, a sample is more informative than the prices of a similar problem.
const MANY: usize = 1 << 18;
/// Maximum number of draws of a row, on average, if rows represent several people.
const OFTEN: usize = 16;
/// A band larger than this share of the rows is not worth another box.
const NO_PROGRESS: f64 = 0.7;
/// Number of boxes to try before all rows are put into the band.
const TRIES: usize = 5;
/// Factor by which a box is widened for a class that it missed.
const WIDER: f64 = 4.0;

/// The desired counts.
pub(crate) enum Goal<'a> {
    /// Known in advance.
    Known(Demand),
    /// A function of the sums of the scores, which the pass computes; and its form.
    OfSums(&'a (dyn Fn(&[i128]) -> Demand + Sync), Outline),
}

impl Goal<'_> {
    fn demand(&self, sums: &[i128]) -> Demand {
        match self {
            Goal::Known(demand) => demand.clone(),
            Goal::OfSums(demand, _) => demand(sums),
        }
    }

    fn target_curve(&self, classes: usize, people: u64) -> TargetCurve {
        match self {
            Goal::OfSums(_, outline) => TargetCurve::outlined(*outline, classes, people as f64),
            Goal::Known(demand) => TargetCurve::of(demand, people as f64),
        }
    }

    fn watch(&self, guarded: bool) -> Watch {
        match (self, guarded) {
            (Goal::OfSums(..), _) => Watch::ValuesAndSums,
            (Goal::Known(_), true) => Watch::Values,
            (Goal::Known(_), false) => Watch::Nothing,
        }
    }

    fn open(&self, classes: usize) -> Vec<bool> {
        match self {
            Goal::Known(demand) => demand.open(),
            Goal::OfSums(..) => vec![true; classes],
        }
    }
}

/// The optimal prices, with intermediate results.
pub(super) struct Enclosed<T> {
    pub(super) demand: Demand,
    /// Optimal counts.
    pub(super) counts: Vec<u64>,
    /// Optimal prices, closed; all of them, or only those inside the box.
    pub(super) set: PriceSet,
    pub(super) is_all: bool,
    /// The certain rows.
    pub(super) swept: Swept,
    /// The other rows.
    pub(super) band: Band<T>,
}

/// Finds optimal prices and labels the rows that become certain.
pub(super) fn enclose<T: Real>(
    level: SimdLevel,
    rows: &dyn Source<T>,
    goal: &Goal<'_>,
    guard: Option<Guard<'_>>,
    guess: &Guess,
    labels: &mut [u8],
) -> Result<Enclosed<T>> {
    let watch = goal.watch(guard.is_some());
    // Few rows are not worth a sample if the prices of a similar problem are known.
    let mut near = (guess.is_like && (TINY..=MANY).contains(&rows.rows())).then(|| {
        let width = (LIKENESS / (rows.rows() as f32).sqrt()).min(LIKENESS / 16.0);
        Bracket::near(guess, &goal.open(rows.classes()), width)
    });
    let mut search = None;
    loop {
        let bracket = match (near.take(), &mut search) {
            (Some(near), _) => near,
            (None, Some(search)) => Search::bracket(search),
            (None, none) => none.insert(Search::new(level, rows, goal, guess)?).bracket(),
        };
        let (swept, band) = sweep_into_band(level, rows, &bracket.bounds(rows.magnitude()), watch, guard, labels)?;
        let demand = goal.demand(&swept.sums);
        match within_bracket(level, &bracket, guess, &demand, &swept, &band, rows.rows())? {
            Ok((counts, set, is_all)) => return Ok(Enclosed { demand, counts, set, is_all, swept, band }),
            Err(miss) => match &mut search {
                None => {}
                // Without a box nothing can be missed, unless the counts are infeasible.
                Some(search) if search.sampled.is_none() => return Err(Error::Unproved),
                Some(search) => search.widen(miss),
            },
        }
    }
}

/// Why the optimal prices are not in a box.
#[derive(Clone, Copy, Debug)]
enum Miss {
    /// A class has more certain rows than its maximum: its price may be below the box.
    TooMany(usize),
    /// They are elsewhere.
    Elsewhere,
    /// The box contains nearly all rows: it is not worth solving them twice.
    NoProgress,
}

/// Counts over all rows, optimal prices, and whether these are all optimal prices.
type Found = (Vec<u64>, PriceSet, bool);

/// Solves the band and checks whether its prices intersect the box.
fn within_bracket<T: Real>(
    level: SimdLevel,
    bracket: &Bracket,
    guess: &Guess,
    demand: &Demand,
    swept: &Swept,
    band: &Band<T>,
    rows: usize,
) -> Result<std::result::Result<Found, Miss>> {
    let rest = match demand.with_settled(&swept.counts) {
        Ok(rest) => rest,
        Err(class) => return Ok(Err(Miss::TooMany(class))),
    };
    let (least, most) = rest.left();
    if !(least..=most).contains(&band.rows().people()) {
        return Ok(Err(Miss::Elsewhere));
    }
    let guess = if bracket.is_bounded() { &bracket.guess() } else { guess };
    let (counts, inner, inner_is_all) = if band.indices.len() <= FEW || !bracket.is_bounded() {
        let (counts, set) = solve_few(level, band, &rest, guess)?;
        (counts, set, true)
    } else if band.indices.len() as f64 > NO_PROGRESS * rows as f64 {
        return Ok(Err(Miss::NoProgress));
    } else {
        let mut scratch = vec![0; band.indices.len()];
        let guess = Guess { is_like: false, ..guess.clone() };
        let inner = enclose(level, &band.rows(), &Goal::Known(rest), None, &guess, &mut scratch)?;
        (inner.counts, inner.set, inner.is_all)
    };
    let outer = bracket.price_set();
    let mut set = inner.clone();
    set.meet(&outer);
    if !set.close() {
        return Ok(Err(Miss::Elsewhere));
    }
    Ok(Ok((counts, set, inner_is_all && inner.inside(&outer))))
}

/// Solves a band by paths, from Newton's prices.
fn solve_few<T: Real>(
    level: SimdLevel,
    band: &Band<T>,
    demand: &Demand,
    guess: &Guess,
) -> Result<(Vec<u64>, PriceSet)> {
    let rows = band.rows();
    let k = rows.classes();
    let open = demand.open();
    let (prices, missing) = if guess.is_like && rows.rows() <= VERY_FEW {
        // The prices of a similar problem are as close as Newton's method would get.
        let price = |class: usize| if open[class] { guess.prices[class] } else { f64::NEG_INFINITY };
        ((0..k).map(price).collect(), 0.0)
    } else {
        let target_curve = TargetCurve::of(demand, rows.people() as f64);
        let estimate = estimate(level, &Sample::all(&rows)?, &target_curve, &open, guess);
        let missing: f64 = (0..k).map(|class| estimate.excess(class).abs()).sum();
        (estimate.prices, missing)
    };
    let start = prices.iter().map(|&price: &f64| price.is_finite().then(|| on_grid(price))).collect();
    let mut atoms = Atoms::of(&rows);
    // Newton's method gets close unless many rows are identical.
    if missing > 64.0 || rows.rows() > 4 * FEW {
        atoms = atoms.merged();
    }
    let mut assigned = atoms.assign(demand, &start);
    // Labels that are optimal for their counts have prices.
    if assigned.set.close() { Ok((assigned.counts, assigned.set)) } else { Err(Error::Unproved) }
}

/// The box, and how it is widened if it misses the optimal prices.
struct Search<T> {
    level: SimdLevel,
    open: Vec<bool>,
    target_curve: TargetCurve,
    /// `None` if all rows go to the band.
    sampled: Option<(Sample<T>, Estimate)>,
    reach: Vec<f64>,
    misses: usize,
}

impl<T: Real> Search<T> {
    fn new(level: SimdLevel, rows: &dyn Source<T>, goal: &Goal<'_>, guess: &Guess) -> Result<Self> {
        let (open, target_curve) = (goal.open(rows.classes()), goal.target_curve(rows.classes(), rows.people()));
        let sampled = if rows.rows() > FEW {
            let sample = Sample::draw(rows, sample_size(rows))?;
            let estimate = estimate(level, &sample, &target_curve, &open, guess);
            Some((sample, estimate))
        } else {
            None
        };
        Ok(Search { level, reach: vec![1.0; open.len()], open, target_curve, sampled, misses: 0 })
    }

    fn bracket(&self) -> Bracket {
        match &self.sampled {
            None => Bracket::none(&self.open),
            Some((sample, estimate)) => Bracket::around(self.level, sample, &self.target_curve, estimate, &self.reach),
        }
    }

    /// Widens the box for the class with too many certain rows, or for all classes; without limit after several
    /// tries.
    fn widen(&mut self, miss: Miss) {
        self.misses += 1;
        if self.misses == TRIES || matches!(miss, Miss::NoProgress) {
            self.sampled = None;
        }
        // The largest class anchors the box and has no width.
        let anchor = self.sampled.as_ref().and_then(|(_, estimate)| estimate.wanted.anchor());
        for (class, reach) in self.reach.iter_mut().enumerate() {
            let spared = matches!(miss, Miss::TooMany(missed) if missed != class && Some(missed) != anchor);
            *reach *= if spared { 1.0 } else { WIDER };
        }
    }
}

/// Returns the sample size at which the passes over the sample and over the resulting band cost about the same.
fn sample_size<T: Real>(rows: &dyn Source<T>) -> usize {
    // Rows that represent very many people are not worth drawing that often.
    let rows = (rows.people() as usize).min(rows.rows().saturating_mul(OFTEN));
    if rows <= ALL {
        return rows;
    }
    (3.0 * (rows as f64).powf(2.0 / 3.0)) as usize
}

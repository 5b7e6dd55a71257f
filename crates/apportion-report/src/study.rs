//! What a report is made of: results that were computed already, as plain data, and the few figures that follow from them.

use apportion::audit::{Binning, Interval};
use apportion::rule::Point;

use crate::disparity::Disparity;
use crate::geometry::Shapes;
use crate::text;

/// Several labellings of one table, and what is known of its people.
#[derive(Clone, Debug)]
pub struct Study {
    /// The classes, in their order.
    pub classes: Vec<String>,
    /// The class that is set against all others together.
    pub focus: usize,
    /// Rows of the table.
    pub rows: u64,
    /// All people.
    pub whole: Backdrop,
    /// What makes groups, such as "county"; and the groups.
    pub groups: Option<Groups>,
    /// The labellings. There is at least one.
    pub labellings: Vec<Labelling>,
    /// The labelling that the report is about.
    pub subject: usize,
    /// The labelling whose counts are right, that the subject is set against.
    pub remedy: Option<usize>,
    /// Whether the scores of each class are as often true as they say, where truth is known.
    pub calibration: Vec<Option<Binning>>,
    /// The frontiers, to the posterior and to the truth.
    pub trades: Vec<Trade>,
    /// What is learned from balance to the posterior, from argmax to match; nothing where nobody asked.
    pub learned: Vec<LearnedStop>,
    /// Some people's scores, for the triangle.
    pub sample: Option<Sample>,
    /// An outcome compared between classes, where one was given.
    pub outcomes: Option<Disparity>,
    /// The outlines of the groups.
    pub shapes: Option<Shapes>,
    /// Where all this comes from.
    pub provenance: Provenance,
}

/// Groups of fewer people are not named, and nothing is said of them.
pub(crate) const FEWEST: u64 = 5;

/// People, whatever their labels.
#[derive(Clone, Debug, Default)]
pub struct Backdrop {
    /// How many.
    pub people: u64,
    /// The mean score of each class.
    pub posterior: Vec<f64>,
    /// How many are of each class in truth, where it is known of anybody.
    pub truth: Option<Vec<u64>>,
    /// The mean score of each class among those whose truth is known.
    pub posterior_with_truth: Option<Vec<f64>>,
}

/// Groups of people.
#[derive(Clone, Debug)]
pub struct Groups {
    /// What one of them is called, such as "county".
    pub word: String,
    /// Their names.
    pub names: Vec<String>,
    /// Their people.
    pub backdrops: Vec<Backdrop>,
}

/// What a rule gave, or labels that there were already.
#[derive(Clone, Debug)]
pub struct Labelling {
    /// Its name.
    pub name: String,
    /// People of each class.
    pub counts: Vec<u64>,
    /// People without a label.
    pub uncoded: u64,
    /// Truth against label: a row per true class, in it a column per label, and last Uncoded.
    pub confusion: Option<Vec<Vec<u64>>>,
    /// For each group the people of each class, and last Uncoded.
    pub in_groups: Vec<Vec<u64>>,
    /// Labels that are true.
    pub accuracy: Option<f64>,
    /// The mean score of the labels.
    pub expected_accuracy: Option<f64>,
    /// −Σ |share − posterior share|.
    pub fidelity_to_posterior: Option<f64>,
    /// −Σ |share − true share|.
    pub fidelity_to_truth: Option<f64>,
    /// The fidelity to the posterior within groups.
    pub fidelity_in_groups: Option<f64>,
    /// The part of each class's scores that lies on labelled rows, where rows are Uncoded and no truth is known.
    pub coverage: Option<Vec<Option<f64>>>,
    /// How much more accurate the best labels are whose counts are as near to the posterior.
    pub below_frontier: Option<f64>,
    /// For joint rules, the proof.
    pub proof: Option<Proof>,
    /// The people of each class at every draw, where there are several; all else is of the first.
    pub draws: Vec<Vec<u64>>,
}

/// The certificate of a joint rule.
#[derive(Clone, Debug)]
pub struct Proof {
    /// What the labels reach, in units of 2^-40.
    pub primal: String,
    /// What no labels can exceed.
    pub dual: String,
    /// The difference.
    pub gap: f64,
    /// Rows for which several classes were equally good.
    pub tied_rows: u64,
}

/// The frontier to a reference.
#[derive(Clone, Debug)]
pub struct Trade {
    /// "posterior" or "truth", or the word for another reference.
    pub reference: &'static str,
    /// Some of its points, from argmax to match.
    pub points: Vec<Point>,
    /// How many points there are in all.
    pub of: usize,
    /// By how much accuracy between two of the points can be off.
    pub error: f64,
}

/// What a model that learned from balance gives all people, at one γ.
#[derive(Clone, Debug)]
pub struct LearnedStop {
    /// How much accuracy weighs.
    pub gamma: f64,
    /// How many people it was tried on.
    pub people: u64,
    /// People of each class, told as of all.
    pub counts: Vec<u64>,
    /// The mean score of the labels.
    pub expected_accuracy: Option<f64>,
}

/// Some people's scores and their labels; nothing else of them.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The classes in two corners of the triangle; all others are in the third.
    pub corners: [usize; 2],
    /// The scores of both and of all others together, rounded to hundredths.
    pub points: Vec<[f64; 3]>,
    /// For each labelling the label of each point: a class, or their number for Uncoded.
    pub labels: Vec<Vec<usize>>,
}

/// Where the numbers come from.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    /// The files: name, rows, SHA-256.
    pub files: Vec<(String, u64, String)>,
    /// What was done, as pairs of a name and a text.
    pub facts: Vec<(String, String)>,
    /// The command.
    pub command: String,
}

/// How far a count is off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Off {
    /// Share less reference.
    pub difference: f64,
    /// The same in people, were everybody labelled in these shares: see [`Labelling::people_off`].
    pub people: f64,
    /// The same in percent of the reference.
    pub percent: Option<f64>,
}

/// Why a count is off the truth, each part as [`Off`] is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parts {
    /// What the scores do.
    pub miscalibration: Off,
    /// What the labels do to the scores.
    pub discretization: Off,
}

impl Off {
    fn of(share: f64, reference: f64, people: u64) -> Off {
        Off::between(share, reference, reference, people)
    }

    /// The difference of two shares, in percent of a third.
    fn between(share: f64, other: f64, reference: f64, people: u64) -> Off {
        let difference = share - other;
        let percent = Some(100.0 * (difference / reference)).filter(|percent| percent.is_finite());
        Off { difference, people: difference * people as f64, percent }
    }
}

impl Backdrop {
    /// People whose truth is known.
    pub fn with_truth(&self) -> u64 {
        self.truth.iter().flatten().sum()
    }

    /// The true share of a class.
    pub fn truth_share(&self, class: usize) -> Option<f64> {
        let truth = self.truth.as_ref()?;
        part(truth[class], self.with_truth())
    }

    /// Whether there are enough people for a report to speak of them apart: what it says of very few, it says of each.
    pub(crate) fn is_told(&self) -> bool {
        self.people >= FEWEST
    }

    /// The share of all classes but one by the scores, where there are people enough to speak of.
    pub(crate) fn others_told(&self, focus: usize) -> Option<f64> {
        self.is_told().then(|| self.others(focus))
    }

    /// The mean score of all classes but one.
    pub fn others(&self, focus: usize) -> f64 {
        all_but(&self.posterior, focus)
    }
}

impl Groups {
    /// The groups that are spoken of, by their places.
    pub fn told(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.names.len()).filter(|&group| self.backdrops[group].is_told())
    }

    /// How many there are of which nothing is said.
    pub fn untold(&self) -> usize {
        self.names.len() - self.told().count()
    }

    /// Whether most are of fewer than five people, as where each is one person. Then none is spoken of: their names may be
    /// those of people.
    pub fn are_people(&self) -> bool {
        2 * self.untold() > self.names.len()
    }

    /// Why none is spoken of, in a sentence.
    pub fn why_untold(&self) -> Option<String> {
        let all = self.names.len();
        self.are_people().then(|| {
            format!(
                "{} of {} {} fewer than {FEWEST} people, so that none is named and nothing is said of any: it would be said of \
                 persons",
                text::count(self.untold() as u64),
                text::counted(all as u64, "group"),
                text::verb(self.untold(), "has", "have")
            )
        })
    }
}

impl Labelling {
    /// What it does, in a word for one rule or for labels, which are many.
    pub(crate) fn does(&self, one: &'static str, many: &'static str) -> &'static str {
        if self.name == "your labels" { many } else { one }
    }

    /// People with a label.
    pub fn labelled(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How far a count is off in people. Where people are without a label, shares among the others say nothing of that.
    pub fn people_off(&self, off: &Off) -> Option<f64> {
        (self.uncoded == 0).then_some(off.people)
    }

    /// Labels among people whose truth is known.
    pub fn counts_with_truth(&self) -> Option<Vec<u64>> {
        let confusion = self.confusion.as_ref()?;
        Some((0..self.counts.len()).map(|class| confusion.iter().map(|row| row[class]).sum()).collect())
    }

    /// Labels that are true, and labels whose truth is known.
    pub fn hits(&self) -> Option<(u64, u64)> {
        let confusion = self.confusion.as_ref()?;
        let hits = confusion.iter().enumerate().map(|(class, row)| row[class]).sum();
        Some((hits, self.counts_with_truth()?.iter().sum()))
    }

    /// The 95% interval of the accuracy.
    pub fn accuracy_interval(&self) -> Option<Interval> {
        let (hits, judged) = self.hits()?;
        Interval::of_rate(hits, judged)
    }
}

impl Study {
    /// How many classes there are.
    pub fn k(&self) -> usize {
        self.classes.len()
    }

    /// The labelling that the report is about.
    pub fn subject(&self) -> &Labelling {
        &self.labellings[self.subject]
    }

    /// The labelling that it is set against.
    pub fn remedy(&self) -> Option<&Labelling> {
        self.remedy.filter(|&remedy| remedy != self.subject).map(|remedy| &self.labellings[remedy])
    }

    /// How far the share of a class is from that of the scores.
    pub fn off_posterior(&self, labelling: &Labelling, class: usize) -> Option<Off> {
        let share = part(labelling.counts[class], labelling.labelled())?;
        Some(Off::of(share, self.whole.posterior[class], self.whole.people))
    }

    /// How far the share of a class is from the truth, among people whose truth is known.
    pub fn off_truth(&self, labelling: &Labelling, class: usize) -> Option<Off> {
        let counts = labelling.counts_with_truth()?;
        let share = part(counts[class], counts.iter().sum())?;
        Some(Off::of(share, self.whole.truth_share(class)?, self.whole.with_truth()))
    }

    /// The same against the truth where it is known, and else against the scores.
    pub fn off(&self, labelling: &Labelling, class: usize) -> Option<Off> {
        if self.has_truth() { self.off_truth(labelling, class) } else { self.off_posterior(labelling, class) }
    }

    /// Why it is off the truth.
    pub fn parts(&self, labelling: &Labelling, class: usize) -> Option<Parts> {
        let counts = labelling.counts_with_truth()?;
        let (share, people) = (part(counts[class], counts.iter().sum())?, self.whole.with_truth());
        let (posterior, truth) = (self.whole.posterior_with_truth.as_ref()?[class], self.whole.truth_share(class)?);
        Some(Parts {
            miscalibration: Off::between(posterior, truth, truth, people),
            discretization: Off::between(share, posterior, truth, people),
        })
    }

    /// Whether the truth of anybody is known.
    pub fn has_truth(&self) -> bool {
        self.whole.with_truth() > 0
    }

    /// Whether the truth of everybody is known.
    pub fn has_whole_truth(&self) -> bool {
        self.has_truth() && self.whole.with_truth() == self.whole.people
    }

    /// Of whom is spoken, where the truth is known of some alone.
    pub(crate) fn among(&self) -> String {
        if !self.has_truth() || self.has_whole_truth() {
            return String::new();
        }
        format!(" among the {} whose truth is known", text::count(self.whole.with_truth()))
    }

    /// Of whom is spoken, where labels or the truth are not of everybody; after a clause.
    pub(crate) fn of_whom(&self, labelling: &Labelling) -> String {
        let labelled = if labelling.uncoded > 0 { ", among those labelled" } else { "" };
        match (self.among(), labelled) {
            (known, "") if known.is_empty() => known,
            (known, "") => format!(",{known}"),
            (known, labelled) if known.is_empty() => labelled.to_owned(),
            _ => format!(", among those labelled of the {} whose truth is known", text::count(self.whole.with_truth())),
        }
    }

    /// What labels are held against, in a word.
    pub fn reference_word(&self) -> &'static str {
        if self.has_truth() { "the truth" } else { "the scores" }
    }

    /// How far a class is off the scores, in a group.
    pub fn class_off(&self, labelling: &Labelling, group: usize, class: usize) -> Option<Off> {
        let backdrop = Some(&self.groups.as_ref()?.backdrops[group]).filter(|own| own.is_told())?;
        let labels = labelling.in_groups.get(group)?;
        let share = part(labels[class], labels[..self.k()].iter().sum())?;
        Some(Off::of(share, backdrop.posterior[class], backdrop.people))
    }

    /// The groups, where they are spoken of.
    pub(crate) fn told_groups(&self) -> Option<&Groups> {
        self.groups.as_ref().filter(|groups| !groups.are_people())
    }

    /// How far all classes but the focus class are off the scores, in a group.
    pub fn group_off(&self, labelling: &Labelling, group: usize) -> Option<Off> {
        let backdrop = Some(&self.groups.as_ref()?.backdrops[group]).filter(|own| own.is_told())?;
        let labels = labelling.in_groups.get(group)?;
        let labelled: u64 = labels[..self.k()].iter().sum();
        let share = part(labelled - labels[self.focus], labelled)?;
        Some(Off::of(share, backdrop.others(self.focus), backdrop.people))
    }

    /// The same of all people.
    pub fn others_off(&self, labelling: &Labelling) -> Option<Off> {
        let labelled = labelling.labelled();
        let share = part(labelled - labelling.counts[self.focus], labelled)?;
        Some(Off::of(share, self.whole.others(self.focus), self.whole.people))
    }

    /// In how many groups all but the focus class are undercounted by a person or more, and of how many. Labels are whole
    /// people and scores are not: even right counts are short by a part of a person in about half of the groups.
    pub fn undercounted(&self, labelling: &Labelling) -> Option<(usize, usize)> {
        let groups = self.groups.as_ref()?.names.len();
        let offs: Vec<Off> = (0..groups).filter_map(|group| self.group_off(labelling, group)).collect();
        let low = offs.iter().filter(|off| off.people <= -1.0).count();
        (!offs.is_empty()).then_some((low, offs.len()))
    }
}

/// A part of a whole; none where that is nobody.
pub(crate) fn part(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The sum of shares without one of them.
pub(crate) fn all_but(shares: &[f64], focus: usize) -> f64 {
    shares.iter().enumerate().filter(|(class, _)| *class != focus).map(|(_, share)| share).sum()
}

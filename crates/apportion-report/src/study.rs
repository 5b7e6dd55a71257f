//! The input of a report: results that were computed already, as plain data, and the few figures that follow from them.

use apportion::Certificate;
use apportion::audit::{Bias, Calibration, GroupTotals, Interval, Section, Split};
use apportion::rule::{Point, RuleKind};
use apportion::text::{Message, Setting};

use crate::disparity::Disparity;
use crate::geometry::Shapes;
use crate::text;

/// Several label sets of one table, and what is known of its people.
#[derive(Clone, Debug)]
pub struct Study {
    /// The classes, in their order.
    pub classes: Vec<String>,
    /// The class that is set against all others together.
    pub focus: usize,
    /// Rows of the table.
    pub rows: u64,
    /// All people.
    pub whole: GroupTotals,
    /// Whether a column of true classes was given, even if it is empty.
    pub truth_given: bool,
    /// What makes groups, such as "county"; and the groups.
    pub groups: Option<Groups>,
    /// The label sets. There is at least one.
    pub label_sets: Vec<LabelSet>,
    /// The label set that the report is about.
    pub subject: usize,
    /// The label set whose counts are right, that the subject is set against.
    pub corrected: Option<usize>,
    /// The calibration of the scores of each class, if truth is known.
    pub calibration: Vec<Option<Calibration>>,
    /// All figures of the labels that the report is about: agreement with argmax, ties, unlabeled rows, intervals.
    pub audit: Option<Section>,
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
    /// How the front end writes a setting, for example as an option.
    pub name_setting: NameSetting,
}

/// Writes a setting with an example of its value, if there is one.
pub type NameSetting = fn(Setting, Option<&str>) -> String;

/// Groups of fewer people are not named, and nothing is said of them.
pub(crate) const FEWEST: u64 = 5;

/// Groups of people.
#[derive(Clone, Debug)]
pub struct Groups {
    /// What one of them is called, such as "county".
    pub word: String,
    /// Their names.
    pub names: Vec<String>,
    /// Their people.
    pub totals: Vec<GroupTotals>,
}

/// How labels were made. The report decides by this, never by a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LabelKind {
    /// The labels of the user, called "your labels".
    Own,
    /// One of several columns of labels of the user, called by the name of the column.
    OwnColumn,
    /// The labels of a rule.
    Rule(RuleKind),
    /// The labels of a joint rule that was solved in batches.
    Batched,
}

impl LabelKind {
    /// The labels of argmax.
    pub(crate) const ARGMAX: LabelKind = LabelKind::Rule(RuleKind::Argmax);
}

/// The labels that a rule gave, or that existed already.
#[derive(Clone, Debug)]
pub struct LabelSet {
    /// Its name, to show.
    pub name: String,
    /// How the labels were made.
    pub kind: LabelKind,
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
    /// The part of each class's scores that lies on labeled rows, where rows are Uncoded and no truth is known.
    pub coverage: Option<Vec<Option<f64>>>,
    /// How much more accurate the best labels with equally close counts would be in expectation.
    pub frontier_gap: Option<f64>,
    /// The certificate of a joint rule.
    pub certificate: Option<Certificate>,
    /// The number of rows for which several classes were equally good for a joint rule.
    pub tied_rows: u64,
    /// The people of each class at every draw, where there are several; all else is of the first.
    pub draws: Vec<Vec<u64>>,
}

/// The reference of a frontier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TradeReference {
    /// The mean of the scores.
    Posterior,
    /// The shares of the truth.
    Truth,
    /// Another one.
    Other,
}

impl TradeReference {
    /// Returns the word for it, after "the".
    pub fn word(self) -> &'static str {
        match self {
            TradeReference::Posterior => "posterior",
            TradeReference::Truth => "truth",
            TradeReference::Other => "reference",
        }
    }
}

/// The frontier to a reference.
#[derive(Clone, Debug)]
pub struct Trade {
    /// The reference at its end.
    pub reference: TradeReference,
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
    /// People of each class, scaled up to all people.
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
    /// For each label set the label of each point: a class, or their number for Uncoded.
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

/// Whether there are enough people for a report to describe them separately: figures of very few people describe each.
pub(crate) fn is_shown(totals: &GroupTotals) -> bool {
    totals.people >= FEWEST
}

impl Groups {
    /// Returns the indices of the groups that are large enough to show.
    pub fn shown(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.names.len()).filter(|&group| is_shown(&self.totals[group]))
    }

    /// Returns the number of groups that are too small to show.
    pub fn hidden(&self) -> usize {
        self.names.len() - self.shown().count()
    }

    /// Returns whether most groups have fewer than five people, for example if each is one person. Then no group is shown,
    /// because the names of the groups may be names of people.
    pub fn are_people(&self) -> bool {
        2 * self.hidden() > self.names.len()
    }

    /// Returns why no group is shown, as a sentence.
    pub fn why_hidden(&self) -> Option<String> {
        let all = self.names.len();
        self.are_people().then(|| {
            format!(
                "{} of {} {} fewer than {FEWEST} people. Groups are hidden, because they could identify individuals",
                text::count(self.hidden() as u64),
                text::counted(all as u64, "group"),
                text::verb(self.hidden(), "has", "have")
            )
        })
    }
}

impl LabelSet {
    /// Returns the verb that fits the name: singular for a rule, plural for "your labels".
    pub(crate) fn does(&self, one: &'static str, many: &'static str) -> &'static str {
        match self.kind {
            LabelKind::Own => many,
            LabelKind::OwnColumn | LabelKind::Rule(_) | LabelKind::Batched => one,
        }
    }

    /// People with a label.
    pub fn labeled(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How far a count is off in people. Where people are without a label, shares among the others say nothing of that.
    pub fn people_off(&self, off: &Bias) -> Option<f64> {
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

    /// The label set that the report is about.
    pub fn subject(&self) -> &LabelSet {
        &self.label_sets[self.subject]
    }

    /// The label set that it is set against.
    pub fn corrected(&self) -> Option<&LabelSet> {
        self.corrected.filter(|&corrected| corrected != self.subject).map(|corrected| &self.label_sets[corrected])
    }

    /// How far the share of a class is from that of the scores.
    pub fn off_posterior(&self, label_set: &LabelSet, class: usize) -> Option<Bias> {
        let share = part(label_set.counts[class], label_set.labeled())?;
        Some(Bias::new(share, self.whole.posterior_share(class), self.whole.people))
    }

    /// How far the share of a class is from the truth, among people whose truth is known.
    pub fn off_truth(&self, label_set: &LabelSet, class: usize) -> Option<Bias> {
        let counts = label_set.counts_with_truth()?;
        let share = part(counts[class], counts.iter().sum())?;
        Some(Bias::new(share, self.whole.truth_share(class)?, self.whole.with_truth()))
    }

    /// The same against the truth where it is known, and else against the scores.
    pub fn off(&self, label_set: &LabelSet, class: usize) -> Option<Bias> {
        if self.has_truth() { self.off_truth(label_set, class) } else { self.off_posterior(label_set, class) }
    }

    /// Returns the parts of the bias against the truth: due to the scores, and due to the labels.
    pub fn split(&self, label_set: &LabelSet, class: usize) -> Option<Split> {
        let counts = label_set.counts_with_truth()?;
        let share = part(counts[class], counts.iter().sum())?;
        let (posterior, truth) = (self.whole.posterior_with_truth.as_ref()?[class], self.whole.truth_share(class)?);
        Some(Split::new(share, posterior, truth, self.whole.with_truth()))
    }

    /// Returns a message with its settings as the front end writes them.
    pub(crate) fn render(&self, message: &Message) -> String {
        message.render(self.name_setting)
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
    pub(crate) fn of_whom(&self, label_set: &LabelSet) -> String {
        let labeled = if label_set.uncoded > 0 { ", among those labeled" } else { "" };
        match (self.among(), labeled) {
            (known, "") if known.is_empty() => known,
            (known, "") => format!(",{known}"),
            (known, labeled) if known.is_empty() => labeled.to_owned(),
            _ => format!(", among those labeled of the {} whose truth is known", text::count(self.whole.with_truth())),
        }
    }

    /// What labels are held against, in a word.
    pub fn reference_word(&self) -> &'static str {
        if self.has_truth() { "the truth" } else { "the scores" }
    }

    /// How far a class is off the scores, in a group.
    pub fn class_off(&self, label_set: &LabelSet, group: usize, class: usize) -> Option<Bias> {
        let totals = Some(&self.groups.as_ref()?.totals[group]).filter(|own| is_shown(own))?;
        let labels = label_set.in_groups.get(group)?;
        let share = part(labels[class], labels[..self.k()].iter().sum())?;
        Some(Bias::new(share, totals.posterior_share(class), totals.people))
    }

    /// Returns the groups, unless they are hidden.
    pub(crate) fn shown_groups(&self) -> Option<&Groups> {
        self.groups.as_ref().filter(|groups| !groups.are_people())
    }

    /// How far all classes but the focus class are off the scores, in a group.
    pub fn group_off(&self, label_set: &LabelSet, group: usize) -> Option<Bias> {
        let totals = Some(&self.groups.as_ref()?.totals[group]).filter(|own| is_shown(own))?;
        let labels = label_set.in_groups.get(group)?;
        let labeled: u64 = labels[..self.k()].iter().sum();
        let share = part(labeled - labels[self.focus], labeled)?;
        Some(Bias::new(share, totals.posterior_of_others(self.focus), totals.people))
    }

    /// The same of all people.
    pub fn others_off(&self, label_set: &LabelSet) -> Option<Bias> {
        let labeled = label_set.labeled();
        let share = part(labeled - label_set.counts[self.focus], labeled)?;
        Some(Bias::new(share, self.whole.posterior_of_others(self.focus), self.whole.people))
    }

    /// In how many groups all but the focus class are undercounted by a person or more, and of how many. Labels are whole
    /// people and scores are not: even right counts are short by a part of a person in about half of the groups.
    pub fn undercounted(&self, label_set: &LabelSet) -> Option<(usize, usize)> {
        let groups = self.groups.as_ref()?.names.len();
        let offs: Vec<Bias> = (0..groups).filter_map(|group| self.group_off(label_set, group)).collect();
        let low = offs.iter().filter(|off| off.people <= -1.0).count();
        (!offs.is_empty()).then_some((low, offs.len()))
    }
}

/// A part of a whole; none where that is nobody.
pub(crate) fn part(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

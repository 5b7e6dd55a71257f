//! The input of a report: precomputed results as plain data, and the few figures derived from them.

use apportion::Certificate;
use apportion::audit::{Bias, Calibration, GroupTotals, Interval, Section, Split};
use apportion::rule::{Point, RuleKind};
use apportion::text::{Message, Setting};

use crate::disparity::Disparity;
use crate::geometry::Shapes;
use crate::text;

/// Several label sets of one table, and what is known about its people.
#[derive(Clone, Debug)]
pub struct Study {
    /// The classes, in order.
    pub classes: Vec<String>,
    /// The class that is compared with all others together.
    pub focus: usize,
    /// The number of rows of the table.
    pub rows: u64,
    /// The totals of all people.
    pub whole: GroupTotals,
    /// Whether a column of true classes was given, even if it is empty.
    pub truth_given: bool,
    /// The groups, if there are any.
    pub groups: Option<Groups>,
    /// The label sets. There is at least one.
    pub label_sets: Vec<LabelSet>,
    /// The label set that the report is about.
    pub subject: usize,
    /// The label set with correct counts that the subject is compared with.
    pub corrected: Option<usize>,
    /// The calibration of the scores of each class, if truth is known.
    pub calibration: Vec<Option<Calibration>>,
    /// All figures of the labels that the report is about: agreement with argmax, ties, unlabeled rows, intervals.
    pub audit: Option<Section>,
    /// The frontier to the posterior; `None` without people.
    pub trade: Option<Trade>,
    /// The learned rule at several γ, from argmax to match; empty if not requested.
    pub learned: Vec<LearnedStop>,
    /// The people whose label changes from argmax to the labels of interest.
    pub changes: Option<Changes>,
    /// An outcome compared between classes, if one was given.
    pub outcomes: Option<Disparity>,
    /// The outlines of the groups.
    pub shapes: Option<Shapes>,
    /// The origin of the numbers.
    pub provenance: Provenance,
    /// The title, if one was given.
    pub title: Option<String>,
    /// The date of the report, such as 2026-01-31.
    pub date: Option<String>,
    /// How the front end writes a setting, for example as an option.
    pub name_setting: NameSetting,
}

/// Writes a setting with an example of its value, if there is one.
pub type NameSetting = fn(Setting, Option<&str>) -> String;

/// Groups with fewer people are hidden.
pub(crate) const FEWEST: u64 = 5;

/// Groups of people.
#[derive(Clone, Debug)]
pub struct Groups {
    /// The word for one group, such as "county".
    pub word: String,
    /// The names; a group without a name is "(none)".
    pub names: Vec<String>,
    /// The totals of each group.
    pub totals: Vec<GroupTotals>,
}

/// How labels were made. The report's logic depends on this, never on a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LabelKind {
    /// The user's labels, shown as "your labels".
    Own,
    /// One of several label columns of the user, shown by the name of the column.
    OwnColumn,
    /// The labels of a rule.
    Rule(RuleKind),
    /// The labels of a joint rule that was solved in batches.
    Batched,
}

impl LabelKind {
    /// The labels of argmax.
    pub(crate) const ARGMAX: LabelKind = LabelKind::Rule(RuleKind::Argmax);
    /// The labels of match.
    pub(crate) const MATCH: LabelKind = LabelKind::Rule(RuleKind::Match);
    /// The labels of match by group.
    pub(crate) const MATCH_BY_GROUP: LabelKind = LabelKind::Rule(RuleKind::MatchByGroup);
}

/// The labels that a rule gave, or that existed already.
#[derive(Clone, Debug)]
pub struct LabelSet {
    /// The name to show.
    pub name: String,
    /// How the labels were made.
    pub kind: LabelKind,
    /// The number of people of each class.
    pub counts: Vec<u64>,
    /// The sum of the scores of the people with each label.
    pub label_scores: Vec<f64>,
    /// The number of unlabeled people.
    pub uncoded: u64,
    /// Truth against label: one row per true class, with one column per label and Uncoded last.
    pub confusion: Option<Vec<Vec<u64>>>,
    /// For each group, the number of people of each class, with Uncoded last.
    pub in_groups: Vec<Vec<u64>>,
    /// For each group, the number of labels of each class among people with known truth; empty without truth.
    pub in_groups_with_truth: Vec<Vec<u64>>,
    /// The share of labels that are true.
    pub accuracy: Option<f64>,
    /// The mean score of the labels.
    pub expected_accuracy: Option<f64>,
    /// −Σ |share − posterior share|.
    pub fidelity_to_posterior: Option<f64>,
    /// −Σ |share − true share|.
    pub fidelity_to_truth: Option<f64>,
    /// The fidelity to the posterior within groups.
    pub fidelity_in_groups: Option<f64>,
    /// The share of each class's scores that is on labeled rows, if some rows are Uncoded and the truth is unknown.
    pub coverage: Option<Vec<Option<f64>>>,
    /// How much more accurate the best labels with equally close counts would be in expectation.
    pub frontier_gap: Option<f64>,
    /// The certificate of a joint rule.
    pub certificate: Option<Certificate>,
    /// The number of rows for which several classes were equally good for a joint rule.
    pub tied_rows: u64,
    /// The number of people of each class in every draw, if there are several. All other fields describe the first
    /// draw.
    pub draws: Vec<Vec<u64>>,
}

/// The reference of a frontier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TradeReference {
    /// The mean of the scores.
    Posterior,
    /// The shares of the truth.
    Truth,
    /// Another reference.
    Other,
}

impl TradeReference {
    /// Returns the word for it, to follow "the".
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
    /// A selection of its points, from argmax to match.
    pub points: Vec<Point>,
    /// The total number of points.
    pub of: usize,
    /// The maximum error of the accuracy between two of the points.
    pub error: f64,
}

/// The labels of a model trained on the labels of balance, at one γ.
#[derive(Clone, Debug)]
pub struct LearnedStop {
    /// The weight of accuracy.
    pub gamma: f64,
    /// The number of people that the model labeled.
    pub people: u64,
    /// The number of people of each class, scaled to all people.
    pub counts: Vec<u64>,
    /// The mean score of the labels.
    pub expected_accuracy: Option<f64>,
}

/// Two label sets, compared person by person.
#[derive(Clone, Debug)]
pub struct Changes {
    /// The label set before the change: argmax.
    pub before: usize,
    /// The label set after the change.
    pub after: usize,
    /// The number of people by label before (rows) and after (columns), with Uncoded last in both.
    pub people: Vec<Vec<u64>>,
    /// For each class, the people by their score for it, in [`SCORE_BINS`] bins of equal width.
    pub scores: Vec<Vec<ScoreBin>>,
}

/// The number of bins of scores.
pub const SCORE_BINS: usize = 100;

/// The people with similar scores for a class, by whether they have its label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScoreBin {
    /// People with the label neither before nor after.
    pub neither: u64,
    /// People with the label only before.
    pub before: u64,
    /// People with the label only after.
    pub after: u64,
    /// People with the label before and after.
    pub both: u64,
}

/// The origin of the numbers.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    /// The files: name, rows, SHA-256.
    pub files: Vec<(String, u64, String)>,
    /// Further facts, as pairs of a name and a text.
    pub facts: Vec<(String, String)>,
    /// The command.
    pub command: String,
}

/// Returns whether there are enough people to be described separately. Figures of very few people would describe
/// individuals.
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

    /// Returns the number of labeled people.
    pub fn labeled(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the share of a class's labels that are right if the scores are right.
    pub fn expected_right(&self, class: usize) -> Option<f64> {
        (self.counts[class] > 0).then(|| self.label_scores[class] / self.counts[class] as f64)
    }

    /// Returns the share of a class's labels that are right, among people with known truth.
    pub fn right(&self, class: usize) -> Option<f64> {
        part(self.confusion.as_ref()?[class][class], self.counts_with_truth()?[class])
    }

    /// Returns the bias in people, or `None` if some people are unlabeled: shares among the others do not determine it.
    pub fn people_off(&self, off: &Bias) -> Option<f64> {
        (self.uncoded == 0).then_some(off.people)
    }

    /// Returns the number of labels of each class among people with known truth.
    pub fn counts_with_truth(&self) -> Option<Vec<u64>> {
        let confusion = self.confusion.as_ref()?;
        Some((0..self.counts.len()).map(|class| confusion.iter().map(|row| row[class]).sum()).collect())
    }

    /// Returns the number of true labels, and the number of labels with known truth.
    pub fn hits(&self) -> Option<(u64, u64)> {
        let confusion = self.confusion.as_ref()?;
        let hits = confusion.iter().enumerate().map(|(class, row)| row[class]).sum();
        Some((hits, self.counts_with_truth()?.iter().sum()))
    }

    /// Returns the 95% interval of the accuracy.
    pub fn accuracy_interval(&self) -> Option<Interval> {
        let (hits, judged) = self.hits()?;
        Interval::of_rate(hits, judged)
    }
}

impl Study {
    /// Returns the number of classes.
    pub fn k(&self) -> usize {
        self.classes.len()
    }

    /// Returns the label set that the report is about.
    pub fn subject(&self) -> &LabelSet {
        &self.label_sets[self.subject]
    }

    /// Puts the label sets and the estimators from labels in display order: argmax, match, match by group, the
    /// subject, then all others.
    pub(crate) fn in_order(mut self) -> Study {
        let mut order: Vec<usize> = (0..self.label_sets.len()).collect();
        order.sort_by_key(|&index| (rank(self.label_sets[index].kind, index == self.subject), index));
        let new = |old: usize| order.iter().position(|&own| own == old).unwrap_or(0);
        self.subject = new(self.subject);
        self.corrected = self.corrected.map(new);
        if let Some(changes) = &mut self.changes {
            (changes.before, changes.after) = (new(changes.before), new(changes.after));
        }
        self.label_sets = order.iter().map(|&index| self.label_sets[index].clone()).collect();
        if let Some(own) = &mut self.outcomes {
            own.estimators
                .sort_by_key(|own| (own.method as usize, own.labels.map(|kind| rank(kind, kind == LabelKind::Own))));
        }
        self
    }

    /// Returns whether a label set is always shown: argmax, match, and the subject or, if that is one of them, match by
    /// group. The others are shown on demand.
    pub(crate) fn is_main(&self, index: usize) -> bool {
        let kind = self.label_sets[index].kind;
        let basic = [LabelKind::ARGMAX, LabelKind::MATCH];
        let third = basic.contains(&self.subject().kind).then_some(LabelKind::MATCH_BY_GROUP);
        index == self.subject || basic.contains(&kind) || Some(kind) == third
    }

    /// Returns the label sets that are always shown.
    pub(crate) fn main(&self) -> impl Iterator<Item = &LabelSet> {
        (0..self.label_sets.len()).filter(|&index| self.is_main(index)).map(|index| &self.label_sets[index])
    }

    /// Returns the indices of the label sets that are shown on demand.
    pub(crate) fn minor(&self) -> Vec<usize> {
        (0..self.label_sets.len()).filter(|&index| !self.is_main(index)).collect()
    }

    /// Returns the labels of argmax, unless the report is about them.
    pub(crate) fn argmax(&self) -> Option<&LabelSet> {
        self.label_sets
            .iter()
            .find(|own| own.kind == LabelKind::ARGMAX)
            .filter(|_| self.subject().kind != LabelKind::ARGMAX)
    }

    /// Returns the labels that the subject or, if that is argmax, argmax is contrasted with: those of argmax, then
    /// the subject, match by group or match.
    pub(crate) fn contrast(&self) -> Vec<&LabelSet> {
        let of = |kind| self.label_sets.iter().find(|own| own.kind == kind);
        let after = match self.subject().kind {
            LabelKind::ARGMAX => of(LabelKind::MATCH_BY_GROUP).or_else(|| self.corrected()),
            _ => Some(self.subject()),
        };
        of(LabelKind::ARGMAX).into_iter().chain(after).collect()
    }

    /// Returns the number of people of a class by the scores, among people with known truth if there are any.
    pub(crate) fn people_by_scores(&self, class: usize) -> f64 {
        match self.whole.posterior_with_truth.as_ref().filter(|_| self.has_truth()) {
            Some(shares) => shares[class] * self.whole.with_truth() as f64,
            None => self.whole.posterior_sum(class),
        }
    }

    /// Returns the number of labels of a class, among people with known truth if there are any.
    pub(crate) fn people_by_labels(&self, label_set: &LabelSet, class: usize) -> u64 {
        label_set.counts_with_truth().map_or(label_set.counts[class], |counts| counts[class])
    }

    /// Returns the label set that the subject is compared with.
    pub fn corrected(&self) -> Option<&LabelSet> {
        self.corrected.filter(|&corrected| corrected != self.subject).map(|corrected| &self.label_sets[corrected])
    }

    /// Returns the bias of a class's share against the scores.
    pub fn off_posterior(&self, label_set: &LabelSet, class: usize) -> Option<Bias> {
        let share = part(label_set.counts[class], label_set.labeled())?;
        Some(Bias::new(share, self.whole.posterior_share(class), self.whole.people))
    }

    /// Returns the bias of a class's share against the truth, among people with known truth.
    pub fn off_truth(&self, label_set: &LabelSet, class: usize) -> Option<Bias> {
        let counts = label_set.counts_with_truth()?;
        let share = part(counts[class], counts.iter().sum())?;
        Some(Bias::new(share, self.whole.truth_share(class)?, self.whole.with_truth()))
    }

    /// Returns the bias against the truth if it is known, otherwise against the scores.
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

    /// Returns whether the truth is known for anyone.
    pub fn has_truth(&self) -> bool {
        self.whole.with_truth() > 0
    }

    /// Returns whether the truth is known for everyone.
    pub fn has_whole_truth(&self) -> bool {
        self.has_truth() && self.whole.with_truth() == self.whole.people
    }

    /// Returns the phrase that limits a statement to people with known truth, or an empty string.
    pub(crate) fn among(&self) -> String {
        if !self.has_truth() || self.has_whole_truth() {
            return String::new();
        }
        format!(" among the {} people with known truth", text::count(self.whole.with_truth()))
    }

    /// Returns the phrase, to follow a clause, that limits a statement to people with a label or known truth.
    pub(crate) fn of_whom(&self, label_set: &LabelSet) -> String {
        let labeled = if label_set.uncoded > 0 { ", among labeled people" } else { "" };
        match (self.among(), labeled) {
            (known, "") if known.is_empty() => known,
            (known, "") => format!(",{known}"),
            (known, labeled) if known.is_empty() => labeled.to_owned(),
            _ => format!(", among labeled people, of the {} with known truth", text::count(self.whole.with_truth())),
        }
    }

    /// Returns the word for the reference of comparisons.
    pub fn reference_word(&self) -> &'static str {
        if self.has_truth() { "the truth" } else { "the scores" }
    }

    /// Returns the bias of a class against the scores, in a group.
    pub fn class_off(&self, label_set: &LabelSet, group: usize, class: usize) -> Option<Bias> {
        let totals = Some(&self.groups.as_ref()?.totals[group]).filter(|own| is_shown(own))?;
        let labels = label_set.in_groups.get(group)?;
        let share = part(labels[class], labels[..self.k()].iter().sum())?;
        Some(Bias::new(share, totals.posterior_share(class), totals.people))
    }

    /// Returns the bias of a class against the truth, in a group, among people with known truth.
    pub fn class_off_truth(&self, label_set: &LabelSet, group: usize, class: usize) -> Option<Bias> {
        let (totals, labels) = self.with_truth_in(label_set, group)?;
        let share = part(labels[class], labels.iter().sum())?;
        Some(Bias::new(share, totals.truth_share(class)?, totals.with_truth()))
    }

    /// Returns the bias of all classes but the focus class against the truth, in a group, among people with known truth.
    pub fn group_off_truth(&self, label_set: &LabelSet, group: usize) -> Option<Bias> {
        let (totals, labels) = self.with_truth_in(label_set, group)?;
        let labeled: u64 = labels.iter().sum();
        let share = part(labeled - labels[self.focus], labeled)?;
        Some(Bias::new(share, 1.0 - totals.truth_share(self.focus)?, totals.with_truth()))
    }

    /// Returns the totals and the labels of the people with known truth in a group that is large enough to show.
    fn with_truth_in<'a>(&'a self, label_set: &'a LabelSet, group: usize) -> Option<(&'a GroupTotals, &'a [u64])> {
        let totals = Some(&self.groups.as_ref()?.totals[group]).filter(|own| own.with_truth() >= FEWEST)?;
        Some((totals, label_set.in_groups_with_truth.get(group)?))
    }

    /// Returns the bias of all classes but the focus class against the truth, among people with known truth.
    pub fn others_off_truth(&self, label_set: &LabelSet) -> Option<Bias> {
        let counts = label_set.counts_with_truth()?;
        let labeled: u64 = counts.iter().sum();
        let share = part(labeled - counts[self.focus], labeled)?;
        Some(Bias::new(share, 1.0 - self.whole.truth_share(self.focus)?, self.whole.with_truth()))
    }

    /// Returns the groups, unless they are hidden.
    pub(crate) fn shown_groups(&self) -> Option<&Groups> {
        self.groups.as_ref().filter(|groups| !groups.are_people())
    }

    /// Returns the bias of all classes but the focus class against the scores, in a group.
    pub fn group_off(&self, label_set: &LabelSet, group: usize) -> Option<Bias> {
        let totals = Some(&self.groups.as_ref()?.totals[group]).filter(|own| is_shown(own))?;
        let labels = label_set.in_groups.get(group)?;
        let labeled: u64 = labels[..self.k()].iter().sum();
        let share = part(labeled - labels[self.focus], labeled)?;
        Some(Bias::new(share, totals.posterior_of_others(self.focus), totals.people))
    }

    /// Returns the bias of all classes but the focus class against the scores, among all people.
    pub fn others_off(&self, label_set: &LabelSet) -> Option<Bias> {
        let labeled = label_set.labeled();
        let share = part(labeled - label_set.counts[self.focus], labeled)?;
        Some(Bias::new(share, self.whole.posterior_of_others(self.focus), self.whole.people))
    }

    /// Returns the number of groups in which all classes but the focus class are undercounted by a person or more, and
    /// the number of groups. Labels are whole people and sums of scores are not: even with correct counts, about half
    /// of the groups fall short by a fraction of a person.
    pub fn undercounted(&self, label_set: &LabelSet) -> Option<(usize, usize)> {
        let groups = self.groups.as_ref()?.names.len();
        let offs: Vec<Bias> = (0..groups).filter_map(|group| self.group_off(label_set, group)).collect();
        let low = offs.iter().filter(|off| off.people <= -1.0).count();
        (!offs.is_empty()).then_some((low, offs.len()))
    }
}

/// Returns the position of labels in charts and tables.
fn rank(kind: LabelKind, is_subject: bool) -> usize {
    match kind {
        LabelKind::ARGMAX => 0,
        LabelKind::MATCH => 1,
        LabelKind::MATCH_BY_GROUP => 2,
        _ if is_subject => 3,
        LabelKind::Own | LabelKind::OwnColumn | LabelKind::Rule(_) | LabelKind::Batched => 4,
    }
}

/// Returns a part as a share of a whole, or `None` if the whole is 0.
pub(crate) fn part(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

//! Settings of rules, existing labels, and outcomes.

use apportion::text::Setting;

use super::Job::{Apply, Audit, Compare, Disparity, Export, Fit, Frontier, Label, Verify};
use super::Words::{Setting as S, Text as T};
use super::{Declaration, Group, Kind};
use crate::rule::RuleName::{self, Argmax, Balance, Learned, Match, Thompson, Threshold, TopK};

const JOINT: &[RuleName] = &[Match, Balance];
const TRADED: &[RuleName] = &[Balance, Learned];

pub(super) const RULES: &[(&str, &str)] = &[
    (Argmax.name(), "The most likely class. Undercounts most small classes"),
    (Threshold.name(), "The most likely class if its score is high enough, otherwise no label"),
    (
        Thompson.name(),
        "A class drawn at random by its score. Counts are those of the scores on average; single labels are the least accurate",
    ),
    (TopK.name(), "A class drawn among the k most likely"),
    (Match.name(), "The most accurate labels whose counts match the reference"),
    (Balance.name(), "Accuracy weighed against fidelity to the reference"),
    (Learned.name(), "A model trained on matched labels of a sample, as in the paper. Counts are approximate"),
];

const PENALTIES: &[(&str, &str)] = &[
    ("l1", "The sum of absolute differences"),
    ("l2", "The Euclidean distance"),
    ("l2-squared", "The squared Euclidean distance"),
    ("kl", "The Kullback-Leibler divergence"),
];

const LEARNERS: &[(&str, &str)] = &[
    ("svm", "A linear support vector machine"),
    ("logistic", "Multinomial logistic regression"),
    ("forest", "A random forest"),
];

const POOLING: &[(&str, &str)] = &[
    (
        "auto",
        "Partial for each class of which the scores identify fewer than 20 people per group (Σq²), otherwise none",
    ),
    ("none", "Each group is estimated separately"),
    ("partial", "Estimates of small groups are shrunk to those of the others"),
];

const INFERENCE: &[(&str, &str)] = &[
    ("population", "The means in the population that the people were drawn from"),
    ("file", "The means of the file's own people of each class: only their classes are uncertain"),
];

const REGRESSIONS: &[(&str, &str)] = &[
    ("linear", "Least squares; for rates, a linear probability model"),
    ("logistic", "Logistic regression; for rates only"),
];

const SMALL_CELLS: &[(&str, &str)] = &[
    ("hide", "Estimates from fewer than 5 people are hidden in every output"),
    ("show", "All estimates are shown; they may identify individuals"),
];

const UNKNOWN_GROUPS: &[(&str, &str)] = &[
    ("refuse", "They are an error that lists the groups"),
    ("overall", "Labeled at the prices for all rows of the fit"),
    ("unlabeled", "Written as Uncoded"),
];

const fn setting(setting: Setting, kind: Kind, value: &'static str, help: &'static [super::Words]) -> Declaration {
    Declaration::of(setting, kind, value, help)
}

const LABEL_MAP: Declaration = setting(
    Setting::LabelMap,
    Kind::ClassMap,
    "VALUE=CLASS,…",
    &[T("Classes of label values, or a built-in map: nc, l2 or targetsmart")],
);

const UNCODED: Declaration = setting(
    Setting::Uncoded,
    Kind::Uncoded,
    "VALUE[,VALUE][=keep|drop|argmax]",
    &[T("Label values to treat as unlabeled (empty values always are), and what `audit` does with these rows: keep them in \
         the reference, drop them, or use their most likely class")],
)
.default("Uncoded=keep");

const TRAINING_SHARES: Declaration = setting(
    Setting::TrainingShares,
    Kind::Text,
    "FILE",
    &[
        T("Class shares of the population that the scores describe, for "),
        S(Setting::Reference),
        T(" em: a file with the \
         columns class,share"),
    ],
);

pub(super) static GROUPS: &[Group] = &[
    Group {
        heading: "Rule",
        jobs: &[Label, Fit, Verify],
        settings: &[
            setting(
                Setting::Rule,
                Kind::Choice(RULES),
                "RULE",
                &[T("How labels are chosen [default: match, or balance with "), S(Setting::Gamma), T("]")],
            ),
            setting(
                Setting::Gamma,
                Kind::Gamma,
                "0|0.001…1",
                &[T("balance, learned: weight of accuracy against fidelity; 1 is argmax, 0 is match [default: 0.9]")],
            )
            .rules(TRADED),
            setting(
                Setting::Penalty,
                Kind::Choice(PENALTIES),
                "PENALTY",
                &[T("balance, learned: distance from the reference [default: l1]")],
            )
            .rules(TRADED),
            setting(
                Setting::At,
                Kind::Thresholds,
                "T[,CLASS=T]",
                &[T("threshold: minimum score of a label, for all classes and for single ones [default: 0.8]")],
            )
            .rules(&[Threshold]),
            setting(Setting::K, Kind::Whole(1, 255), "K", &[T("top-k: number of most likely classes to draw among [default: 2]")])
                .rules(&[TopK]),
            setting(Setting::Draws, Kind::Whole(1, 1000), "DRAWS", &[T("thompson, top-k: number of draws [default: 1]")])
                .rules(&[Thompson, TopK]),
            setting(Setting::Coverage, Kind::Number(0.0, 1.0), "SHARE", &[T("match, balance: label only this share of the rows")])
                .rules(JOINT),
            setting(
                Setting::FromSample,
                Kind::Whole(1, u64::MAX),
                "ROWS",
                &[T("match, balance: solve for a random sample of this size and label all rows with its prices. Counts are \
                     approximate")],
            )
            .rules(JOINT),
            setting(
                Setting::Learner,
                Kind::Choice(LEARNERS),
                "LEARNER",
                &[T("learned: the model trained on matched (with "), S(Setting::Gamma), T(", balanced) labels [default: svm]")],
            )
            .rules(&[Learned]),
            setting(
                Setting::TrainRows,
                Kind::Whole(1, u64::MAX),
                "ROWS",
                &[T("learned: number of random rows to solve and train on [default: 10000]")],
            )
            .rules(&[Learned]),
        ],
    },
    Group {
        heading: "Target",
        jobs: &[Label, Fit, Verify],
        settings: &[
            setting(
                Setting::Reference,
                Kind::Reference,
                "posterior|truth|uniform|em|pacc|FILE",
                &[T("Distribution that the labels should have; a file has the columns class,share (and group). em estimates it \
                     from the scores and "), S(Setting::TrainingShares), T(", pacc from rows with known "), S(Setting::Truth),
                  T(" [default: posterior]")],
            )
            .rules(&[Match, Balance, Learned]),
            TRAINING_SHARES.rules(&[Match, Balance, Learned]),
            setting(
                Setting::AtLeast,
                Kind::Bounds,
                "CLASS=N|P%",
                &[T("match, balance: minimum number of people of a class, or share with a %")],
            )
            .rules(JOINT),
            setting(Setting::AtMost, Kind::Bounds, "CLASS=N|P%", &[T("match, balance: maximum number or share")]).rules(JOINT),
            setting(
                Setting::Tolerance,
                Kind::Number(0.0, 1.0),
                "POINTS",
                &[T("balance: keep every share within this distance of the reference (0.01 is one point)")],
            )
            .rules(&[Balance]),
        ],
    },
    Group {
        heading: "Groups",
        jobs: &[Label, Fit, Verify],
        settings: &[setting(
            Setting::Nested,
            Kind::List,
            "COL[,COL,…]",
            &[T("match: columns of nested groups, the largest first. The counts of the largest groups are right to the nearest \
                 person; those of smaller groups sum to them, and differ from their own targets by as little as possible")],
        )
        .rules(&[Match])],
    },
    Group {
        heading: "Target",
        jobs: &[Frontier],
        settings: &[
            setting(
                Setting::Reference,
                Kind::Reference,
                "posterior|truth|uniform|em|pacc|FILE",
                &[T("Distribution that the labels should have; a file has the columns class,share (and group). em estimates it \
                     from the scores and "), S(Setting::TrainingShares), T(", pacc from rows with known "), S(Setting::Truth)],
            )
            .default("posterior"),
            TRAINING_SHARES,
            setting(
                Setting::Points,
                Kind::Whole(2, 1_000_000),
                "POINTS",
                &[T("Number of evenly spread points [default: all]")],
            ),
        ],
    },
    Group {
        heading: "Labels",
        jobs: &[Audit],
        settings: &[
            setting(Setting::Label, Kind::Text, "COL", &[T("Column of the labels [default: the column called label]")]),
            LABEL_MAP,
            UNCODED,
            setting(
                Setting::Decision,
                Kind::Text,
                "DECISION.json",
                &[T("Decision that made the labels, to test whether their counts have drifted more than chance explains")],
            ),
            setting(
                Setting::Reference,
                Kind::Reference,
                "uniform|FILE",
                &[T("Known shares to compare the labels with, in addition to the scores and the truth; a file has the columns \
                     class,share (and group)")],
            ),
            setting(
                Setting::Bootstrap,
                Kind::Whole(1, 100_000),
                "REPLICATES",
                &[T("Add 95% confidence intervals of shares, bias, accuracy and fidelity from this many bootstrap replicates, \
                     for example 200. Time is about 20 nanoseconds per replicate and row")],
            ),
        ],
    },
    Group {
        heading: "Labels",
        jobs: &[Compare],
        settings: &[
            setting(Setting::Label, Kind::Text, "COL", &[T("Column of labels that exist, to compare with the rules")]),
            LABEL_MAP,
            UNCODED,
            setting(
                Setting::Batch,
                Kind::Whole(1, u64::MAX),
                "ROWS",
                &[T("Also solve match and balance in random batches of this size, to show the loss")],
            ),
        ],
    },
    Group {
        heading: "Outcome",
        jobs: &[Audit, Compare],
        settings: &[setting(
            Setting::Outcome,
            Kind::Text,
            "COL",
            &[T("Column of an outcome to compare between classes in the report, with every estimator")],
        )],
    },
    Group {
        heading: "Outcome",
        jobs: &[Disparity],
        settings: &[setting(
            Setting::Outcome,
            Kind::Text,
            "COL",
            &[T("Column of the outcome: numbers; 0 and 1, true and false, yes and no; or a few values. Rows without one are \
                 left out")],
        )
        .required()],
    },
    Group {
        heading: "Outcome",
        jobs: &[Disparity],
        settings: &[setting(
            Setting::Prediction,
            Kind::Text,
            "COL",
            &[T("Column of a prediction or decision (0 and 1, or yes and no): also compares its rates of true and false \
                 positives, given the outcome")],
        )],
    },
    Group {
        heading: "Outcome",
        jobs: &[Audit, Compare, Disparity],
        settings: &[
            setting(
                Setting::OutcomeValue,
                Kind::Text,
                "VALUE",
                &[T("Value of the outcome that counts as 1; all other values count as 0")],
            ),
            setting(
                Setting::Weight,
                Kind::Text,
                "COL",
                &[T("Column of survey weights: numbers from 0. Rows without one are left out")],
            ),
            setting(
                Setting::Inference,
                Kind::Choice(INFERENCE),
                "TARGET",
                &[T("What the intervals of the weighted estimator are about")],
            )
            .default("population"),
            setting(
                Setting::Cells,
                Kind::List,
                "COL[,COL]",
                &[T("Columns that together define cells of similar people, for bounds")],
            ),
            setting(
                Setting::Against,
                Kind::Text,
                "CLASS",
                &[T("Class to compare the others with [default: the largest by the scores]")],
            ),
            setting(
                Setting::Favorable,
                Kind::Text,
                "VALUE",
                &[
                    T("Value of the outcome that is favorable, such as approved: counts as 1, and rates are also compared by \
                       their ratio (adverse impact)"),
                ],
            ),
            setting(
                Setting::Baseline,
                Kind::Text,
                "CLASS",
                &[
                    T("Class whose rate others are divided by, with "),
                    S(Setting::Favorable),
                    T(" [default: the highest rate of a class with at least 30 expected people]"),
                ],
            ),
            setting(
                Setting::Pooling,
                Kind::Choice(POOLING),
                "POOLING",
                &[T("How BIRDiE combines the groups of "), S(Setting::By)],
            )
            .default("auto"),
            setting(
                Setting::Covariates,
                Kind::List,
                "COL[,COL]",
                &[T("Columns on which the outcome may also depend in BIRDiE, such as an age group; combined with those of "), S(Setting::By)],
            ),
            setting(
                Setting::NoBootstrap,
                Kind::Flag,
                "",
                &[T("Skip the bootstrap: BIRDiE has no standard errors and no intervals")],
            ),
            setting(
                Setting::SmallCells,
                Kind::Choice(SMALL_CELLS),
                "POLICY",
                &[T("Whether to show estimates with an effective sample size below 5")],
            )
            .default("hide"),
        ],
    },
    Group {
        heading: "Regression",
        jobs: &[Disparity],
        settings: &[
            setting(
                Setting::Controls,
                Kind::List,
                "COL[,COL]",
                &[T("Columns to hold constant in regressions of the outcome on class: numbers, or up to 100 categories \
                     (COL:category if categories are numbers)")],
            ),
            setting(
                Setting::Cluster,
                Kind::Text,
                "COL",
                &[T("Column of clusters of people whose outcomes are related, for the standard errors of "), S(Setting::Controls)],
            ),
            setting(
                Setting::Regression,
                Kind::Choice(REGRESSIONS),
                "MODEL",
                &[T("Model of the outcome given class and "), S(Setting::Controls)],
            )
            .default("linear"),
        ],
    },
    Group {
        heading: "Labels",
        jobs: &[Disparity],
        settings: &[
            setting(Setting::Label, Kind::List, "COL[,COL]", &[T("Columns of labels that exist, to compare with the rules")]),
            LABEL_MAP,
            UNCODED,
        ],
    },
    Group {
        heading: "Rule",
        jobs: &[Apply],
        settings: &[setting(Setting::Decision, Kind::Text, "DECISION.json", &[T("Decision, as `fit` wrote it")]).required()],
    },
    Group {
        heading: "Groups",
        jobs: &[Apply, Verify],
        settings: &[setting(
            Setting::UnknownGroups,
            Kind::Choice(UNKNOWN_GROUPS),
            "POLICY",
            &[T("What to do with rows whose group is not in the decision")],
        )
        .default("refuse")],
    },
    Group {
        heading: "Output",
        jobs: &[Fit],
        settings: &[setting(Setting::Output, Kind::Text, "DECISION.json", &[T("File for the decision")]).required()],
    },
    Group {
        heading: "Decision",
        jobs: &[Export],
        settings: &[setting(Setting::Decision, Kind::Text, "DECISION.json", &[T("Decision, as `fit` wrote it")]).required()],
    },
    Group {
        heading: "Labels",
        jobs: &[Verify],
        settings: &[
            setting(Setting::Output, Kind::List, "OUT", &[T("Output of `label` or `apply`: a file or a folder")]).required(),
            setting(Setting::Against, Kind::List, "SCORES", &[T("Scores that the labels were made from: files, folders or globs")])
                .required(),
            setting(
                Setting::Decision,
                Kind::Text,
                "DECISION.json",
                &[T("Decision with the prices of the labels [default: that in the provenance]")],
            ),
            setting(Setting::Provenance, Kind::Text, "FILE.json", &[T("Provenance of an output that does not contain it")]),
            setting(Setting::Label, Kind::Text, "COL", &[T("Column of the labels [default: that in the provenance, or label]")]),
        ],
    },
];

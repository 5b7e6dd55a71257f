//! Settings of jobs that read a table of scores, of their outputs and of their reports.

use apportion::text::Setting;

use super::Job::{
    Apply, Audit, Calibrate, Compare, Describe, Disparity, Explain, Fit, Frontier, Label, Predict, Verify,
};
use super::Words::{Setting as S, Text as T};
use super::{Declaration, Group, Job, Kind};

const GIB: u64 = 1 << 30;
const TABLE_JOBS: &[Job] = &[Label, Audit, Compare, Disparity, Frontier, Fit, Apply, Calibrate, Verify];
const REPORT_JOBS: &[Job] = &[Label, Audit, Compare, Disparity];

pub(super) const ENCODINGS: &[(&str, &str)] = &[
    ("auto", "UTF-8, or Windows-1252 if the file has no multi-byte UTF-8 characters"),
    ("utf8", "UTF-8"),
    ("windows-1252", "Windows-1252, which includes Latin-1"),
    ("latin1", "Same as windows-1252"),
];

const METHODS: &[(&str, &str)] = &[
    ("logistic", "Multinomial logistic regression on the logarithms of the scores"),
    ("isotonic", "Isotonic regression for each class; needs more rows"),
];

const fn setting(setting: Setting, kind: Kind, value: &'static str, help: &'static [super::Words]) -> Declaration {
    Declaration::of(setting, kind, value, help)
}

pub(super) static GROUPS: &[Group] = &[
    Group {
        heading: "Input",
        jobs: &[Label, Audit, Compare, Disparity, Frontier, Fit, Apply, Calibrate],
        settings: &[setting(
            Setting::Inputs,
            Kind::List,
            "SCORES",
            &[T("Files (CSV, TSV, Parquet, Arrow, Excel; .gz, .zst), folders or globs; - for standard input")],
        )
        .required()],
    },
    Group {
        heading: "Input",
        jobs: TABLE_JOBS,
        settings: &[
            setting(Setting::Scores, Kind::List, "COL,COL,…", &[T("Score columns [default: recognized by name]")]),
            setting(
                Setting::Classes,
                Kind::List,
                "NAME,NAME,…",
                &[T("New names of the classes, in the order of the score columns; or the same names in another order")],
            ),
            setting(
                Setting::Id,
                Kind::Text,
                "COL",
                &[T("Column that identifies a row, so that ties and draws do not depend on the order of the rows")],
            ),
            setting(Setting::Count, Kind::Text, "COL", &[T("Column with the number of people that a row represents")]),
            setting(Setting::Truth, Kind::Text, "COL", &[T("Column of the true class")]),
            setting(
                Setting::TruthMap,
                Kind::ClassMap,
                "VALUE=CLASS,…",
                &[
                    T("Classes of "),
                    S(Setting::Truth),
                    T(" values, or a built-in map: nc (North Carolina's race_code and ethnic_code), l2 or targetsmart"),
                ],
            ),
            setting(
                Setting::TruthEthnicity,
                Kind::Text,
                "COL",
                &[T("Column of the ethnicity for "), S(Setting::TruthMap), T(" nc [default: ethnic_code]")],
            ),
            setting(Setting::TruthExclude, Kind::List, "VALUE,…", &[T("Truth values to treat as missing")]),
            setting(
                Setting::OnlyWithTruth,
                Kind::Flag,
                "",
                &[T("Leave out rows without truth before anything is computed, as the paper does")],
            ),
            setting(
                Setting::SkipMissing,
                Kind::Flag,
                "",
                &[T("Leave out rows with a missing score instead of refusing them")],
            ),
            setting(Setting::Normalize, Kind::Flag, "", &[T("Divide the scores of each row by their sum")]),
        ],
    },
    Group {
        heading: "Groups",
        jobs: &[Label, Audit, Compare, Disparity, Frontier, Fit, Apply, Verify],
        settings: &[setting(
            Setting::By,
            Kind::List,
            "COL[,COL]",
            &[T("Columns that together define a group, such as state,county")],
        )],
    },
    Group {
        heading: "Calibration",
        jobs: &[Calibrate],
        settings: &[setting(
            Setting::By,
            Kind::List,
            "COL[,COL]",
            &[T(
                "logistic: columns that together define a group. Each group has its own intercepts, and those of small \
                 groups shrink to those of all rows",
            )],
        )],
    },
    Group {
        heading: "Input",
        jobs: &[Label, Audit, Compare, Disparity, Frontier, Fit, Apply, Calibrate, Verify, Predict, Explain, Describe],
        settings: &[
            setting(
                Setting::Encoding,
                Kind::Choice(ENCODINGS),
                "ENCODING",
                &[T("Encoding of text files without a byte order mark")],
            )
            .default("auto"),
            setting(
                Setting::Delimiter,
                Kind::Character,
                "CHAR",
                &[T("Separator of text files: one character, or tab [default: detected]")],
            ),
            setting(Setting::Sheet, Kind::Text, "NAME", &[T("Sheet of Excel workbooks (.xlsx) [default: the first]")]),
            setting(
                Setting::MaxLine,
                Kind::Size(1 << 10, GIB),
                "SIZE",
                &[T("Maximum length of a line of a text file")],
            )
            .default("16M"),
        ],
    },
    Group {
        heading: "Performance",
        jobs: &[Label, Audit, Compare, Disparity, Frontier, Fit, Apply, Calibrate, Verify, Predict, Explain, Describe],
        settings: &[
            setting(
                Setting::Threads,
                Kind::Whole(1, 1024),
                "1…1024",
                &[T("Number of threads [default: all]. Results do not depend on it")],
            ),
            setting(
                Setting::BatchRows,
                Kind::Whole(1, 1 << 24),
                "ROWS",
                &[T("Rows to read at a time. Results do not depend on it")],
            )
            .default("65536"),
        ],
    },
    Group {
        heading: "Performance",
        jobs: TABLE_JOBS,
        settings: &[setting(
            Setting::Memory,
            Kind::Size(0, u64::MAX),
            "SIZE",
            &[T(
                "Memory for the scores, such as 512M [default: a quarter of the machine's]. Scores that do not fit go to a \
                 temporary file in the folder TMPDIR. Results do not depend on it",
            )],
        )],
    },
    Group {
        heading: "Rule",
        jobs: &[Label, Audit, Compare, Disparity, Frontier, Fit, Verify],
        settings: &[setting(
            Setting::Seed,
            Kind::Whole(0, u64::MAX),
            "SEED",
            &[T("Seed of ties and draws [default: 0]")],
        )],
    },
    Group {
        heading: "Output",
        jobs: &[Label, Apply],
        settings: &[
            setting(
                Setting::Output,
                Kind::Text,
                "OUT",
                &[T("Output file (format from its extension), directory (one file per input), or - for CSV on stdout")],
            )
            .required(),
            setting(Setting::OnlyLabel, Kind::Flag, "", &[T("Write only "), S(Setting::Id), T(" and the label")]),
            setting(
                Setting::LabelName,
                Kind::Text,
                "NAME",
                &[T("Name of the label column; its score is in NAME_score")],
            )
            .default("label"),
        ],
    },
    Group {
        heading: "Calibration",
        jobs: &[Calibrate],
        settings: &[
            setting(
                Setting::Method,
                Kind::Choice(METHODS),
                "METHOD",
                &[T("Method of a new calibration [default: logistic]")],
            ),
            setting(
                Setting::Calibration,
                Kind::Text,
                "FILE.json",
                &[T("Use a saved calibration instead of fitting one; "), S(Setting::Truth), T(" only measures it")],
            ),
            setting(
                Setting::Seed,
                Kind::Whole(0, u64::MAX),
                "SEED",
                &[T("Seed of the folds; see the description below [default: 0]")],
            ),
        ],
    },
    Group {
        heading: "Output",
        jobs: &[Calibrate],
        settings: &[
            setting(
                Setting::Output,
                Kind::Text,
                "OUT",
                &[T("Output file (format from its extension), directory (one file per input), or - for CSV on stdout")],
            )
            .required(),
            setting(
                Setting::Save,
                Kind::Text,
                "FILE.json",
                &[T("Save the calibration of all rows with known truth, for other files")],
            ),
        ],
    },
    Group {
        heading: "Output",
        jobs: &[Audit, Compare, Disparity, Frontier],
        settings: &[setting(
            Setting::Output,
            Kind::Text,
            "FILE.csv|FILE.json",
            &[T("Also write the results to a file: the table as CSV, or the same JSON as "), S(Setting::Json)],
        )],
    },
    Group {
        heading: "Output",
        jobs: &[Label, Apply, Calibrate, Predict],
        settings: &[setting(
            Setting::SafeCsv,
            Kind::Flag,
            "",
            &[T("CSV and TSV: put an apostrophe before text that a spreadsheet would run as a formula (= + - @)")],
        )],
    },
    Group {
        heading: "Output",
        jobs: &[Label, Apply, Calibrate, Fit, Predict],
        settings: &[
            setting(
                Setting::Provenance,
                Kind::Text,
                "FILE.json",
                &[T(
                    "Write the provenance (version, command, options, SHA-256 of inputs, certificate) to a JSON file. \
                     Parquet and Arrow outputs contain it",
                )],
            ),
            setting(
                Setting::NoProvenance,
                Kind::Flag,
                "",
                &[T("Do not compute the SHA-256 of the inputs, and do not write provenance")],
            ),
        ],
    },
    Group {
        heading: "Output",
        jobs: &[Disparity],
        settings: &[setting(
            Setting::WriteScores,
            Kind::Text,
            "FILE",
            &[T(
                "Write the input with scores updated by the outcome (BIRDiE) to a file or directory, all rows in order",
            )],
        )],
    },
    Group {
        heading: "Output",
        jobs: &[Label, Apply, Calibrate, Fit, Predict, Audit, Compare, Disparity, Frontier],
        settings: &[setting(Setting::Force, Kind::Flag, "", &[T("Replace outputs that exist")])],
    },
    Group {
        heading: "Report",
        jobs: REPORT_JOBS,
        settings: &[
            setting(
                Setting::Report,
                Kind::Report,
                "FILE.html|FILE.md",
                &[T("Write a report with charts, maps and tables: a page (.html) or Markdown (.md)")],
            ),
            setting(
                Setting::Figures,
                Kind::Text,
                "DIR",
                &[T("Write every chart of the report to a directory: data (.csv) and Plotly specification (.json)")],
            ),
            setting(
                Setting::Geometry,
                Kind::Text,
                "FILE",
                &[
                    T("Outlines of the "),
                    S(Setting::By),
                    T(" groups for a map: GeoJSON, TopoJSON or a Shapefile (.shp)"),
                ],
            ),
            setting(
                Setting::GeometryKey,
                Kind::List,
                "NAME[,NAME]",
                &[T("Property of the outlines with the group names [default: the best match]")],
            ),
            setting(
                Setting::Focus,
                Kind::Text,
                "CLASS",
                &[T("Class to compare with all others combined [default: the largest]")],
            ),
            setting(Setting::Title, Kind::Text, "TEXT", &[T("Title of the report")]),
        ],
    },
];

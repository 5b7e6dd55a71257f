//! Settings of export, simulations, the paper and the demonstration, and common output settings.

use apportion::text::Setting;

use super::Job::{
    Apply, Audit, Calibrate, Compare, Demo, Describe, Disparity, Explain, Export, Fit, Frontier, Label, Predict,
    Provenance, Reproduce, SimulateCategorical, SimulateNormal, SimulateVoters, SimulateWorstCase, TablesCheck,
    TablesExport, TablesImport, Verify,
};
use super::Words::{Setting as S, Text as T};
use super::{Declaration, Group, Job, Kind};

const SIMULATIONS: &[Job] = &[SimulateVoters, SimulateNormal, SimulateCategorical, SimulateWorstCase];

/// The maximum number of simulated rows.
const MAX_ROWS: u64 = 1 << 40;

const DIALECTS: &[(&str, &str)] = &[
    ("duckdb", "DuckDB"),
    ("postgresql", "PostgreSQL"),
    ("sqlite", "SQLite"),
    ("bigquery", "BigQuery"),
    ("snowflake", "Snowflake"),
    ("spark", "Spark SQL"),
];

const fn setting(setting: Setting, kind: Kind, value: &'static str, help: &'static [super::Words]) -> Declaration {
    Declaration::of(setting, kind, value, help)
}

const FORCE: Declaration = setting(Setting::Force, Kind::Flag, "", &[T("Replace outputs that exist")]);

pub(super) static GROUPS: &[Group] = &[
    Group {
        heading: "SQL",
        jobs: &[Export],
        settings: &[
            setting(Setting::Sql, Kind::Choice(DIALECTS), "DIALECT", &[T("SQL dialect")]).required(),
            setting(
                Setting::Scores,
                Kind::List,
                "COL,COL,…",
                &[T("Score columns, in the order of the classes [default: those of the fit]")],
            ),
            setting(
                Setting::By,
                Kind::List,
                "COL[,COL]",
                &[T("Columns that together define a group [default: the columns of the fit]")],
            ),
            setting(Setting::Percent, Kind::Flag, "", &[T("The scores are percentages")]),
            setting(Setting::Single, Kind::Flag, "", &[T("The score columns are single precision (REAL, FLOAT)")]),
            setting(
                Setting::LabelName,
                Kind::Text,
                "NAME",
                &[T("Name of the label column [default: label, with "), S(Setting::Table), T("]")],
            ),
            setting(
                Setting::Table,
                Kind::Text,
                "TABLE",
                &[T("Write a complete SELECT statement from this table (any SQL allowed after FROM)")],
            ),
            setting(
                Setting::Id,
                Kind::Text,
                "COL",
                &[T("Column of IDs, to divide tied rows among their classes [default: they get the first]")],
            ),
            setting(
                Setting::Prices,
                Kind::Text,
                "FILE",
                &[
                    T("Write the prices of the groups to this CSV file, and join the table of its name. Requires "),
                    S(Setting::Table),
                ],
            ),
            setting(Setting::Output, Kind::Text, "FILE", &[T("File for the SQL [default: standard output]")]),
            FORCE,
        ],
    },
    Group {
        heading: "Input",
        jobs: &[Provenance],
        settings: &[setting(Setting::Inputs, Kind::Text, "FILE", &[T("File written by apportion")]).required()],
    },
    Group {
        heading: "Input",
        jobs: &[Describe],
        settings: &[setting(
            Setting::Inputs,
            Kind::List,
            "FILE",
            &[T("Files (CSV, TSV, Parquet, Arrow, Excel; .gz, .zst), folders or globs; - for standard input")],
        )
        .required()],
    },
    Group {
        heading: "Simulation",
        jobs: &[SimulateVoters],
        settings: &[
            setting(Setting::Rows, Kind::Whole(1, MAX_ROWS), "ROWS", &[T("Number of people")]).default("100000"),
            setting(
                Setting::PriorShift,
                Kind::Number(0.0, 1.0),
                "SHIFT",
                &[T("Shift of the class shares behind the scores, from voters (0) to all residents (1)")],
            )
            .default("0"),
            setting(
                Setting::Sharpen,
                Kind::Number(0.0, f64::INFINITY),
                "POWER",
                &[T("Power that scores are raised to; above 1, scores are overconfident")],
            )
            .default("1"),
            setting(
                Setting::Noise,
                Kind::Number(0.0, f64::INFINITY),
                "NOISE",
                &[T("Noise in the tables that people are drawn from, relative to the tables of the scores")],
            )
            .default("0"),
            setting(
                Setting::Merge,
                Kind::Pairs,
                "CLASS=CLASS,…",
                &[T("Merge classes: aian=other leaves five classes")],
            ),
            setting(
                Setting::NoScores,
                Kind::Flag,
                "",
                &[T("Write names and places without scores, as in a voter file")],
            ),
        ],
    },
    Group {
        heading: "Simulation",
        jobs: &[SimulateNormal],
        settings: &[setting(
            Setting::Variance,
            Kind::Number(0.0, f64::INFINITY),
            "VARIANCE",
            &[T("Variance of every coordinate")],
        )
        .default("0.5")],
    },
    Group {
        heading: "Simulation",
        jobs: &[SimulateCategorical],
        settings: &[setting(
            Setting::Signal,
            Kind::Number(0.0, 1.0),
            "SIGNAL",
            &[T("Probability that the category reveals the true class")],
        )
        .default("0.5")],
    },
    Group {
        heading: "Simulation",
        jobs: &[SimulateNormal, SimulateCategorical],
        settings: &[setting(Setting::Prior, Kind::Numbers, "SHARE,…", &[T("Shares of the classes, which sum to 1")])
            .default("0.5,0.25,0.125,0.0625,0.03125,0.03125")],
    },
    Group {
        heading: "Simulation",
        jobs: &[SimulateWorstCase],
        settings: &[
            setting(Setting::Classes, Kind::Whole(2, 250), "CLASSES", &[T("Number of classes")]).default("6"),
            setting(
                Setting::Unknown,
                Kind::Number(0.0, 1.0),
                "SHARE",
                &[T("Share of people about whom nothing is known: the paper's c")],
            )
            .default("0.6"),
            setting(
                Setting::Others,
                Kind::Number(0.0, 1.0),
                "SHARE",
                &[T("Share of people known to belong to a class other than the first: the paper's e")],
            )
            .default("0"),
        ],
    },
    Group {
        heading: "Simulation",
        jobs: &[SimulateNormal, SimulateCategorical, SimulateWorstCase],
        settings: &[setting(Setting::Rows, Kind::Whole(1, MAX_ROWS), "ROWS", &[T("Number of people")]).default("5000")],
    },
    Group {
        heading: "Simulation",
        jobs: SIMULATIONS,
        settings: &[
            setting(Setting::Seed, Kind::Whole(0, u64::MAX), "SEED", &[T("Seed")]).default("0"),
            setting(Setting::Double, Kind::Flag, "", &[T("Write scores in double precision")]),
            setting(
                Setting::Output,
                Kind::Text,
                "OUT",
                &[T("Output file (format from its extension), or - for CSV on stdout")],
            )
            .required(),
            FORCE,
        ],
    },
    Group {
        heading: "Output",
        jobs: &[TablesExport, TablesImport],
        settings: &[
            setting(
                Setting::Output,
                Kind::Text,
                "OUT",
                &[T("Output file (format from its extension), or - for CSV on stdout")],
            )
            .required(),
            FORCE,
        ],
    },
    Group {
        heading: "Experiments",
        jobs: &[Reproduce],
        settings: &[
            setting(Setting::Output, Kind::Text, "DIR", &[T("Folder for the page and the numbers")]).required(),
            setting(
                Setting::Datasets,
                Kind::Whole(2, u64::MAX),
                "DATASETS",
                &[T("Number of datasets to average over")],
            )
            .default("100"),
            setting(Setting::Rows, Kind::Whole(100, u64::MAX), "ROWS", &[T("Number of people in each dataset")])
                .default("5000"),
            setting(
                Setting::Voters,
                Kind::Whole(100, u64::MAX),
                "VOTERS",
                &[T("Number of simulated voters for the tables")],
            )
            .default("100000"),
            setting(
                Setting::Public,
                Kind::Text,
                "FILE",
                &[T("Public file of Greengard and Gelman, in place of simulated voters in their tables and figures")],
            ),
            setting(Setting::Seed, Kind::Whole(0, u64::MAX), "SEED", &[T("Seed")]).default("0"),
            FORCE,
        ],
    },
    Group {
        heading: "Demonstration",
        jobs: &[Demo],
        settings: &[
            setting(Setting::Rows, Kind::Whole(1, MAX_ROWS), "ROWS", &[T("Number of people")]).default("100000"),
            setting(Setting::Folder, Kind::Text, "FOLDER", &[T("Folder for the files")]).default("apportion-demo"),
            setting(
                Setting::Report,
                Kind::Report,
                "FILE.html|FILE.md",
                &[T("File for the report [default: report.html in the folder]")],
            ),
            setting(
                Setting::Figures,
                Kind::Text,
                "DIR",
                &[T("Write every chart of the report to a directory: data (.csv) and Plotly specification (.json)")],
            ),
            FORCE,
        ],
    },
    Group {
        heading: "Input",
        jobs: &[Label, Audit, Compare, Disparity, Frontier, Fit, Apply, Calibrate, Verify, Predict, Explain],
        settings: &[setting(
            Setting::Config,
            Kind::Text,
            "FILE.toml",
            &[T(
                "TOML file with options, for all commands or in a table such as [label]. The command line overrides it",
            )],
        )],
    },
    Group {
        heading: "Output",
        jobs: &[
            Label,
            Audit,
            Compare,
            Disparity,
            Frontier,
            Fit,
            Apply,
            Calibrate,
            Verify,
            Predict,
            Explain,
            Describe,
            TablesImport,
            TablesCheck,
            Provenance,
        ],
        settings: &[setting(Setting::Json, Kind::Flag, "", &[T("Print the result as JSON on standard output")])],
    },
    Group {
        heading: "Output",
        jobs: &[
            Label,
            Audit,
            Compare,
            Disparity,
            Frontier,
            Fit,
            Apply,
            Calibrate,
            Verify,
            Predict,
            Explain,
            Describe,
            TablesImport,
            Export,
            SimulateVoters,
            SimulateNormal,
            SimulateCategorical,
            SimulateWorstCase,
            Reproduce,
        ],
        settings: &[setting(Setting::Quiet, Kind::Flag, "", &[T("Print only errors on standard error")])],
    },
];

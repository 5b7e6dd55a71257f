//! The ids of all settings, so that an error or a hint can name one without the spelling of a front end.

macro_rules! settings {
    ($($variant:ident $id:literal)+) => {
        /// A setting of a job, such as `by`. Front ends write it in their own way: `--by`, `by=`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub enum Setting {
            $(#[doc = concat!("`", $id, "`")] #[serde(rename = $id)] $variant,)+
        }

        impl Setting {
            /// All settings.
            pub const ALL: &'static [Setting] = &[$(Setting::$variant,)+];

            /// Returns the id, in snake case.
            pub const fn id(self) -> &'static str {
                match self {
                    $(Setting::$variant => $id,)+
                }
            }
        }
    };
}

settings! {
    // Input.
    Config "config"
    Inputs "inputs"
    Scores "scores"
    Classes "classes"
    Id "id"
    By "by"
    Count "count"
    Truth "truth"
    TruthMap "truth_map"
    TruthEthnicity "truth_ethnicity"
    TruthExclude "truth_exclude"
    OnlyWithTruth "only_with_truth"
    SkipMissing "skip_missing"
    Normalize "normalize"
    Encoding "encoding"
    Delimiter "delimiter"
    Sheet "sheet"
    Threads "threads"
    Memory "memory"
    BatchRows "batch_rows"
    MaxLine "max_line"
    Seed "seed"
    // Rules.
    Rule "rule"
    Reference "reference"
    TrainingShares "training_shares"
    Gamma "gamma"
    Penalty "penalty"
    At "at"
    K "k"
    Draws "draws"
    Coverage "coverage"
    AtLeast "at_least"
    AtMost "at_most"
    Tolerance "tolerance"
    Nested "nested"
    FromSample "from_sample"
    Learner "learner"
    TrainRows "train_rows"
    // Existing labels, and outcomes.
    Label "label"
    LabelMap "label_map"
    Uncoded "uncoded"
    Decision "decision"
    UnknownGroups "unknown_groups"
    Bootstrap "bootstrap"
    Outcome "outcome"
    OutcomeValue "outcome_value"
    Weight "weight"
    Inference "inference"
    Prediction "prediction"
    Cells "cells"
    Pooling "pooling"
    Controls "controls"
    Cluster "cluster"
    Regression "regression"
    Covariates "covariates"
    NoBootstrap "no_bootstrap"
    SmallCells "small_cells"
    Favorable "favorable"
    Baseline "baseline"
    Batch "batch"
    Points "points"
    Against "against"
    // Outputs.
    Output "output"
    WriteScores "write_scores"
    Force "force"
    SafeCsv "safe_csv"
    OnlyLabel "only_label"
    LabelName "label_name"
    Provenance "provenance"
    NoProvenance "no_provenance"
    Json "json"
    Quiet "quiet"
    // Reports.
    Report "report"
    Figures "figures"
    Geometry "geometry"
    GeometryKey "geometry_key"
    Focus "focus"
    Title "title"
    // Calibration.
    Method "method"
    Calibration "calibration"
    Save "save"
    // SQL.
    Sql "sql"
    Percent "percent"
    Single "single"
    Table "table"
    Prices "prices"
    // Scores from names and places.
    Model "model"
    Surname "surname"
    FirstName "first_name"
    MiddleName "middle_name"
    FullName "full_name"
    Place "place"
    BlockGroup "block_group"
    Tract "tract"
    Zcta "zcta"
    County "county"
    State "state"
    Vintage "vintage"
    Names "names"
    Surnames "surnames"
    FirstNames "first_names"
    MiddleNames "middle_names"
    OtherRace "other_race"
    Geography "geography"
    Numbers "numbers"
    Crosswalk "crosswalk"
    Margin "margin"
    SurnameMargin "surname_margin"
    PlaceMargin "place_margin"
    Within "within"
    AsPublished "as_published"
    BurnIn "burn_in"
    Sweeps "sweeps"
    Prefix "prefix"
    Row "row"
    // Tables, simulations and the paper.
    Of "of"
    Key "key"
    Rows "rows"
    Variance "variance"
    Signal "signal"
    Unknown "unknown"
    Others "others"
    Prior "prior"
    PriorShift "prior_shift"
    Sharpen "sharpen"
    Noise "noise"
    Merge "merge"
    NoScores "no_scores"
    Double "double"
    Datasets "datasets"
    Voters "voters"
    Public "public"
    Folder "folder"
}

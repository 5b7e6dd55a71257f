//! The commands, one file each.

mod audit;
mod compare;
mod decision;
mod demo;
mod disparity;
mod export;
mod frontier;
mod label;
mod predict;
mod provenance;
mod reproduce;
mod shell;
mod simulate;
mod tables;
mod verify;

use anyhow::Result;
use clap::Subcommand;

use crate::host::Host;

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Labels every row of a table of scores.
    Label(label::LabelArgs),
    /// Says how far labels that exist already are off.
    Audit(audit::AuditArgs),
    /// Sets rules side by side on your own scores.
    Compare(compare::CompareArgs),
    /// Compares an outcome between classes: by labels, by scores, and what it lies between.
    Disparity(disparity::DisparityArgs),
    /// Lists every optimal trade of accuracy against fidelity.
    Frontier(frontier::FrontierArgs),
    /// Fits a rule to a table and saves the decision.
    Fit(decision::FitArgs),
    /// Labels a table by a decision that was saved.
    Apply(decision::ApplyArgs),
    /// Prints a decision that was saved as SQL, to label rows inside a database.
    Export(export::ExportArgs),
    /// Checks an output of label or apply against its scores: rows, labels, counts, targets and certificate.
    Verify(verify::VerifyArgs),
    /// Prints where an output comes from: command, options, inputs, certificate.
    Provenance(provenance::ShowArgs),
    /// Makes scores from names and places.
    Predict(predict::PredictArgs),
    /// Lists, describes, exports and checks the tables that scores are made from.
    Tables(tables::TablesArgs),
    /// Makes up data: a voter file of people who do not exist, and the paper's simulations.
    Simulate(simulate::SimulateArgs),
    /// Computes the paper's simulations, figures and tables anew.
    Reproduce(reproduce::ReproduceArgs),
    /// Shows all of it on data inside the program.
    Demo(demo::DemoArgs),
    /// Prints what a shell needs to complete commands and options.
    Completions(shell::CompletionsArgs),
    /// Prints the manual's pages, or writes them to a folder.
    Man(shell::ManArgs),
}

impl Command {
    /// Lends a command what another program has, in place of files and a terminal.
    pub(crate) fn lend(&mut self, host: &Host) {
        let host = || Some(host.clone());
        match self {
            Command::Label(args) => args.table.host = host(),
            Command::Audit(args) => (args.table.host, args.report.for_host) = (host(), true),
            Command::Compare(args) => (args.table.host, args.report.for_host) = (host(), true),
            Command::Disparity(args) => (args.table.host, args.report.for_host) = (host(), true),
            Command::Frontier(args) => args.table.host = host(),
            Command::Fit(args) => args.table.host = host(),
            Command::Apply(args) => args.table.host = host(),
            Command::Predict(args) => args.host = host(),
            Command::Export(args) => args.host = host(),
            Command::Simulate(args) => args.lend(host()),
            Command::Verify(_)
            | Command::Provenance(_)
            | Command::Tables(_)
            | Command::Reproduce(_)
            | Command::Demo(_)
            | Command::Completions(_)
            | Command::Man(_) => {}
        }
    }

    /// Does it. The line is what the user wrote, for reports to repeat.
    pub(crate) fn run(self, line: &[String]) -> Result<()> {
        match self {
            Command::Label(args) => label::run(&args, line),
            Command::Audit(args) => audit::run(&args, line),
            Command::Compare(args) => compare::run(&args, line),
            Command::Disparity(args) => disparity::run(&args, line),
            Command::Frontier(args) => frontier::run(&args),
            Command::Fit(args) => decision::fit(&args, line),
            Command::Apply(args) => decision::apply(&args, line),
            Command::Export(args) => export::run(&args, line),
            Command::Verify(args) => verify::run(&args, line),
            Command::Provenance(args) => provenance::run(&args, line),
            Command::Predict(args) => predict::run(&args, line),
            Command::Tables(args) => tables::run(&args, line),
            Command::Simulate(args) => simulate::run(&args, line),
            Command::Reproduce(args) => reproduce::run(&args, line),
            Command::Demo(args) => demo::run(&args, line),
            Command::Completions(args) => shell::completions(&args),
            Command::Man(args) => shell::man(&args),
        }
    }
}

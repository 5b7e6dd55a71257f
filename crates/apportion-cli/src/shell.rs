//! `apportion completions` and `apportion man`: shell completions and manual pages, generated from the options.

use std::path::PathBuf;

use anyhow::{Context, Result};
use apportion_app::output::written;
use apportion_io::{did_you_mean, write_atomically};
use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::{program, text};

/// Returns the command `completions`.
pub(crate) fn completions_command() -> Command {
    let shell =
        Arg::new("shell").value_name("SHELL").required(true).value_parser(value_parser!(Shell)).help("The shell");
    Command::new("completions")
        .about("Prints a script that completes commands and options in a shell")
        .arg(shell)
        .after_help(
            "\
Examples:
  apportion completions bash > apportion.bash
  apportion completions zsh > _apportion
  apportion completions fish > apportion.fish

Where they go: bash, ~/.local/share/bash-completion/completions/apportion; zsh, a folder of $fpath, as _apportion; fish,
~/.config/fish/completions/apportion.fish; PowerShell and elvish, a file that the profile reads.",
        )
}

/// Prints the completions of a shell.
pub(crate) fn completions(matches: &ArgMatches) -> Result<()> {
    let Some(shell) = matches.get_one::<Shell>("shell") else { return Ok(()) };
    let mut script = Vec::new();
    clap_complete::generate(*shell, &mut program::command(), "apportion", &mut script);
    text::print(String::from_utf8(script)?.trim_end())
}

/// Returns the command `man`.
pub(crate) fn man_command() -> Command {
    let folder = Arg::new("output")
        .short('o')
        .long("output")
        .value_name("DIR")
        .value_parser(value_parser!(PathBuf))
        .conflicts_with("command")
        .help("Folder for one page per command; otherwise the pages go to standard output");
    let command = Arg::new("command")
        .value_name("COMMAND")
        .num_args(0..)
        .help("Print the page of one command only, such as label or tables export");
    Command::new("man")
        .about("Prints the manual pages, or writes them to a folder")
        .arg(command)
        .arg(folder)
        .after_help(
            "\
Examples:
  apportion man label > apportion-label.1
  apportion man > apportion.1
  apportion man -o .",
        )
}

/// Prints or writes the manual pages.
pub(crate) fn man(matches: &ArgMatches) -> Result<()> {
    let mut program = program::command().disable_help_subcommand(true);
    program.build();
    let mut pages = Vec::new();
    collect(&program, "apportion", &mut pages)?;
    if let Some(words) = matches.get_many::<String>("command") {
        return print_page(&pages, words);
    }
    let Some(folder) = matches.get_one::<PathBuf>("output") else {
        return text::print(pages.iter().map(|(_, page)| page.trim_end()).collect::<Vec<_>>().join("\n"));
    };
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let mut paths = Vec::new();
    for (name, page) in pages {
        let path = folder.join(format!("{name}.1"));
        write_atomically(&path, page.as_bytes())?;
        paths.push(path);
    }
    text::say(written(&paths));
    Ok(())
}

/// Prints the page of one command.
fn print_page<'a>(pages: &[(String, String)], words: impl Iterator<Item = &'a String>) -> Result<()> {
    let command = words.map(String::as_str).collect::<Vec<_>>().join(" ");
    let name = |page: &(String, String)| page.0.trim_start_matches("apportion").trim_start_matches('-').to_owned();
    let names: Vec<String> = pages.iter().map(name).filter(|name| !name.is_empty()).collect();
    let wanted = command.replace(' ', "-");
    let Some((_, page)) = pages.iter().find(|page| name(page) == wanted) else {
        let near = did_you_mean(&wanted, names.iter().map(String::as_str));
        let problem = format!("there is no command {command:?}{near}; the commands are {}", names.join(", "));
        return Err(apportion_app::Error::settings(problem).into());
    };
    text::print(page.trim_end())
}

/// Collects the pages of a command and its subcommands: `apportion`, `apportion-label`, ….
fn collect(command: &clap::Command, name: &str, pages: &mut Vec<(String, String)>) -> Result<()> {
    let mut page = Vec::new();
    Man::new(command.clone()).title(name.to_uppercase()).render(&mut page)?;
    // Examples get their own heading, and their line breaks are kept.
    let page = String::from_utf8(page)?.replace(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n.nf\n");
    pages.push((name.to_owned(), page));
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        collect(below, &format!("{name}-{}", below.get_name()), pages)?;
    }
    Ok(())
}

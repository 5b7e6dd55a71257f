//! `apportion completions` and `apportion man`: what shells and `man` want to know of the program, made from its options.

use std::path::PathBuf;

use anyhow::{Context, Result};
use apportion_io::write_atomically;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::Program;
use crate::output::written;
use crate::text;

/// Options of `completions`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion completions bash > apportion.bash
  apportion completions zsh > _apportion
  apportion completions fish > apportion.fish

Where they go: bash, ~/.local/share/bash-completion/completions/apportion; zsh, a folder of $fpath, as _apportion; fish,
~/.config/fish/completions/apportion.fish; PowerShell and elvish, a file that the profile reads.")]
pub(crate) struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

pub(crate) fn completions(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Program::command(), "apportion", &mut script);
    text::print(String::from_utf8(script)?.trim_end())
}

/// Options of `man`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion man > apportion.1
  apportion man -o .")]
pub(crate) struct ManArgs {
    /// A folder for one page a command; without it all pages go to standard output, one after the other.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(crate) fn man(args: &ManArgs) -> Result<()> {
    let mut program = Program::command().disable_help_subcommand(true);
    program.build();
    let mut pages = Vec::new();
    collect(&program, "apportion", &mut pages)?;
    let Some(folder) = &args.output else {
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

/// The page of a command, and those of the commands below it: `apportion`, `apportion-label`, ….
fn collect(command: &clap::Command, name: &str, pages: &mut Vec<(String, String)>) -> Result<()> {
    let mut page = Vec::new();
    Man::new(command.clone()).title(name.to_uppercase()).render(&mut page)?;
    // Examples under their own name, with their lines as they are.
    let page = String::from_utf8(page)?.replace(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n.nf\n");
    pages.push((name.to_owned(), page));
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        collect(below, &format!("{name}-{}", below.get_name()), pages)?;
    }
    Ok(())
}

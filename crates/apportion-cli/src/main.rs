//! The program `apportion`. Its code is in the library of this crate, so that other programs can also call it.

fn main() -> std::process::ExitCode {
    apportion_cli::main()
}

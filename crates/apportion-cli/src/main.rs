//! The program `apportion`. What it does is in the library beside it, which other programs call, too.

fn main() -> std::process::ExitCode {
    apportion_cli::main()
}

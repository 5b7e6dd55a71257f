//! The root of the crate stays small: it has at most 35 names, modules included.
#![allow(clippy::unwrap_used)] // also in helper functions

const MOST_NAMES: usize = 35;

/// Returns the names that `pub mod` and `pub use` bring to the root.
fn root_names(source: &str) -> Vec<String> {
    let lines = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: String = lines.map(|line| format!("{line} ")).collect();
    let mut names = Vec::new();
    for item in code.split("pub ").skip(1) {
        let item = item.trim_start();
        if let Some(module) = item.strip_prefix("mod ") {
            names.push(module.split([';', ' ', '{']).next().unwrap().to_owned());
        } else if let Some(used) = item.strip_prefix("use ") {
            let path = used.split(';').next().unwrap();
            assert!(!path.contains('*'), "{path}: name what is re-exported");
            let list = path.split_once('{').map_or_else(|| path.rsplit("::").next().unwrap(), |(_, list)| list);
            let list = list.trim_end().trim_end_matches('}').split(',').map(str::trim);
            names.extend(list.filter(|name| !name.is_empty()).map(str::to_owned));
        } else {
            panic!("{item}: define it in a module");
        }
    }
    names
}

#[test]
fn the_root_has_few_names() {
    let names = root_names(include_str!("../src/lib.rs"));
    assert!(names.len() <= MOST_NAMES, "{} names at the root: {names:?}", names.len());
    for name in ["Scores", "Rule", "Decision", "Frontier", "audit", "estimate", "verify"] {
        assert!(names.iter().any(|own| own == name), "{name} is not among {names:?}");
    }
}

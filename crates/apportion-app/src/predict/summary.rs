//! What a user is told in the end: how scores were made, of whom, and what they add up to.

use apportion_bisg::{Bisg, MarginKey};
use serde_json::{Value, json};

use super::PredictArgs;
use super::people::PeopleColumns;
use super::scoring::AllPeople;
use super::tally::Tally;
use crate::text;

/// What there is to tell.
pub(super) struct Told<'a> {
    pub(super) args: &'a PredictArgs,
    pub(super) columns: &'a PeopleColumns,
    pub(super) classes: &'a [String],
    pub(super) bisg: &'a Bisg,
    /// The tables, in a line each.
    pub(super) tables: &'a [String],
    /// The shares of the classes that were asked for.
    pub(super) margin: Option<&'a [f64]>,
    pub(super) all: &'a AllPeople,
    pub(super) tally: &'a Tally,
}

impl Told<'_> {
    /// As JSON has it.
    pub(super) fn json(&self) -> Value {
        let args = self.args;
        let mut all = self.tally.json();
        let mut put = |name: &str, value: Value| _ = all.insert(name.into(), value);
        put("model", json!(args.model.name()));
        put("classes", json!(self.classes));
        put("columns", self.columns.json());
        put("in_tables", json!(self.bisg.margin()));
        put("tables", json!(self.tables));
        put("remarks", json!(self.warnings()));
        put("apportion", json!(env!("CARGO_PKG_VERSION")));
        if let Some(margin) = self.margin {
            put("margin", json!(margin));
        }
        if let Some(state) = &args.within {
            put("within", json!(state));
        }
        match self.all {
            AllPeople::Nothing => {}
            AllPeople::Weights(weights, passes) => {
                put("weights", json!(weights));
                put("passes", json!(passes));
            }
            AllPeople::Draws(_) => {
                let gibbs = args.gibbs();
                put("seed", json!(gibbs.seed));
                put("burn_in", json!(gibbs.burn_in));
                put("sweeps", json!(gibbs.kept));
            }
            AllPeople::RakingStatus(raked, fit) => {
                put("cells", json!(raked.cells()));
                put("rounds", json!(fit.rounds));
                put("off", json!(fit.off));
                let known = |by: MarginKey| raked.covered(by);
                put("in_margins", json!({"surname": known(MarginKey::Name), "place": known(MarginKey::Place)}));
            }
        }
        all.into()
    }

    /// What a user ought to know.
    fn warnings(&self) -> Vec<String> {
        self.bisg.remarks().iter().cloned().chain(self.tally.warnings(self.columns.is_closer_than_state())).collect()
    }

    /// As people read it, part by part.
    pub(super) fn parts(&self) -> Vec<String> {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.of_all_people());
        parts.extend(self.warnings().iter().map(|warning| format!("warning: {warning}")));
        match self.tally.repaired {
            0 => {}
            1 => parts.push("1 code of a place was short; zeros were put in front".into()),
            codes => parts.push(format!("{} codes of places were short; zeros were put in front", text::count(codes))),
        }
        parts.push(format!("\n{}", self.tally.told()));
        parts.push(format!("\n{}", self.shares()));
        parts
    }

    /// What was found of all people together.
    fn of_all_people(&self) -> Option<String> {
        let depend = "a person's scores depend on all people";
        match self.all {
            AllPeople::Nothing => None,
            AllPeople::Weights(_, passes) => {
                Some(format!("raked to the margin in {}; {depend}", text::counted(*passes as u64, "pass", "passes")))
            }
            AllPeople::Draws(_) => {
                let gibbs = self.args.gibbs();
                let (kept, burn_in) = (text::count(u64::from(gibbs.kept)), text::count(u64::from(gibbs.burn_in)));
                Some(format!("drawn {kept} times after {burn_in}, with the seed {}; {depend}", gibbs.seed))
            }
            AllPeople::RakingStatus(raked, fit) => {
                let known = [(&self.args.surname_margin, MarginKey::Name), (&self.args.place_margin, MarginKey::Place)];
                let known = known.iter().filter_map(|(path, by)| {
                    let people = text::count(raked.covered(*by));
                    path.as_ref().map(|path| format!("{people} people are in {path}"))
                });
                Some(format!(
                    "{}; raked in {}, to within {:.1e} of all people; {depend}",
                    known.collect::<Vec<_>>().join(", "),
                    text::counted(fit.rounds as u64, "round", "rounds"),
                    fit.off
                ))
            }
        }
    }

    /// The classes' shares: of the scores, of what was asked for, and of the people in the tables.
    fn shares(&self) -> String {
        let percent = |share: Option<f64>| text::plain(share.map(|share| 100.0 * share), 2);
        let sum: f64 = self.margin.iter().copied().flatten().sum();
        let row = |(class, (name, share)): (usize, (&String, f64))| {
            let mut row = vec![name.clone(), percent(Some(share))];
            row.extend(self.margin.map(|margin| percent(Some(margin[class] / sum))));
            row.push(percent(self.bisg.margin().map(|margin| margin[class])));
            row
        };
        let rows: Vec<Vec<String>> = self.classes.iter().zip(self.tally.posterior()).enumerate().map(row).collect();
        let whose = if self.bisg.has_people() { "people of the places, %" } else { "people of the surnames, %" };
        let mut header = vec!["class", "mean score, %"];
        header.extend(self.margin.map(|_| "margin, %"));
        header.push(whose);
        text::columns(&header, &rows)
    }
}

//! A response as text: the model, match statistics, and mean scores.

use super::{MatchCounts, PopulationFit, Request, Response, Vintage};
use crate::text;

impl Response {
    /// Returns the response as sentences and tables, without remarks.
    pub fn text(&self, request: &Request) -> Vec<String> {
        let mut parts: Vec<String> = self.fit.iter().map(|fit| describe_fit(request, fit)).collect();
        match self.repaired_codes {
            0 => {}
            1 => parts.push("1 place code was too short; leading zeros were added".into()),
            codes => parts.push(format!("{} place codes were too short; leading zeros were added", text::count(codes))),
        }
        parts.extend([matches(self), shares(request, self)]);
        parts
    }
}

/// Describes the result of a model that uses all people.
fn describe_fit(request: &Request, fit: &PopulationFit) -> String {
    let used = match fit {
        PopulationFit::Raked { passes, .. } => {
            format!("raked to the margin in {}", text::counted(*passes as u64, "pass", "passes"))
        }
        PopulationFit::Drawn { seed, burn_in, sweeps } => {
            let (sweeps, burn_in) = (text::count(u64::from(*sweeps)), text::count(u64::from(*burn_in)));
            format!("{sweeps} Gibbs sweeps after a burn-in of {burn_in}, seed {seed}")
        }
        PopulationFit::RakedByRow { rounds, off, in_margins, .. } => {
            let margins = [(&request.surname_margin, in_margins.surname), (&request.place_margin, in_margins.place)];
            let mut known = Vec::new();
            for (path, people) in margins {
                known
                    .extend(path.iter().map(|path| format!("{} in {path}", text::counted(people, "person", "people"))));
            }
            let rounds = text::counted(*rounds as u64, "round", "rounds");
            format!("{}; raked in {rounds}, to within {off:.1e} of all people", known.join(", "))
        }
    };
    format!("{used}; each person's scores depend on all people in the input")
}

/// Returns a table of how names and places were found.
fn matches(response: &Response) -> String {
    let nothing = MatchCounts::default();
    let first_names = response.first_name_match.as_ref().unwrap_or(&nothing);
    let middle_names = response.middle_name_match.as_ref().unwrap_or(&nothing);
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (what, counts) in [
        ("surname", &response.surname_match),
        ("first name", first_names),
        ("middle name", middle_names),
        ("name", &response.name_changes),
        ("place", &response.place_used),
        ("scored without", &response.dropped),
    ] {
        for (category, people) in counts.0.iter().filter(|(_, people)| *people > 0) {
            let share = 100.0 * *people as f64 / response.people.max(1) as f64;
            rows.push(vec![what.into(), (*category).into(), text::count(*people), format!("{share:.1}%")]);
        }
    }
    text::columns(&["", "match", "people", ""], &rows)
}

/// Returns a table of the shares of the classes: of the scores, of the margin, and of the people in the tables.
fn shares(request: &Request, response: &Response) -> String {
    let percent = |share: Option<f64>| text::plain(share.map(|share| 100.0 * share), 2);
    let margin = response.margin.as_deref();
    let sum: f64 = margin.unwrap_or_default().iter().sum();
    let mut rows = Vec::new();
    for (class, (name, score)) in response.classes.iter().zip(&response.posterior).enumerate() {
        let mut row = vec![name.clone(), percent(Some(*score))];
        row.extend(margin.map(|margin| percent(Some(margin[class] / sum))));
        row.push(percent(response.in_tables.as_ref().map(|shares| shares[class])));
        rows.push(row);
    }
    let population = match (response.has_place_people, request.geography.is_empty(), request.vintage) {
        (false, ..) => "surname table, %",
        (true, true, Vintage::Census2020) => "adults of these places, %",
        (true, ..) => "people of these places, %",
    };
    let mut header = vec!["class", "mean score, %"];
    header.extend(margin.map(|_| "margin, %"));
    header.push(population);
    text::columns(&header, &rows)
}

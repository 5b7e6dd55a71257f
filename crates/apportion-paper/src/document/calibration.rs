//! The section on the calibration of the scores: fig:calibration-nc and fig:calibration-public.

use apportion::audit::Bin;
use apportion_bisg::census::CLASSES;
use apportion_report::chart::{chart, full, rounded};
use apportion_report::text::{count, plain};
use apportion_report::{Block, Chart, Section, Sheet, palette};
use serde_json::{Value, json};

use super::{files, with_legend};
use crate::Reproduction;
use crate::voters::{Made, VoterFile};

/// The figures, and the voters of each.
const FIGURES: [(&str, Made); 3] = [
    ("calibration-nc", Made::Overconfident),
    ("calibration-bisg", Made::Calibrated),
    ("calibration-raking", Made::CensusPrior),
];

/// Bins of fewer people are not connected: their shares are mostly chance.
const FEW: u64 = 30;

pub(super) fn section(own: &Reproduction) -> Section {
    let files = files(own, FIGURES);
    let lead = files.iter().map(|(_, file)| sentence(file)).collect::<Vec<_>>().join(" ");
    let blocks = files.into_iter().map(|(id, file)| Block::Chart(Box::new(figure(id, file))));
    Section { id: "calibration", title: "Calibration of the scores", blocks: blocks.collect(), lead }
}

/// Returns the largest calibration error of the classes.
fn sentence(file: &VoterFile) -> String {
    let errors = file.calibration.iter().map(|class| class.equal_width.expected_error);
    let Some((class, error)) = errors.enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b)) else { return String::new() };
    format!(
        "{}: the largest mean difference between score and truth over ten bins is {}, for {}.",
        capitalized(file.words()),
        plain(error, 4),
        CLASSES[class]
    )
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn figure(id: &str, file: &VoterFile) -> Chart {
    let diagonal = json!({
        "type": "scatter", "mode": "lines", "x": [0, 1], "y": [0, 1], "hoverinfo": "skip", "showlegend": false,
        "line": { "color": palette::GUIDE, "dash": "dot" },
    });
    let mut data = vec![diagonal];
    for (class, name) in CLASSES.into_iter().enumerate() {
        let bins = file.calibration[class].equal_width.bins.iter().filter(|bin| bin.people > 0);
        let (enough, few): (Vec<&Bin>, Vec<&Bin>) = bins.partition(|bin| bin.people >= FEW);
        let color = palette::class(class);
        data.push(points(
            name,
            "lines+markers",
            &enough,
            &json!({ "color": color, "symbol": palette::symbol(class), "size": 7 }),
        ));
        let open = json!({ "color": color, "symbol": format!("{}-open", palette::symbol(class)), "size": 6 });
        if !few.is_empty() {
            data.push(points(name, "markers", &few, &open));
        }
    }
    let axis = |title: &str| json!({ "title": { "text": title }, "range": [-0.02, 1.02], "tickformat": ".1f", "zeroline": false });
    let layout = json!({ "height": 460, "xaxis": axis("mean score"), "yaxis": axis("share in truth") });
    let title = format!("Score and truth: {}", file.words());
    let mut chart = with_legend(chart(id, &title, data, layout, sheet(file)));
    chart.caption = format!(
        "Corresponds to the paper’s fig:{id}. Ten bins of equal width per class, as in the paper. Above the dotted line, \
         the scores are too low. Open markers, which are not connected: bins of fewer than {FEW} voters, which are mostly \
         chance. Bins without voters are omitted."
    );
    chart.alt = sentence(file);
    chart
}

fn points(name: &str, mode: &str, bins: &[&Bin], marker: &Value) -> Value {
    let column = |of: fn(&Bin) -> Option<f64>| -> Vec<Value> {
        bins.iter().map(|bin| of(bin).map_or(Value::Null, rounded)).collect()
    };
    json!({
        "type": "scatter", "mode": mode, "name": name, "legendgroup": name, "showlegend": mode != "markers",
        "x": column(|bin| bin.mean_score), "y": column(|bin| bin.observed),
        "customdata": bins.iter().map(|bin| count(bin.people)).collect::<Vec<_>>(),
        "line": { "width": 1.5, "color": marker["color"] }, "marker": marker,
        "hovertemplate": "%{fullData.name}<br>mean score %{x:.3f}<br>share in truth %{y:.3f}<br>%{customdata} voters<extra></extra>",
    })
}

fn sheet(file: &VoterFile) -> Sheet {
    let mut sheet = Sheet::new(["class", "from", "to", "people", "mean_score", "observed", "low", "high"]);
    for (class, calibration) in CLASSES.into_iter().zip(&file.calibration) {
        for bin in &calibration.equal_width.bins {
            let (low, high) = (bin.interval.map(|own| own.low), bin.interval.map(|own| own.high));
            let numbers = [bin.mean_score, bin.observed, low, high].map(full);
            let head = [class.to_owned(), full(Some(bin.from)), full(Some(bin.to)), bin.people.to_string()];
            sheet.push(head.into_iter().chain(numbers));
        }
    }
    sheet
}

//! A reproduction of the simulations, figures and tables in Dong, Schein, Wang and Garg, *Addressing
//! Discretization-Induced Bias in Demographic Prediction* (FAccT 2024).
//!
//! ```text
//! Plan (how many datasets, rows, voters; the seed) ──▶ Reproduction (numbers) ──▶ Document (a page) and CSV files
//! ```
//! | module | purpose |
//! |---|---|
//! | `plan` | the number and size of datasets, and their seeds |
//! | `dataset` | one dataset of a generator, and the bias of argmax on it |
//! | `mean` | a mean over datasets, with its standard error |
//! | `information` | bias and frontier by the information in the scores: fig:info-bias, fig:info-pareto |
//! | `all_rules` | all rules at one variance, and their distance below the frontier: fig:pareto-simulation |
//! | `learners` | the agreement of trained models with the labels of match |
//! | `worst_case` | Theorem 1's construction: fig:worstcasebias |
//! | `people` | the people whom the rules label: simulated voters, or those of the public file |
//! | `public` | the public file of Greengard and Gelman: cells of voters |
//! | `voters` | the rules on voters: tables, counts, calibration; by γ: fig:pareto-NC |
//! | `counties` | the shares of white voters in each county: fig:maps |
//! | `simplex` | labels for scores of three classes: fig:simplex-main |
//! | `variants` | further rules on the same voters: top-k, thresholds, batches, other penalties, uniform reference |
//! | `published` | the figures printed in the paper's tables |
//! | `order` | the pairs of rules whose order differs from the paper's tables |
//! | `states` | by how much argmax undercounts people who are not white in each state: fig:pocrep |
//! | `document` | the page and the files of numbers |

mod all_rules;
mod counties;
mod dataset;
mod document;
mod information;
mod learners;
mod mean;
mod order;
mod people;
mod plan;
mod public;
mod published;
mod simplex;
mod states;
mod variants;
mod voters;
mod worst_case;

pub use all_rules::{CONTEST_PLACE, Contest, Contestant, Kind};
pub use counties::{CountyShares, MAPPED};
pub use dataset::{ArgmaxBias, Dataset};
pub use information::{BIAS_VARIANCES, GAMMAS, Information, PARETO_VARIANCES, Stop};
pub use learners::Pupil;
pub use mean::Mean;
pub use order::{Measure, OrderChange, RulePair};
pub use plan::Plan;
pub use public::{PublicCell, PublicVoters};
pub use published::{Published, published};
pub use simplex::{APPENDIX_RULES, CORNERS, MAIN_RULES, Simplex};
pub use states::State;
pub use variants::{BATCH, Family, THRESHOLDS, TOP_K, VARIANT_GAMMAS, Variant};
pub use voters::{Made, Outcome, Trade, VoterFile, rules};
pub use worst_case::{UNKNOWN, WorstCase};

use apportion::{Result, Settings};
use people::People;

/// All reproduced results.
#[derive(Clone, Debug)]
pub struct Reproduction {
    /// The plan that was run.
    pub plan: Plan,
    /// Bias and frontier by variance, in the order of [`PARETO_VARIANCES`].
    pub information: Vec<Information>,
    /// All rules at one variance.
    pub all_rules: Contest,
    /// The models trained on the labels of match, on one dataset of the same variance.
    pub pupils: Vec<Pupil>,
    /// Theorem 1's construction, in the order of [`UNKNOWN`].
    pub worst_case: Vec<WorstCase>,
    /// The rules on simulated voters and on those of the public file, in the order of [`Made::ALL`].
    pub voters: Vec<VoterFile>,
    /// The public file, if there is one.
    pub public: Option<PublicFacts>,
    /// Labels for scores of three classes, of overconfident simulated voters.
    pub simplex: Simplex,
    /// Argmax in every state.
    pub states: Vec<State>,
}

/// The public file in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicFacts {
    /// The name of the file.
    pub name: String,
    /// The number of cells.
    pub cells: u64,
    /// The number of voters of known class.
    pub voters: u64,
}

impl Reproduction {
    /// Computes all results. The public file replaces the simulated voters of tab:table-public and similar figures.
    /// `say` is called with the name of each step when it starts.
    pub fn of(plan: &Plan, public: Option<&PublicVoters>, say: impl Fn(&str)) -> Result<Reproduction> {
        plan.check()?;
        say("argmax's bias and the frontier by variance");
        let information: Vec<Information> =
            PARETO_VARIANCES.iter().map(|&variance| Information::of(plan, variance)).collect::<Result<_>>()?;
        say("all rules at one variance");
        let all_rules = Contest::of(plan, &information[CONTEST_PLACE])?;
        say("learned rules");
        let pupils = learners::pupils(plan, all_rules.variance)?;
        say("the worst case");
        let worst_case = UNKNOWN.iter().map(|&unknown| WorstCase::of(plan, unknown)).collect::<Result<_>>()?;
        let settings = Settings { seed: plan.voter_seed(), ..Settings::default() };
        let mut voters = Vec::new();
        say("the tables, on simulated voters");
        for made in Made::ALL {
            let from_public = public.and_then(|public| public.people(made));
            let file = match &from_public {
                Some(people) => {
                    say(&format!("the tables, on {}", made.public_words()));
                    VoterFile::of(made, people, true, &settings)?
                }
                None => VoterFile::of(made, &People::simulated(plan, made)?, false, &settings)?,
            };
            voters.push(file);
        }
        say("labels on the simplex");
        let simplex = Simplex::of(&People::simulated(plan, Made::Overconfident)?, &settings)?;
        say("argmax in every state");
        let states = states::states();
        let public = public.map(PublicVoters::facts);
        Ok(Reproduction { plan: *plan, information, all_rules, pupils, worst_case, voters, public, simplex, states })
    }
}

//! Options that change a scenario: what `throng run` and `throng sweep` share.

use throng::scenario::Overrides;

/// Where the help lists them.
pub const HEADING: &str = "Changes to the scenario";

/// What a command line changes in a scenario.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = HEADING)]
pub struct Changes {
    /// Model of the macroscale: where to?
    #[arg(long, value_name = "M")]
    macroscale: Option<String>,
    /// Models of the mesoscale: among whom? `none` for none
    #[arg(long, value_name = "M,..", value_delimiter = ',')]
    mesoscale: Option<Vec<String>>,
    /// Model of the microscale: which velocity now?
    #[arg(long, value_name = "M")]
    microscale: Option<String>,
    /// Model of motion: how bodies move
    #[arg(long, value_name = "M")]
    motion: Option<String>,
    /// Set any key of the scenario: `params.orca.time_horizon=2`, `agents.0.count=50`; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    set: Vec<(String, String)>,
    /// Simulated time at which the run ends at the latest, s
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    until: Option<f64>,
}

impl Changes {
    /// As they are written on the command line.
    pub fn written(&self) -> Vec<String> {
        let models =
            [("macroscale", &self.macroscale), ("microscale", &self.microscale), ("motion", &self.motion)];
        let models =
            models.into_iter().filter_map(|(key, model)| Some(format!("--{key} {}", model.as_ref()?)));
        let mesoscale = self.mesoscale.iter().map(|models| format!("--mesoscale {}", models.join(",")));
        let until = self.until.iter().map(|until| format!("--until {until}"));
        let set = self.set.iter().map(|(key, value)| format!("--set {key}={value}"));
        models.chain(mesoscale).chain(until).chain(set).collect()
    }

    /// The same for the engine.
    pub fn overrides(&self) -> Overrides {
        let named = |models: &Vec<String>| {
            models.iter().filter(|model| !model.is_empty() && *model != "none").cloned().collect()
        };
        Overrides {
            macroscale: self.macroscale.clone(),
            mesoscale: self.mesoscale.as_ref().map(named),
            microscale: self.microscale.clone(),
            motion: self.motion.clone(),
            until: self.until,
            set: self.set.clone(),
            ..Overrides::default()
        }
    }
}

/// Reads `KEY=VALUE`.
pub fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("it must be KEY=VALUE")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

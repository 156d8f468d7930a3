//! What a page may ask for: one JSON object a message, `{ "do": "play" }`.

use serde::Deserialize;

/// An order of a page. Unknown orders and keys are refused.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Order {
    /// Lets time go on; a run that is over begins again.
    Play {},
    /// Holds time.
    Pause {},
    /// Takes one step, or goes on by one recorded frame.
    Step {},
    /// Sets the speed of play.
    Speed {
        /// Seconds a second; as fast as it goes where there is none.
        times: Option<f64>,
    },
    /// Begins again.
    Restart {
        /// Key of all random draws; the same as before where there is none.
        seed: Option<u64>,
    },
    /// Opens a built-in scenario, or a file of the command line.
    Open {
        /// Its name in the list that the page was given.
        name: String,
    },
    /// Puts another model into a stage.
    Models {
        /// Where to?
        macroscale: Option<String>,
        /// Among whom?
        mesoscale: Option<Vec<String>>,
        /// Which velocity now?
        microscale: Option<String>,
        /// Move.
        motion: Option<String>,
    },
    /// Sets a parameter.
    Set {
        /// Its block.
        block: String,
        /// Its name.
        key: String,
        /// A number or a flag.
        value: Setting,
    },
    /// Puts an obstacle on the map.
    AddObstacle {
        /// Its corners, m.
        ring: Vec<[f64; 2]>,
    },
    /// Takes an obstacle off the map.
    RemoveObstacle {
        /// What it is called.
        name: String,
    },
    /// Puts people on the map.
    Drop {
        /// Whom they belong to.
        cohort: usize,
        /// Where, m.
        at: [f64; 2],
        /// How many.
        count: u32,
    },
    /// Sends a cohort to a place.
    Retarget {
        /// Whom.
        cohort: usize,
        /// Where, m.
        at: [f64; 2],
    },
    /// Moves the goals of a cohort.
    MoveGoals {
        /// Whose.
        cohort: usize,
        /// m.
        by: [f64; 2],
    },
    /// Asks what an agent sees and chooses.
    Explain {
        /// Whom.
        id: u32,
    },
    /// Goes to a time of a recorded run.
    Seek {
        /// s.
        time: f64,
    },
}

/// A parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Setting {
    /// `true` or `false`.
    Flag(bool),
    /// Any number.
    Number(f64),
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Setting::Flag(flag) => flag.fmt(f),
            // With a point or an exponent, as TOML wants it.
            Setting::Number(number) => write!(f, "{number:?}"),
        }
    }
}

/// More corners than this are a mistake.
pub const MOST_CORNERS: usize = 1000;

/// More than this are not dropped at once.
pub const MOST_DROPPED: u32 = 1000;

impl Order {
    /// Reads a message.
    pub fn parse(text: &str) -> Result<Order, String> {
        serde_json::from_str(text).map_err(|error| format!("this is no order: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_and_nonsense_is_refused() {
        assert_eq!(Order::parse(r#"{"do":"play"}"#), Ok(Order::Play {}));
        assert_eq!(Order::parse(r#"{"do":"speed","times":4}"#), Ok(Order::Speed { times: Some(4.0) }));
        let set = r#"{"do":"set","block":"orca","key":"time_horizon","value":2}"#;
        assert!(matches!(Order::parse(set), Ok(Order::Set { value: Setting::Number(n), .. }) if n == 2.0));
        for wrong in
            ["", "{}", "[]", r#"{"do":"fly"}"#, r#"{"do":"step","x":1}"#, r#"{"do":"explain","id":-1}"#]
        {
            assert!(Order::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            [Setting::Number(2.0), Setting::Number(1e-9), Setting::Flag(true)].map(|s| s.to_string()),
            ["2.0", "1e-9", "true"]
        );
    }
}

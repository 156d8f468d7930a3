//! Presets: values of several blocks that belong together, by one name.

use crate::pipeline::{Settings, settings_of};
use throng_core::params::Params;
use throng_microscale::Headway;
use throng_motion::Contact;

/// What agents do in a dense crowd (`headway` and `contact`). Single values that are given beside a preset count more.
/// `docs/dense-crowds.md` tells where the figures come from, and how well they agree with recorded crowds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// People, the default: distances, queues, lanes and flows through doors as recorded.
    Pedestrian,
    /// Walkers of games: closer to one another and brisker than people, who would look timid on a screen.
    Game,
    /// Wheeled robots among people: twice the distance, and they press past nobody.
    Robot,
    /// The models as their papers have them: nothing is added.
    Paper,
}

impl Preset {
    /// All of them.
    pub const ALL: [Preset; 4] = [Preset::Pedestrian, Preset::Game, Preset::Robot, Preset::Paper];

    /// As it is called in scenario files.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Pedestrian => "pedestrian",
            Preset::Game => "game",
            Preset::Robot => "robot",
            Preset::Paper => "paper",
        }
    }

    /// The one of a name.
    pub fn named(name: &str) -> Option<Preset> {
        Preset::ALL.into_iter().find(|preset| preset.name() == name)
    }

    /// Its values.
    pub fn settings(self) -> Settings {
        let people = Headway::default();
        let headway = match self {
            Preset::Pedestrian => people,
            Preset::Game => Headway { time_gap: 0.25, squeeze: 1.0, trust: 2.0, ..people },
            Preset::Robot => Headway { time_gap: 1.2, squeeze: 0.0, ..people },
            Preset::Paper => Headway { on: false, ..people },
        };
        let contact = Contact { on: self != Preset::Paper, ..Contact::default() };
        Settings::from([block(headway), block(contact)])
    }
}

fn block<P: Params>(params: P) -> (String, std::collections::BTreeMap<String, throng_core::params::Value>) {
    (P::BLOCK.into(), settings_of(&params))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_one_is_what_happens_without() {
        assert_eq!(
            Preset::ALL[0].settings(),
            Settings::from([block(Headway::default()), block(Contact::default())])
        );
        assert_eq!(Preset::named("robot"), Some(Preset::Robot));
        assert_eq!(Preset::named("people"), None);
    }
}

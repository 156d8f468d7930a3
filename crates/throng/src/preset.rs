//! Presets: values of several blocks that belong together, by one name.

use crate::pipeline::{Settings, settings_of};
use throng_core::params::Params;
use throng_microscale::{Headway, Patience};
use throng_motion::{Contact, Separation};

/// What agents do in a dense crowd. Single values that are given beside a preset count more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Walkers of games, the default: held up, they turn right or back off, and hardly keep distances (`patience`,
    /// `separation`).
    Game,
    /// People: they keep distances, give precedence to those in front and form lanes (`headway`, `contact`), made to agree with
    /// recorded flows through doors. `docs/dense-crowds.md` tells how well.
    Pedestrian,
    /// The models as their papers have them: nothing is added.
    Paper,
}

impl Preset {
    /// All of them.
    pub const ALL: [Preset; 3] = [Preset::Game, Preset::Pedestrian, Preset::Paper];

    /// As it is called in scenario files.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Game => "game",
            Preset::Pedestrian => "pedestrian",
            Preset::Paper => "paper",
        }
    }

    /// The one of a name.
    pub fn named(name: &str) -> Option<Preset> {
        Preset::ALL.into_iter().find(|preset| preset.name() == name)
    }

    /// Its values.
    pub fn settings(self) -> Settings {
        let (game, people) = (self == Preset::Game, self == Preset::Pedestrian);
        Settings::from([
            switched(Patience { on: game, ..Patience::default() }),
            switched(Separation { on: game, ..Separation::default() }),
            switched(Headway { on: people, ..Headway::default() }),
            switched(Contact { on: people, ..Contact::default() }),
        ])
    }
}

/// A block's switch alone, so that its other values stay what they are.
fn switched<P: Params>(
    params: P,
) -> (String, std::collections::BTreeMap<String, throng_core::params::Value>) {
    let mut values = settings_of(&params);
    values.retain(|key, _| key == "on");
    (P::BLOCK.into(), values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_one_is_what_happens_without() {
        let defaults = [
            switched(Patience::default()),
            switched(Separation::default()),
            switched(Headway::default()),
            switched(Contact::default()),
        ];
        assert_eq!(Preset::Game.settings(), Settings::from(defaults));
        assert_eq!(Preset::named("pedestrian"), Some(Preset::Pedestrian));
        assert_eq!(Preset::named("people"), None);
    }
}

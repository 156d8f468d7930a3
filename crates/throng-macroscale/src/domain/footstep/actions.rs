//! What can be chosen at an exchange of feet.

/// A new speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// By speed steps.
    By(i8),
    /// This one; standing is 0.
    To(u8),
}

/// A choice: how long, whereto, how fast, and how the foot is turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Action {
    /// Which of the periods; the first is the usual one.
    pub period: u8,
    /// In sixteenths of a turn.
    pub turn: i8,
    pub speed: Turn,
    /// How far the foot points outwards of the new heading, in sixteenths of a turn.
    pub toe: i8,
}

/// What a step of another length than usual costs, and a foot that does not point along the way, J/kg.
const ODD_PERIOD: f64 = 0.02;
const ODD_TOE: f64 = 0.05;

impl Action {
    const fn new(period: u8, turn: i8, speed: Turn) -> Action {
        Action { period, turn, speed, toe: 0 }
    }

    /// What it costs to do something else than usual, J/kg.
    pub fn unusual(self) -> f64 {
        let (period, toe) = (f64::from(self.period.min(1)), f64::from(self.toe.abs()));
        ODD_PERIOD * period + ODD_TOE * toe
    }
}

/// From walking. The usual ones first: the order decides between plans of equal cost.
pub(super) const WALKING: [Action; 35] = walking();

const fn walking() -> [Action; 35] {
    let mut all = [Action::new(0, 0, Turn::To(0)); 35];
    let turns = [0, 1, -1];
    let changes = [0, 1, -1];
    let mut count = 0;
    while count < 27 {
        let (period, turn, change) = (count / 9, turns[count / 3 % 3], changes[count % 3]);
        all[count] = Action::new(period as u8, turn, Turn::By(change));
        count += 1;
    }
    all[27] = Action::new(0, 2, Turn::By(0));
    all[28] = Action::new(0, -2, Turn::By(0));
    all[29] = Action::new(0, 2, Turn::By(-1));
    all[30] = Action::new(0, -2, Turn::By(-1));
    all[31] = Action { toe: 1, ..Action::new(0, 0, Turn::By(0)) };
    all[32] = Action { toe: -1, ..Action::new(0, 0, Turn::By(0)) };
    all[33] = Action::new(0, 0, Turn::To(0));
    all[34] = Action::new(2, 0, Turn::To(0));
    all
}

/// From standing: waiting, and setting off in all directions ahead.
pub(super) const STANDING: [Action; 31] = standing();

const fn standing() -> [Action; 31] {
    let mut all = [Action::new(0, 0, Turn::To(0)); 31];
    let turns = [0, 1, -1, 2, -2, 3, -3, 4, -4];
    let mut count = 0;
    while count < 18 {
        all[count] = Action::new(0, turns[count / 2], Turn::To(1 + (count % 2) as u8));
        count += 1;
    }
    while count < 30 {
        let other = count - 18;
        all[count] =
            Action::new(1 + (other / 6) as u8, turns[other / 2 % 3], Turn::To(1 + (other % 2) as u8));
        count += 1;
    }
    all
}

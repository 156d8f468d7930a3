//! Agents as columns: one `Vec` per property, all of one length.

use crate::parallel::for_chunks;
use serde::{Deserialize, Serialize};

/// What an agent is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum Status {
    /// Its start time has not come.
    Waiting,
    /// On its way.
    Walking,
    /// It has been at its goal.
    Arrived,
}

macro_rules! columns {
    ($( $(#[$doc:meta])* $name:ident : $kind:ty, )*) => {
        /// Every agent that is present. A row is an agent's place in space for this step; its id is forever.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct Agents {
            $( $(#[$doc])* pub $name: Vec<$kind>, )*
        }

        /// One agent: a row as a value.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct Agent {
            $( $(#[$doc])* pub $name: $kind, )*
        }

        impl Agents {
            /// Adds a row at the end.
            pub fn push(&mut self, agent: Agent) {
                $( self.$name.push(agent.$name); )*
            }

            /// A row as a value.
            pub fn row(&self, row: usize) -> Agent {
                Agent { $( $name: self.$name[row], )* }
            }

            /// Removes a row and puts the last one in its place.
            pub(crate) fn swap_remove(&mut self, row: usize) {
                $( self.$name.swap_remove(row); )*
            }

            /// Keeps the rows that are marked, in order.
            pub fn retain(&mut self, keep: &[bool]) {
                $( {
                    let mut row = 0;
                    self.$name.retain(|_| { row += 1; keep[row - 1] });
                } )*
            }

            /// Puts the row `order[i]` at row `i`.
            pub(crate) fn reorder(&mut self, order: &[u32], spare: &mut Spare) {
                $( <$kind as Column>::reorder(&mut self.$name, order, spare); )*
            }
        }
    };
}

columns! {
    /// Who: counts up from 0 in the order of coming, and is never used again.
    id: u32,
    /// Where stages keep what they remember of it: a small number that another agent has once this one is gone.
    slot: u32,
    /// Position, m from the world's origin.
    x: f32,
    /// Position, m from the world's origin.
    y: f32,
    /// Velocity, m/s.
    vx: f32,
    /// Velocity, m/s.
    vy: f32,
    /// Goal, m from the world's origin.
    goal_x: f32,
    /// Goal, m from the world's origin.
    goal_y: f32,
    /// Body, m.
    radius: f32,
    /// Speed it would like to have, m/s.
    preferred_speed: f32,
    /// Speed it cannot exceed, m/s.
    max_speed: f32,
    /// Its share of an avoidance, weighed against the other's: 0 takes none.
    responsibility: f32,
    /// When it begins to walk, s.
    start: f32,
    /// When it arrived first, s; negative before that.
    arrival: f32,
    /// How far it has walked, m.
    walked: f32,
    /// Which cohort, by its place in the scenario.
    cohort: u16,
    /// Which of the world's destinations it walks to, counted from 1; 0 where it walks to where its cohort does.
    destination: u16,
    /// What it is doing.
    status: Status,
}

impl Agents {
    /// How many are present.
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Whether there are no agents.
    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }
}

/// One spare column per element type: a reorder fills it and swaps it in, so nothing is allocated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spare {
    f32: Vec<f32>,
    u32: Vec<u32>,
    u16: Vec<u16>,
    status: Vec<Status>,
}

trait Column: Copy + Send + Sync + Sized {
    fn spare(spare: &mut Spare) -> &mut Vec<Self>;

    fn reorder(column: &mut Vec<Self>, order: &[u32], spare: &mut Spare) {
        let fresh = Self::spare(spare);
        let Some(&any) = column.first() else { return };
        fresh.resize(column.len(), any);
        let chunk = crate::CHUNK * 4;
        for_chunks(chunk, (&mut fresh[..], order), &|_, (fresh, order)| {
            for (slot, &row) in fresh.iter_mut().zip(order) {
                *slot = column[row as usize];
            }
        });
        std::mem::swap(column, fresh);
    }
}

macro_rules! column {
    ($kind:ty, $spare:ident) => {
        impl Column for $kind {
            fn spare(spare: &mut Spare) -> &mut Vec<$kind> {
                &mut spare.$spare
            }
        }
    };
}
column!(f32, f32);
column!(u32, u32);
column!(u16, u16);
column!(Status, status);

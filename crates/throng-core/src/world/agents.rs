//! Agents as columns: one `Vec` per property, all of one length.

use crate::parallel::{Columns, for_chunks};
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

            /// Puts the row `order[i]` at row `i`, all columns in one pass. What was there before is left in `spare`, for its memory.
            pub(crate) fn reorder(&mut self, order: &[u32], spare: &mut Agents) {
                let Some(any) = (!self.is_empty()).then(|| self.row(0)) else { return };
                $( spare.$name.resize(self.len(), any.$name); )*
                let columns = ColumnsMut { $( $name: &mut spare.$name[..], )* };
                for_chunks(crate::CHUNK, (columns, order), &|_, (columns, order)| {
                    $(
                        for (to, &row) in columns.$name.iter_mut().zip(order) {
                            *to = self.$name[row as usize];
                        }
                    )*
                });
                std::mem::swap(self, spare);
            }
        }

        /// Some rows of all columns, to be written.
        struct ColumnsMut<'a> {
            $( $name: &'a mut [$kind], )*
        }

        impl Columns for ColumnsMut<'_> {
            fn chunks(&self, size: usize) -> usize {
                self.id.len().div_ceil(size)
            }

            fn split(self, chunks: usize, size: usize) -> (Self, Self) {
                let middle = (chunks * size).min(self.id.len());
                $( let $name = self.$name.split_at_mut(middle); )*
                (ColumnsMut { $( $name: $name.0, )* }, ColumnsMut { $( $name: $name.1, )* })
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

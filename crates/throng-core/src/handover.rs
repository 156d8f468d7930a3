//! What one stage hands to the next: columns in the rows' order of this step, kept from step to step.

/// From the macroscale, adapted by the mesoscale: the velocity an agent would like to have, m/s.
#[derive(Clone, Debug, Default)]
pub struct Intents {
    /// m/s.
    pub vx: Vec<f32>,
    /// m/s.
    pub vy: Vec<f32>,
}

/// From the microscale: the velocity an agent has chosen.
#[derive(Clone, Debug, Default)]
pub struct Commands {
    /// m/s.
    pub vx: Vec<f32>,
    /// m/s.
    pub vy: Vec<f32>,
    /// What the agent will remember of being held up, see [`Agents::frustration`](crate::world::Agents).
    pub frustration: Vec<f32>,
    /// How far away the nearest other is that the agent looks at (centre to centre, squared, m²); infinite where it
    /// looks at nobody.
    pub room_squared: Vec<f32>,
}

/// From the motion stage: where an agent will be.
#[derive(Clone, Debug, Default)]
pub struct Moves {
    /// m from the world's origin.
    pub x: Vec<f32>,
    /// m from the world's origin.
    pub y: Vec<f32>,
    /// m/s.
    pub vx: Vec<f32>,
    /// m/s.
    pub vy: Vec<f32>,
}

macro_rules! sized {
    ($name:ident: $($column:ident),+) => {
        impl $name {
            /// Makes room for as many agents as there are; allocates only when the crowd grows.
            pub fn resize(&mut self, agents: usize) {
                $( self.$column.resize(agents, 0.0); )+
            }
        }
    };
}
sized!(Intents: vx, vy);
sized!(Commands: vx, vy, frustration, room_squared);
sized!(Moves: x, y, vx, vy);

//! The figures of Park, Cao, Quek 2012.

mod crowds;
mod fields;
mod times;

use super::{Figure, Job, Trail, rectangle, scenario, trails};

/// In the order of the paper.
pub const ALL: &[Figure] = &[
    Figure {
        name: "hybrid-figure-1",
        shows: "map field, world field, local perception fields, and the three as a stack",
        draw: fields::three_fields,
    },
    Figure {
        name: "hybrid-figure-2",
        shows: "what three agents add to the density of the four cells around them",
        draw: fields::densities_of_three,
    },
    Figure {
        name: "hybrid-figure-3",
        shows: "the waypoint in the map field and the local goal in the local perception field",
        draw: fields::waypoint_and_local_goal,
    },
    Figure {
        name: "hybrid-figure-4",
        shows: "congestion avoidance: all by the shortest way, and some round the crowd",
        draw: crowds::congestion,
    },
    Figure {
        name: "hybrid-figure-5",
        shows: "groups with cohesion and without, and a large crowd",
        draw: crowds::groups_and_crowd,
    },
    Figure {
        name: "hybrid-figure-6",
        shows: "time of a frame by agents and size of the environment",
        draw: times::of_a_frame,
    },
];

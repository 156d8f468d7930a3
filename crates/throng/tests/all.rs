//! The tests of the crate as a whole, in one program: to link one for each file takes longer than to run them.

mod breaks_others;
mod contract;
mod crowd;
mod dense;
mod density;
mod events;
mod floor_plan;
mod footsteps;
mod fuzz;
mod groups;
mod hybrid;
mod map_field;
mod memory;
mod multi_domain;
mod periodic;
mod placement;
mod regressions;
mod scenario;
mod steering;
mod together;
mod visibility_graph;
mod walkers;
mod ways;

//! The tests of the crate as a whole, in one program: to link one for each file takes longer than to run them.

mod common;
mod domains;
mod dynamic_navmesh;
mod map_field;
mod memory;
mod multi_domain;
mod navmesh;
mod planning;
mod search;
mod shortest_paths;
mod visibility_graph;

//! Tests that need data which may not be there, and say that they skipped, which the ordinary harness counts as passed.

mod common;
mod movingai;
mod navmesh_arena;
mod navmesh_polygons;
mod polyanya;

use std::process::ExitCode;

fn main() -> ExitCode {
    let tests = [movingai::main, navmesh_arena::main, navmesh_polygons::main, polyanya::main];
    let failed = tests.into_iter().map(|test| test()).filter(|code| *code != ExitCode::SUCCESS).count();
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

//! The decisions of the scenario generator come from the fuzzer's bytes; what is accepted is run and looked at.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/throng/tests/fuzz/checks.rs"]
mod checks;
#[path = "../../crates/throng/tests/fuzz/draws.rs"]
#[allow(dead_code)]
mod draws;
#[path = "../../crates/throng/tests/fuzz/scenarios.rs"]
#[allow(dead_code)]
mod scenarios;
#[path = "../../crates/throng/tests/fuzz/worlds.rs"]
mod worlds;

fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, bytes)) = bytes.split_first() else { return };
    let mut draws = draws::Draws::from_bytes(bytes);
    let verdict = if kind % 2 == 0 {
        let text = scenarios::scenario(&mut draws);
        checks::text(&mut draws, &text, "case.toml").map_err(|fault| format!("{fault}\n{text}"))
    } else {
        worlds::case(&mut draws)
    };
    verdict.unwrap_or_else(|fault| panic!("{fault}"));
});

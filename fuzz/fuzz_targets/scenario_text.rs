//! Any text as a scenario file: it is read or refused, and never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use throng::Scenario;

#[path = "../../crates/throng/tests/fuzz/draws.rs"]
#[allow(dead_code)]
mod draws;
#[path = "../../crates/throng/tests/fuzz/scenarios.rs"]
#[allow(dead_code)]
mod scenarios;

fuzz_target!(|text: &str| {
    // A crowd of millions is allowed, and no fault, but too large for a fuzzer.
    if scenarios::asks_for_many(text) {
        return;
    }
    for name in ["case.toml", "case.json"] {
        match Scenario::parse(text, name, None) {
            Ok(scenario) => {
                let again =
                    Scenario::parse(&scenario.source, "again.json", None).expect("its source can be read");
                assert_eq!(again, scenario, "its source makes another scenario");
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
});

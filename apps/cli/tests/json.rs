//! What programs read: the JSON of `throng papers` and `throng bench`.

use serde_json::Value;
use std::process::Command;

fn throng(args: &[&str]) -> (Option<i32>, Value) {
    let output = Command::new(env!("CARGO_BIN_EXE_throng")).args(args).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {complaint}"));
    (output.status.code(), value)
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Findings have their four keys, and the exit code says whether one does not hold.
fn check_findings(code: Option<i32>, findings: &Value) {
    let findings = findings.as_array().unwrap();
    assert!(!findings.is_empty());
    for finding in findings {
        for key in ["name", "value", "bar", "holds"] {
            assert!(keys(finding).contains(&key), "{finding} has no `{key}`");
        }
        assert!(finding["bar"].is_number());
        assert_eq!(finding["holds"].is_null(), finding["reason"].is_string(), "{finding}");
    }
    let fell_short = findings.iter().any(|finding| finding["holds"] == false);
    assert_eq!(code, Some(i32::from(fell_short)));
}

#[test]
fn papers_as_json() {
    let (code, answer) = throng(&["papers", "snape", "--json", "--quick"]);
    assert_eq!(keys(&answer), ["findings", "paper", "rows"]);
    check_findings(code, &answer["findings"]);
    let rows = answer["rows"].as_array().unwrap();
    for row in rows {
        assert_eq!(keys(row), ["metric", "ours", "paper", "row", "table", "unit"]);
        // No agent collides with the moving obstacle, so that there is no ratio.
        assert!(row["ours"].is_number() || row["metric"] == "HRVO/ORCA: collisions", "{row}");
    }
    for table in ["Table 1", "Table 2", "Table 3"] {
        assert!(rows.iter().any(|row| row["table"].as_str().unwrap().starts_with(table)));
    }
}

/// How far people walk and who arrives does not depend on how busy a machine is, so it must hold in every run; only the
/// times may miss their bars.
#[test]
fn lengths_and_arrivals_of_meso_hold_in_the_short_version() {
    let (code, answer) = throng(&["papers", "meso", "--json", "--quick"]);
    check_findings(code, &answer["findings"]);
    let named = |part: &str| {
        let findings = answer["findings"].as_array().unwrap().iter();
        findings.filter(|finding| finding["name"].as_str().unwrap().contains(part)).collect::<Vec<_>>()
    };
    assert_eq!(named("path length of individuals").len(), 3, "A, B and C");
    assert_eq!(named("all arrive").len(), 6, "A, B and C, plain and with the engine's additions");
    // Of A and C, plain ORCA is so good that not all of the paper's gain is there to be had.
    for finding in named("path length of individuals") {
        assert!(finding["value"].as_f64().unwrap() < 0.92, "{finding}");
    }
    let may_miss =
        |name: &str| name.contains("time per") || name.contains("path length") && !name.starts_with('B');
    for finding in named("").iter().filter(|finding| !may_miss(finding["name"].as_str().unwrap())) {
        assert_eq!(finding["holds"], true, "{finding}");
    }
}

/// The same of the hybrid model: who goes round, who follows, who keeps together, who collides.
#[test]
fn behaviour_of_hybrid_holds_in_the_short_version() {
    let (code, answer) = throng(&["papers", "hybrid", "--json", "--quick"]);
    check_findings(code, &answer["findings"]);
    let is_of_speed = |name: &str| name.contains("time of a frame") || name.contains("time per agent");
    let findings = answer["findings"].as_array().unwrap().iter();
    let behaviour: Vec<&Value> = findings.filter(|one| !is_of_speed(one["name"].as_str().unwrap())).collect();
    assert_eq!(behaviour.len(), 12, "six, as the paper has it and with the engine's additions");
    for finding in behaviour {
        assert_eq!(finding["holds"], true, "{finding}");
    }
}

/// The same of planning in domains: bars of the plans, and maps that are like the paper's.
#[test]
fn plans_of_multi_domain_hold_in_the_short_version() {
    let (code, answer) = throng(&["papers", "multi-domain", "--json", "--quick"]);
    check_findings(code, &answer["findings"]);
    let findings = answer["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 13, "nine bars, and the success of four rows against the paper's");
    for finding in findings {
        assert_eq!(finding["holds"], true, "{finding}");
    }
}

#[test]
fn papers_are_listed() {
    let (code, answer) = throng(&["papers", "--json"]);
    assert_eq!(code, Some(0));
    assert_eq!(answer[0]["name"], "snape");
}

#[test]
fn bench_as_json() {
    let (code, answer) = throng(&["bench", "--json", "--quick"]);
    check_findings(code, &answer["findings"]);
    // A few steps on a busy machine are no reason to say that something does not hold.
    assert!(answer["findings"].as_array().unwrap().iter().all(|finding| finding["holds"].is_null()));
    let shared = &answer["threads"][1];
    assert_eq!((&shared["agents"], shared["on"].as_array().unwrap().len()), (&10_000.into(), 7));
    let rows = answer["rows"].as_array().unwrap();
    for system in ["throng", "dodgy_2d"] {
        assert!(rows.iter().any(|row| row["system"] == system && row["agents"] == 10_000), "{system}");
    }
    assert!(rows.iter().all(|row| row["ns_per_agent_step"].as_f64().is_some_and(|ns| ns > 0.0)));
}

#[test]
fn without_pyrvo_its_findings_are_skipped() {
    let output = Command::new(env!("CARGO_BIN_EXE_throng"))
        .args(["bench", "--json", "--quick", "--agents", "10000"])
        .env("THRONG_PYTHON", "no-such-python")
        .output()
        .unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = answer["findings"].as_array().unwrap();
    let of_pyrvo =
        findings.iter().find(|finding| finding["name"].as_str().unwrap().contains("pyrvo")).unwrap();
    assert!(of_pyrvo["holds"].is_null());
    assert_eq!(of_pyrvo["reason"], "skipped: pip install pyrvo");
}

#[test]
fn validate_as_json() {
    let (code, answer) = throng(&["validate", "rimea-1", "--json", "--quick"]);
    check_findings(code, &answer["findings"]);
    assert_eq!((&answer["cases"][0]["status"], &answer["seeds"]), (&"passed".into(), &3.into()));
    let (code, answer) = throng(&["validate", "rimea-2", "--json"]);
    assert_eq!((code, &answer["cases"][0]["status"]), (Some(0), &"waiting".into()));
    let (_, answer) = throng(&["validate", "--json"]);
    assert_eq!(answer[0]["name"], "rimea-1");
}

//! Says which compiler the command was made with: the instructions that `throng bench` counts depend on it.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().map(|output| output.stdout);
    let version = version.ok().and_then(|version| String::from_utf8(version).ok());
    println!(
        "cargo::rustc-env=THRONG_COMPILER={}",
        version.as_deref().unwrap_or("an unknown compiler").trim()
    );
}

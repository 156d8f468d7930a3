//! Finding the scenario that a command line names.

use anyhow::bail;
use std::path::Path;
use throng::builtin;
use throng::scenario::{Overrides, Scenario};

/// Reads a scenario: a file, or a built-in by its name.
pub fn scenario(name: &Path, overrides: &Overrides) -> anyhow::Result<Scenario> {
    let word = name.to_str().unwrap_or_default();
    if !name.is_file()
        && let Some(builtin) = builtin::find(word)
    {
        return Ok(builtin.open_with(overrides)?);
    }
    if name.is_dir() {
        bail!("`{}` is a folder; give a scenario file", name.display());
    }
    if !name.exists() {
        let hint = match builtin::similar(word) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => "`throng list scenarios` prints what there is".into(),
        };
        bail!(
            "there is no file `{word}`, and no built-in scenario of that name; {hint}",
            word = name.display()
        );
    }
    Ok(Scenario::open_with(name, overrides)?)
}

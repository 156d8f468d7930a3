//! Finding the scenario that a command line names.

use crate::output;
use anyhow::{anyhow, bail};
use std::path::{Path, PathBuf};
use throng::builtin;
use throng::scenario::{Overrides, Scenario, ScenarioError};

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

/// A scenario's text, read once, for checks of many variants: the file may change meanwhile.
pub struct Text {
    text: String,
    name: String,
    folder: Option<PathBuf>,
}

impl Text {
    /// Reads the text of a scenario that [`scenario`] has found sound.
    pub fn of(path: &Path) -> anyhow::Result<Text> {
        if !path.is_file()
            && let Some(builtin) = builtin::find(path.to_str().unwrap_or_default())
        {
            let name = format!("{}.toml", builtin.name);
            return Ok(Text { text: builtin.text.into(), name, folder: None });
        }
        let text = std::fs::read_to_string(path)
            .map_err(|error| anyhow!("cannot read `{}`: {}", path.display(), output::reason(&error)))?;
        Ok(Text { text, name: path.display().to_string(), folder: path.parent().map(Path::to_owned) })
    }

    /// Makes a scenario of it.
    pub fn scenario(&self, overrides: &Overrides) -> Result<Scenario, ScenarioError> {
        Scenario::parse_with(&self.text, &self.name, self.folder.as_deref(), overrides)
    }
}

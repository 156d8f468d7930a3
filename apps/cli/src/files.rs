//! Files that are written at the end of long work, made sure of before it begins.

use crate::output;
use anyhow::{anyhow, bail};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file that will be written later. What it holds stays until then; if nothing is written, it leaves no trace.
pub struct Promised {
    path: PathBuf,
    file: File,
    fresh: bool,
    written: bool,
}

impl Promised {
    /// Opens a file for later.
    pub fn new(path: &Path) -> anyhow::Result<Promised> {
        let fresh = !path.exists();
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|error| cannot_write(path, &error))?;
        Ok(Promised { path: path.to_owned(), file, fresh, written: false })
    }

    /// Writes it.
    pub fn write(mut self, bytes: &[u8]) -> anyhow::Result<()> {
        // A device or a pipe has no length, and needs none.
        let _ = self.file.set_len(0);
        self.file.write_all(bytes).map_err(|error| cannot_write(&self.path, &error))?;
        self.written = true;
        Ok(())
    }
}

impl Drop for Promised {
    fn drop(&mut self) {
        if self.fresh && !self.written {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Makes sure that files can be made beside a path, and that it is no folder itself.
pub fn check_folder_of(path: &Path) -> anyhow::Result<()> {
    if path.is_dir() {
        return Err(cannot_write(path, &io::ErrorKind::IsADirectory.into()));
    }
    tempfile::NamedTempFile::new_in(folder(path)).map_err(|error| cannot_write(path, &error))?;
    Ok(())
}

/// Writes a file beside its final name and renames it, so that a crash leaves the one before.
pub fn replace(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let failed = |error: &io::Error| cannot_write(path, error);
    // A link stays a link.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut builder = tempfile::Builder::new();
    // As an ordinary file would get, less what the user's mask takes away: others may want to read it.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder(&target)).map_err(|error| failed(&error))?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(|error| failed(&error))?;
    file.persist(&target).map_err(|error| failed(&error.error))?;
    Ok(())
}

/// Makes sure that no two of these are one file: the later would wipe out the earlier.
pub fn check_different(files: &[(&str, Option<&Path>)]) -> anyhow::Result<()> {
    let given: Vec<(&str, &Path, PathBuf)> =
        files.iter().filter_map(|&(name, path)| Some((name, path?, place(path?)))).collect();
    for (index, (name, path, place)) in given.iter().enumerate() {
        if let Some((other, ..)) = given[..index].iter().find(|(.., other)| other == place) {
            bail!("{other} and {name} are both `{}`; give them different names", path.display());
        }
    }
    Ok(())
}

/// Where a file is, whatever way its path takes; devices may be shared.
fn place(path: &Path) -> PathBuf {
    let folder = folder(path).canonicalize().unwrap_or_else(|_| folder(path).to_owned());
    path.canonicalize().unwrap_or_else(|_| folder.join(path.file_name().unwrap_or_default()))
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Says why a file cannot be written, and what to do about it.
pub fn cannot_write(path: &Path, error: &io::Error) -> anyhow::Error {
    let (shown, folder) = (path.display(), folder(path));
    match error.kind() {
        // Some folders exist and take no files, such as /proc.
        io::ErrorKind::NotFound if folder.is_dir() => {
            anyhow!("cannot write `{shown}`: its folder takes no files; choose another place")
        }
        io::ErrorKind::NotFound => {
            anyhow!("cannot write `{shown}`: there is no folder `{}`; create it first", folder.display())
        }
        io::ErrorKind::IsADirectory => {
            anyhow!("cannot write `{shown}`: it is a folder; give the name of a file")
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            anyhow!("cannot write `{shown}`: {}; choose a place that you may write to", output::reason(error))
        }
        _ => anyhow!("cannot write `{shown}`: {}", output::reason(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_that_is_not_kept_leaves_things_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        std::fs::write(&old, "before").unwrap();
        drop(Promised::new(&old).unwrap());
        drop(Promised::new(&new).unwrap());
        assert_eq!(std::fs::read_to_string(&old).unwrap(), "before");
        assert!(!new.exists());
    }

    #[test]
    fn a_longer_file_is_replaced_whole() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "a long text that was there before").unwrap();
        Promised::new(file.path()).unwrap().write(b"short").unwrap();
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), "short");
    }

    #[test]
    fn one_file_by_two_paths_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, winding) = (folder.path().join("a"), folder.path().join(".").join("a"));
        let error = check_different(&[("--record", Some(&plain)), ("--report", Some(&winding))]).unwrap_err();
        assert!(error.to_string().starts_with("--record and --report are both"), "{error}");
        let other = folder.path().join("b");
        check_different(&[("--record", Some(&plain)), ("--report", Some(&other)), ("FILE", None)]).unwrap();
    }
}

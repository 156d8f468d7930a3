//! The page that is embedded: built from the source beside it, and small.

use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).into()
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// FNV-1a over names and contents, as `page/stamp.mjs` has it.
fn stamp() -> String {
    let page = folder().join("page");
    let mut sources = Vec::new();
    files(&page.join("src"), &mut sources);
    for name in ["index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts"] {
        sources.push(page.join(name));
    }
    let mut named: Vec<(String, PathBuf)> = sources
        .into_iter()
        .map(|path| (path.strip_prefix(&page).unwrap().to_str().unwrap().replace('\\', "/"), path))
        .collect();
    named.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut mix = |bytes: &[u8]| {
        bytes.iter().for_each(|&byte| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    };
    for (name, path) in named {
        mix(name.as_bytes());
        mix(&[0]);
        mix(&std::fs::read(path).unwrap());
        mix(&[0]);
    }
    format!("{hash:016x}")
}

#[test]
fn the_embedded_page_was_built_from_the_source_beside_it() {
    let built = std::fs::read_to_string(folder().join("dist/source.txt")).unwrap();
    assert_eq!(
        built.trim(),
        stamp(),
        "build the page again: `npm install --no-save && npm run build` in apps/viewer/page"
    );
}

#[test]
fn the_lock_file_names_no_host() {
    let lock = std::fs::read_to_string(folder().join("page/package-lock.json")).unwrap();
    assert!(!lock.contains("\"resolved\""));
}

/// 500 kB compressed at most; the files are less than that even before.
#[test]
fn the_page_is_small() {
    let mut built = Vec::new();
    files(&folder().join("dist"), &mut built);
    let bytes: u64 = built.iter().map(|path| path.metadata().unwrap().len()).sum();
    assert!(bytes < 500_000, "{bytes}");
}

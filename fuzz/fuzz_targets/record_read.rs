//! Any bytes as a recorded run, in every format, and as a checkpoint: read or refused, and never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use throng::checkpoint::Checkpoint;
use throng::record::open_run;

fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, bytes)) = bytes.split_first() else { return };
    let end = ["csv", "txt", "parquet", "sqlite", "checkpoint"][usize::from(kind) % 5];
    let folder = tempfile::tempdir().expect("there is room for a file");
    let path = folder.path().join(format!("run.{end}"));
    std::fs::write(&path, bytes).expect("it can be written");
    if end == "checkpoint" {
        let _ = Checkpoint::load(&path);
    } else if let Ok(run) = open_run(&path) {
        let rows: usize = run.tracks().map(|track| track.frame.len()).sum();
        assert_eq!(rows, run.rows());
    }
});

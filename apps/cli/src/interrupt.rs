//! Ctrl-C: the first asks for an end, the second makes one.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// What a shell expects of a process that was ended by Ctrl-C.
const KILLED: i32 = 130;

/// Listens from now on.
pub fn listen() {
    let heard = || {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            std::process::exit(KILLED);
        }
    };
    // Where the system does not let us listen, Ctrl-C ends the run at once: no reason to refuse to run.
    let _ = ctrlc::set_handler(heard);
}

/// Whether an end was asked for.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

//! What becomes of plans that meet: who must stop because of what could not be foreseen (`guard.rs`), who makes way for whom
//! (`yielding.rs`), and what those do who want to one place (`sharing.rs`).

pub(crate) mod guard;
pub(crate) mod sharing;
pub(crate) mod yielding;

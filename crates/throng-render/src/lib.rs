//! Pictures of a recorded run.

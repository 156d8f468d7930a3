//! Figures of a page.

/// A figure.
#[derive(Clone, Debug, Default)]
pub struct Figure {}

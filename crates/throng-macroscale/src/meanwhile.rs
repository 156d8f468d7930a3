//! What agents do while others' planning comes first.

throng_core::choice! {
    /// What agents do that have no path yet.
    pub enum Meanwhile {
        /// Walk to where they were heading, as long as that is in sight, and else by a way that is known at once.
        Coarse = "coarse",
        /// Walk to where they were heading, as long as that is in sight, and else wait.
        Wait = "wait",
    }
}

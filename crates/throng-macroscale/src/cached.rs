//! What planners work out of the map and the view alone. Queries may bring it up to date too, so it is behind a lock; a step has
//! it for itself and never waits.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Something that can be made again at any time.
#[derive(Debug, Default)]
pub(crate) struct Cached<T>(Mutex<T>);

impl<T> Cached<T> {
    pub fn new(value: T) -> Cached<T> {
        Cached(Mutex::new(value))
    }

    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

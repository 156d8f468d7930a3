//! A list of at most so many, in place: what the inner loops keep for an agent must not be allocated.

use std::ops::{Deref, DerefMut};

/// At most `N` items. To add one more is an error of the program, as it is to read beyond the end.
#[derive(Clone, Copy, Debug)]
pub struct Few<T, const N: usize> {
    items: [T; N],
    len: usize,
}

impl<T: Copy + Default, const N: usize> Few<T, N> {
    /// Nothing yet.
    #[inline(always)]
    pub fn new() -> Few<T, N> {
        Few { items: [T::default(); N], len: 0 }
    }

    /// Whether there is no room for another one.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.len == N
    }

    /// Adds one at the end.
    #[inline(always)]
    pub fn push(&mut self, item: T) {
        self.items[self.len] = item;
        self.len += 1;
    }

    /// Adds one before those from `place` on.
    #[inline(always)]
    pub fn insert(&mut self, place: usize, item: T) {
        self.push(item);
        self[place..].rotate_right(1);
    }

    /// Drops the last one.
    #[inline(always)]
    pub fn pop(&mut self) {
        self.len = self.len.saturating_sub(1);
    }

    /// Drops all.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.len = 0;
    }
}

impl<T: Copy + Default, const N: usize> Default for Few<T, N> {
    fn default() -> Few<T, N> {
        Few::new()
    }
}

impl<T, const N: usize> Deref for Few<T, N> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.items[..self.len]
    }
}

impl<T, const N: usize> DerefMut for Few<T, N> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items[..self.len]
    }
}

impl<'a, T, const N: usize> IntoIterator for &'a Few<T, N> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    #[inline(always)]
    fn into_iter(self) -> std::slice::Iter<'a, T> {
        self.iter()
    }
}

impl<T: Copy + Default, const N: usize> FromIterator<T> for Few<T, N> {
    #[inline(always)]
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Few<T, N> {
        let mut few = Few::new();
        items.into_iter().for_each(|item| few.push(item));
        few
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_are_kept_in_order() {
        let mut few: Few<u32, 4> = [1, 3].into_iter().collect();
        few.insert(1, 2);
        few.insert(0, 0);
        assert_eq!(*few, [0, 1, 2, 3]);
        assert!(few.is_full());
        few.pop();
        few.insert(3, 9);
        assert_eq!(*few, [0, 1, 2, 9]);
        few.clear();
        assert!(few.is_empty());
    }
}

//! Hashes of small keys, for tables that are only asked and never gone through: no result depends on them.
//!
//! One product for a word, as in the compiler's own tables: the standard library's hashes withstand keys that somebody has
//! chosen to collide, which takes several times as long, and numbers of cells are chosen by nobody.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map that is fast for small keys.
pub type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<Product>>;

/// An odd number without a pattern in its bits (of Steele and Vigna 2021, Computationally easy, spectrally good multipliers).
const FACTOR: u64 = 0xf135_7aea_2e62_a9c5;

/// Multiplies what it is given.
#[derive(Clone, Copy, Debug, Default)]
pub struct Product(u64);

impl Hasher for Product {
    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.0 = self.0.wrapping_add(word).wrapping_mul(FACTOR);
    }

    /// The upper bits of a product are the good ones, and tables take the lower ones.
    #[inline]
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    #[inline]
    fn write_u8(&mut self, word: u8) {
        self.write_u64(u64::from(word));
    }

    #[inline]
    fn write_u16(&mut self, word: u16) {
        self.write_u64(u64::from(word));
    }

    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    #[inline]
    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}

//! Lists of numbers one after another in memory: what each cell of a grid holds.

/// Numbers in buckets, in the order in which they were put in.
#[derive(Clone, Debug, Default)]
pub struct Buckets {
    /// Where each bucket begins in `listed`, and where the last one ends.
    first: Vec<u32>,
    listed: Vec<u32>,
}

impl Buckets {
    /// Puts other numbers in; their memory is used again. `pairs` hands every pair of a bucket and a number to what it is
    /// given, the same ones in the same order each time: a first pass counts, a second one fills.
    pub fn fill(&mut self, buckets: usize, pairs: impl Fn(&mut dyn FnMut(usize, u32))) {
        let Buckets { first, listed } = self;
        first.clear();
        // Counted two places ahead: to fill moves each beginning to the next, and then all are where they belong.
        first.resize(buckets + 2, 0);
        pairs(&mut |bucket, _| first[bucket + 2] += 1);
        for bucket in 1..first.len() {
            first[bucket] += first[bucket - 1];
        }
        listed.clear();
        listed.resize(first[buckets + 1] as usize, 0);
        pairs(&mut |bucket, number| {
            listed[first[bucket + 1] as usize] = number;
            first[bucket + 1] += 1;
        });
    }

    /// What a bucket holds.
    #[inline]
    pub fn get(&self, bucket: usize) -> &[u32] {
        &self.listed[self.first[bucket] as usize..self.first[bucket + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bucket_holds_its_numbers_in_order() {
        let mut buckets = Buckets::default();
        for pairs in [&[(2, 7), (0, 1), (2, 3), (2, 7)][..], &[(1, 4)], &[]] {
            buckets.fill(3, |put| pairs.iter().for_each(|&(bucket, number)| put(bucket, number)));
            for bucket in 0..3 {
                let held = pairs.iter().filter(|pair| pair.0 == bucket).map(|pair| pair.1);
                assert_eq!(buckets.get(bucket), held.collect::<Vec<u32>>());
            }
        }
    }
}

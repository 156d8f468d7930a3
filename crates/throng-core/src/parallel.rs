//! Work on many threads: split into chunks of a fixed size, halved until one is left, so that no result can depend on the
//! number of threads.
//!
//! All stages go through here, and what a chunk does is a `dyn` closure: one virtual call per chunk, never per agent. The
//! thread pool's own machinery, of which parallel iterators make a copy for every loop, is compiled once.

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What is worked on in chunks: a range of rows, columns of them, or several of these together. The first one tells how
/// many chunks there are, the others are as long.
pub trait Columns: Send + Sized {
    /// How many chunks of a size there are; the last one may be smaller.
    fn chunks(&self, size: usize) -> usize;

    /// The first chunks, and the others.
    fn split(self, chunks: usize, size: usize) -> (Self, Self);
}

impl Columns for Range<usize> {
    fn chunks(&self, size: usize) -> usize {
        self.len().div_ceil(size)
    }

    fn split(self, chunks: usize, size: usize) -> (Self, Self) {
        let middle = (self.start + chunks * size).min(self.end);
        (self.start..middle, middle..self.end)
    }
}

impl<T: Sync> Columns for &[T] {
    fn chunks(&self, size: usize) -> usize {
        self.len().div_ceil(size)
    }

    fn split(self, chunks: usize, size: usize) -> (Self, Self) {
        self.split_at((chunks * size).min(self.len()))
    }
}

impl<T: Send> Columns for &mut [T] {
    fn chunks(&self, size: usize) -> usize {
        self.len().div_ceil(size)
    }

    fn split(self, chunks: usize, size: usize) -> (Self, Self) {
        let middle = (chunks * size).min(self.len());
        self.split_at_mut(middle)
    }
}

/// A column with one item for each chunk, which is the first of those that the chunk gets.
pub struct PerChunk<'a, T>(pub &'a mut [T]);

impl<T: Send> Columns for PerChunk<'_, T> {
    fn chunks(&self, _: usize) -> usize {
        self.0.len()
    }

    fn split(self, chunks: usize, _: usize) -> (Self, Self) {
        let middle = chunks.min(self.0.len());
        let (first, others) = self.0.split_at_mut(middle);
        (PerChunk(first), PerChunk(others))
    }
}

macro_rules! together {
    ($first:ident $($other:ident)*) => {
        impl<$first: Columns, $($other: Columns),*> Columns for ($first, $($other),*) {
            fn chunks(&self, size: usize) -> usize {
                self.0.chunks(size)
            }

            #[allow(non_snake_case, reason = "a column is called like its type")]
            fn split(self, chunks: usize, size: usize) -> (Self, Self) {
                let ($first, $($other),*) = self;
                let ($first, $($other),*) = ($first.split(chunks, size), $($other.split(chunks, size)),*);
                (($first.0, $($other.0),*), ($first.1, $($other.1),*))
            }
        }
    };
}
together!(A B);
together!(A B C);
together!(A B C D);
together!(A B C D E);
together!(A B C D E F);
together!(A B C D E F G H);

/// Calls `work` with the number of every chunk and with its part of the columns.
pub fn for_chunks<C: Columns>(size: usize, columns: C, work: &(dyn Fn(usize, C) + Sync)) {
    let chunks = columns.chunks(size);
    if chunks > 0 {
        noted(Some(chunks), || spread(0..chunks, size, columns, work));
    }
}

fn spread<C: Columns>(chunks: Range<usize>, size: usize, columns: C, work: &(dyn Fn(usize, C) + Sync)) {
    if chunks.len() == 1 {
        return work(chunks.start, columns);
    }
    let middle = chunks.start + chunks.len() / 2;
    let (first, others) = columns.split(middle - chunks.start, size);
    let (mut first, mut others) = (Some(first), Some(others));
    join(
        &mut || {
            if let Some(columns) = first.take() {
                spread(chunks.start..middle, size, columns, work);
            }
        },
        &mut || {
            if let Some(columns) = others.take() {
                spread(middle..chunks.end, size, columns, work);
            }
        },
    );
}

/// Does two things, at the same time where a thread has nothing to do.
pub fn join(first: &mut (dyn FnMut() + Send), second: &mut (dyn FnMut() + Send)) {
    noted(None, || {
        rayon_core::join(first, second);
    });
}

/// Work that threads could share, as it was done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// In how many parts it could be shared; `None` where it was halved as often as wanted.
    pub chunks: Option<usize>,
    /// How long it took.
    pub took: Duration,
}

thread_local! {
    /// The passes of this thread, while it is watched and not in one: what is shared within a pass belongs to it.
    static PASSES: Cell<Option<Vec<Pass>>> = const { Cell::new(None) };
}

/// Does `work`, and tells which passes this thread shared meanwhile: all other time was its own.
pub fn watched<R>(work: impl FnOnce() -> R) -> (R, Vec<Pass>) {
    PASSES.set(Some(Vec::new()));
    let made = work();
    (made, PASSES.take().unwrap_or_default())
}

fn noted(chunks: Option<usize>, pass: impl FnOnce()) {
    let Some(mut passes) = PASSES.take() else { return pass() };
    let begin = Instant::now();
    pass();
    passes.push(Pass { chunks, took: begin.elapsed() });
    PASSES.set(Some(passes));
}

/// What `work` makes of the numbers below `count`, in their order. Of a `size` of numbers each, one thread does all: more
/// than 1 where one is little work.
pub fn map<R: Send>(size: usize, count: usize, work: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
    let mut slots: Vec<Option<R>> = Vec::new();
    slots.resize_with(count, || None);
    for_chunks(size, slots.as_mut_slice(), &|chunk, slots| {
        for (i, slot) in slots.iter_mut().enumerate() {
            *slot = Some(work(chunk * size + i));
        }
    });
    let mut made = Vec::with_capacity(count);
    for value in slots.into_iter().flatten() {
        made.push(value);
    }
    made
}

/// What `work` makes of the numbers below `count`, in their order, where it makes anything. Of a `size` of numbers each, one
/// thread does all.
pub fn filter_map<R: Send>(size: usize, count: usize, work: impl Fn(usize) -> Option<R> + Sync) -> Vec<R> {
    let chunk = |chunk: usize| -> Vec<R> {
        (chunk * size..((chunk + 1) * size).min(count)).filter_map(&work).collect()
    };
    map(1, count.div_ceil(size), &chunk).into_iter().flatten().collect()
}

/// Whether anything below `count` is as asked. Not all are looked at once one is found.
pub fn any(size: usize, count: usize, is: &(dyn Fn(usize) -> bool + Sync)) -> bool {
    let found = AtomicBool::new(false);
    for_chunks(size, 0..count, &|_, mut rows| {
        if !found.load(Ordering::Relaxed) && rows.any(is) {
            found.store(true, Ordering::Relaxed);
        }
    });
    found.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chunk_gets_its_own_part_of_all_columns() {
        for count in [0, 1, 9, 10, 11, 95, 1000] {
            let from: Vec<usize> = (0..count).collect();
            let mut to = vec![0; count];
            let mut sums = vec![0; count.div_ceil(10) + 3];
            let columns = (to.as_mut_slice(), from.as_slice(), 0..count, PerChunk(&mut sums));
            for_chunks(10, columns, &|chunk, (to, from, rows, PerChunk(sums))| {
                assert_eq!(rows.start, chunk * 10);
                assert_eq!(rows.len(), to.len());
                assert!((1..=10).contains(&to.len()));
                for (to, from) in to.iter_mut().zip(from) {
                    *to = from + 1;
                }
                sums[0] += rows.len();
            });
            assert!(to.iter().enumerate().all(|(row, &to)| to == row + 1));
            assert_eq!(sums.iter().sum::<usize>(), count);
            assert_eq!(sums[count.div_ceil(10)..], [0; 3]);
        }
    }

    #[test]
    fn passes_are_noted_once_and_only_while_watched() {
        let nested = |_: usize, rows: Range<usize>| for_chunks(2, rows, &|_, _| {});
        let work = || {
            for_chunks(10, 0..95, &nested);
            join(&mut || {}, &mut || {});
            for_chunks(10, 0..0, &nested);
        };
        work();
        let ((), passes) = watched(work);
        assert_eq!(passes.iter().map(|pass| pass.chunks).collect::<Vec<_>>(), [Some(10), None]);
        assert!(watched(|| {}).1.is_empty());
    }

    #[test]
    fn answers_come_in_the_order_of_the_questions() {
        for size in [1, 7] {
            assert_eq!(map(size, 50, &|i| i * i), (0..50).map(|i| i * i).collect::<Vec<_>>());
            let even: Vec<usize> = (0..50).step_by(2).collect();
            assert_eq!(filter_map(size, 50, |i| i.is_multiple_of(2).then_some(i)), even);
            assert!(any(size, 50, &|i| i == 49));
            assert!(!any(size, 50, &|i| i == 50));
        }
        assert!(map(1, 0, &|i| i).is_empty());
    }
}

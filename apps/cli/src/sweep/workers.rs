//! Many jobs on a few threads.

use anyhow::anyhow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// How often progress is reported.
const PAUSE: Duration = Duration::from_millis(200);

/// Does jobs on `threads` threads, begun in their order, and hands what comes of them to `take` as it comes. When `take`
/// says no, nothing more is begun; what has been begun is still handed over, and sees by the flag that it may give up.
/// While nothing comes, `wait` is called from time to time.
pub fn spread<T: Send>(
    jobs: &[usize],
    threads: usize,
    work: impl Fn(usize, &AtomicBool) -> T + Sync,
    mut take: impl FnMut(usize, T) -> bool,
    mut wait: impl FnMut(),
) -> anyhow::Result<()> {
    let (stop, next) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (send, receive) = mpsc::channel();
    let threads = threads.min(jobs.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (send, stop, next, work) = (send.clone(), &stop, &next, &work);
            let worker = move || {
                while !stop.load(Ordering::Relaxed)
                    && let Some(&job) = jobs.get(next.fetch_add(1, Ordering::Relaxed))
                    && send.send((job, work(job, stop))).is_ok()
                {}
            };
            if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, worker) {
                stop.store(true, Ordering::Relaxed);
                return Err(anyhow!("cannot start {threads} threads: {error}; give fewer with --threads"));
            }
        }
        drop(send);
        loop {
            match receive.recv_timeout(PAUSE) {
                Ok((job, result)) => {
                    let go_on = take(job, result);
                    stop.fetch_or(!go_on, Ordering::Relaxed);
                }
                Err(RecvTimeoutError::Timeout) => wait(),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    })
}

/// A number of threads, 0 for as many as there are cores.
pub fn threads(asked: usize) -> usize {
    if asked > 0 { asked } else { std::thread::available_parallelism().map_or(1, usize::from) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_is_done_once_on_any_number_of_threads() {
        let jobs: Vec<usize> = (0..100).rev().collect();
        for threads in [1, 3, 200] {
            let mut done = Vec::new();
            let take = |job, square| {
                assert_eq!(square, job * job);
                done.push(job);
                true
            };
            spread(&jobs, threads, |job, _| job * job, take, || {}).unwrap();
            done.sort_unstable();
            assert_eq!(done, (0..100).collect::<Vec<_>>());
        }
        spread(&[], 4, |_, _| (), |_, ()| true, || {}).unwrap();
    }

    #[test]
    fn after_a_no_nothing_more_is_begun() {
        let jobs: Vec<usize> = (0..10_000).collect();
        let mut seen = 0;
        let pause = |_, _: &AtomicBool| std::thread::sleep(Duration::from_millis(1));
        let no = |_, ()| {
            seen += 1;
            false
        };
        spread(&jobs, 2, pause, no, || {}).unwrap();
        assert!((1..1000).contains(&seen), "{seen}");
    }
}

//! Which instruction sets a kernel is compiled for.

#[doc(hidden)]
pub use fearless_simd;

/// Runs an operation with the best instruction set of this machine, as `fearless_simd::dispatch!` does, and compiles it
/// for fewer of them: AVX-512, AVX2 and, for what was built before 2013, SSE2, which every x86-64 has. A kernel is copied
/// for each, and kernels are most of what the stages are made of; SSE4.2 between the last two would be a third more of
/// it for the oldest machines only. All give the same bits.
#[macro_export]
macro_rules! dispatch {
    ($level:expr, $simd:ident => $op:expr) => {{
        #[cfg(target_arch = "x86_64")]
        {
            let level: $crate::simd::fearless_simd::Level = $level;
            if let Some(avx512) = level.as_avx512() {
                $crate::dispatch!(@with avx512, $simd => $op)
            } else if let Some(avx2) = level.as_avx2() {
                $crate::dispatch!(@with avx2, $simd => $op)
            } else if let Some(sse2) = level.as_sse2() {
                $crate::dispatch!(@with sse2, $simd => $op)
            } else {
                unreachable!("every x86-64 has SSE2")
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            $crate::simd::fearless_simd::dispatch!($level, $simd => $op)
        }
    }};
    (@with $token:ident, $simd:ident => $op:expr) => {{
        let $simd = $token;
        $crate::simd::fearless_simd::Simd::vectorize(
            $token,
            #[inline(always)]
            || $op,
        )
    }};
}

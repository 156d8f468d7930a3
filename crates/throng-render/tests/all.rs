//! The tests of the crate as a whole, in one program: to link one for each file takes longer than to run them.

mod crowds;
mod films;
mod pictures;

//! The tests of the crate as a whole, in one program: to link one for each file takes longer than to run them.

mod bench;
mod common;
mod idle;
mod json;
mod newcomer;
mod papers;
mod plan;
mod survival;
mod sweep;
mod trouble;

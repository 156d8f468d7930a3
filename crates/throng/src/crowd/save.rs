//! A crowd as bytes, from which it goes on bit by bit.

use super::{BuildError, Crowd, State, builder};
use crate::pipeline::{SavedMemories, Stages};
use throng_core::memory::MemoryError;

const MAGIC: &[u8; 8] = b"throngS4";

/// How what all versions save begins; the next byte tells them apart.
const FAMILY: &[u8; 7] = b"throngS";

/// Why bytes are no crowd.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// Something else, or cut off, or changed.
    #[error("not a saved crowd: {0}")]
    Broken(String),
    /// Saved by another version.
    #[error(
        "saved by another version of throng (its format is {found}, this one reads {known}); load it with the version that saved it",
        known = char::from(MAGIC[FAMILY.len()])
    )]
    OtherVersion {
        /// How its format is numbered.
        found: char,
    },
    /// Its models cannot be made, such as one that has to be registered first.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// What a stage remembers does not fit.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl Crowd {
    /// The crowd as bytes.
    pub fn save(&self) -> Result<Vec<u8>, LoadError> {
        let body = postcard::to_stdvec(&(&self.state, self.stages.save_memories()));
        let body = body.map_err(|error| LoadError::Broken(error.to_string()))?;
        Ok([MAGIC.as_slice(), &checksum(&body).to_le_bytes(), &body].concat())
    }

    /// The crowd that was saved, on the threads that all crowds share. Its handles are those of the one that was saved.
    pub fn load(bytes: &[u8]) -> Result<Crowd, LoadError> {
        Crowd::load_on(bytes, None)
    }

    /// The same on a number of threads of its own; 0 means all cores.
    pub fn load_on(bytes: &[u8], threads: Option<usize>) -> Result<Crowd, LoadError> {
        let broken = |reason: &str| LoadError::Broken(reason.into());
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| match bytes.strip_prefix(FAMILY) {
            Some([version, ..]) if version.is_ascii_alphanumeric() => {
                LoadError::OtherVersion { found: char::from(*version) }
            }
            _ => broken("it does not begin like one"),
        })?;
        let (sum, body) = rest.split_first_chunk::<8>().ok_or_else(|| broken("it is cut off"))?;
        if u64::from_le_bytes(*sum) != checksum(body) {
            return Err(broken("its checksum is wrong"));
        }
        let saved = postcard::from_bytes::<(State, SavedMemories)>(body);
        let (mut state, memories) = saved.map_err(|error| broken(&error.to_string()))?;
        let pool = threads.map(builder::pool).transpose()?;
        let mut stages = Stages::new(&state.models).map_err(BuildError::from)?;
        stages.load_memories(memories)?;
        let pending = std::mem::take(&mut state.pending);
        let mut crowd = Crowd::around(state, stages, pool);
        // What setting it up leaves to be done had been done before it was saved.
        crowd.state.pending = pending;
        Ok(crowd)
    }
}

/// FNV-1a, eight bytes at a time: tells a torn file from a whole one.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    let word =
        |chunk: &[u8]| chunk.iter().fold(chunk.len() as u64, |word, &byte| word << 8 | u64::from(byte));
    bytes.chunks(7).fold(0xcbf2_9ce4_8422_2325, |hash, chunk| {
        (hash ^ word(chunk)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
    })
}

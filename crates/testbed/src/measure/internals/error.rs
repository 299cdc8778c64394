use super::read::{MAX_BYTES, MAX_POLLS};
use std::io;

/// Why a dump of chrome://webrtc-internals cannot be used. Prints as `what is wrong; suggestion`,
/// on one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DumpError {
    /// The file cannot be read or unpacked.
    #[error("cannot read it: {0}; name another file")]
    Read(io::Error),
    /// The file is too large.
    #[error("larger than {} MB unpacked; make a dump of a shorter call", MAX_BYTES >> 20)]
    TooLarge,
    /// The file is damaged, and nothing before the damage is usable.
    #[error("{0}; {HOW_TO}")]
    Cut(Cut),
    /// The file is not JSON.
    #[error("not a dump of webrtc-internals: not JSON ({0}); {HOW_TO}")]
    NotJson(serde_json::Error),
    /// The JSON has no peer connections.
    #[error("not a dump of webrtc-internals: it has no 'PeerConnections'; {HOW_TO}")]
    NoConnections,
    /// The dump has the statistics that Chrome had before webrtc-stats.
    #[error(
        "the dump holds only the legacy statistics of Chrome, of type 'ssrc', with names that begin \
         with 'goog'; make one with a newer version, or select 'Standardized (promise-based) \
         getStats()' before the call"
    )]
    LegacyStatistics,
    /// The dump has no RTP streams.
    #[error("the dump holds no statistics of RTP streams; {HOW_TO}")]
    NoRtp,
    /// The page asked for statistics too often; how often.
    #[error(
        "statistics were polled {0} times, more than {MAX_POLLS}; make a dump of a shorter call"
    )]
    TooManyPolls(usize),
    /// The times of the statistics lie too far apart, or not after 1970.
    #[error("the times of its statistics are not usable; make another dump")]
    Times,
    /// The run would be too large.
    #[error("{series} series of {samples} samples are too many; make a dump of a shorter call")]
    TooManyValues {
        /// Members of statistics objects.
        series: usize,
        /// Samples of the run.
        samples: usize,
    },
}

/// Where a dump is damaged. What is before it is kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {why}")]
pub struct Cut {
    /// The byte, from the begin of the unpacked file.
    pub offset: u64,
    /// The reason.
    pub why: String,
}

const HOW_TO: &str = "make one at chrome://webrtc-internals with 'Create a WebRTC-Internals dump' \
                      during the call";

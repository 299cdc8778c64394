//! Dumps of chrome://webrtc-internals, read and written.

//! Sound and picture for the browsers, made by ffmpeg and cached.

//! Models of audio.

pub(crate) mod audio_classifier;
pub(crate) mod wav2vec2;
pub(crate) mod whisper;

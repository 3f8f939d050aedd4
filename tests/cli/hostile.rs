//! Hostile names, paths and files.

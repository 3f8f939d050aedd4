//! Files in this repository that are written by testgen are current.

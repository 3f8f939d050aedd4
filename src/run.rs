//! Running a suite.

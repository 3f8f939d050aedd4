//! `testgen show`: what a project has and what testgen knows.

mod completions;
mod models;
mod operators;
mod rules;
mod schema;
mod specs;

//! stub
/// stub
#[derive(Debug, serde::Deserialize)]
pub struct Ci {}

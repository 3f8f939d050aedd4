//! The rank in the path of a log: `20260822_rank3.log` of DeepSpeed,
//! `nemo_log_globalrank-3_localrank-0.txt` of NeMo, `attempt_0/3/stdout.log` of torchrun.

use std::path::{Component, Path};

/// The rank of the process that wrote a file, by its path below the searched directory.
pub(super) fn rank_of_path(path: &Path) -> Option<u32> {
    let names: Vec<String> = path
        .components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_string_lossy().to_ascii_lowercase()),
            _ => None,
        })
        .collect();
    // The name of the file says more than the names of its directories.
    let named = names.iter().rev().find_map(|name| rank_of_name(name));
    named.or_else(|| {
        names.windows(2).find_map(|pair| {
            pair[0].strip_prefix("attempt_")?.parse::<u32>().ok()?;
            pair[1].parse().ok()
        })
    })
}

/// The number after `rank` in a lower-case name.
fn rank_of_name(name: &str) -> Option<u32> {
    name.match_indices("rank").find_map(|(position, word)| {
        let before = name[..position].trim_end_matches(['_', '-']);
        // A local rank is not the rank of a run with several hosts.
        if before.ends_with("local") || before.ends_with("node") {
            return None;
        }
        let rest = name[position + word.len()..].trim_start_matches(['_', '-', '.', '=', '[']);
        let digits = rest.find(|c: char| !c.is_ascii_digit());
        rest[..digits.unwrap_or(rest.len())].parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::rank_of_path;
    use std::path::Path;

    #[test]
    fn ranks_of_launchers_are_read() {
        let expected = [
            ("20260822101112_rank3.log", Some(3)),
            ("nemo_log_globalrank-3_localrank-0.txt", Some(3)),
            ("nemo_log_localrank-0_globalrank-3.txt", Some(3)),
            ("run/attempt_0/5/stdout.log", Some(5)),
            ("rank_7/stdout.log", Some(7)),
            ("RANK-0.out", Some(0)),
            ("local_rank0.log", None),
            ("ranking.log", None),
            ("ranking_3.log", None),
            ("slurm-123.out", None),
            ("attempt_x/5/stdout.log", None),
            ("rank99999999999.log", None),
        ];
        for (path, rank) in expected {
            assert_eq!(rank_of_path(Path::new(path)), rank, "`{path}`");
        }
    }
}

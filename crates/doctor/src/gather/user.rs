//! The user of this process, and the names of groups.

use crate::facts::{User, UserGroup};
use std::collections::BTreeMap;
use testgen_device::System;

/// The accounts of the system, from `/etc/passwd` and `/etc/group`.
pub(super) struct Accounts {
    users: BTreeMap<u32, String>,
    groups: BTreeMap<u32, String>,
    /// The names of the members, by group.
    members: BTreeMap<String, Vec<String>>,
}

impl Accounts {
    pub(super) fn read(system: &System) -> Self {
        let (passwd, group) = (
            entries(system, "/etc/passwd"),
            entries(system, "/etc/group"),
        );
        let members = group.iter().filter_map(|fields| {
            Some((
                fields.first()?.clone(),
                // A line of `/etc/group`: name, password, number, members.
                fields.get(3)?.split(',').map(str::to_owned).collect(),
            ))
        });
        Self {
            users: names_by_number(&passwd),
            groups: names_by_number(&group),
            members: members.collect(),
        }
    }

    pub(super) fn group(&self, id: u32) -> UserGroup {
        UserGroup {
            id,
            name: self.groups.get(&id).cloned(),
        }
    }

    /// The user and the groups of this process, from `/proc/self/status`.
    pub(super) fn user(&self, system: &System) -> User {
        let status = system.read("/proc/self/status").unwrap_or_default();
        // The effective ids are the second ones.
        let id = numbers(&status, "Uid:").get(1).copied();
        let id = id.unwrap_or_default();
        let mut groups: Vec<u32> = numbers(&status, "Gid:")
            .get(1)
            .copied()
            .into_iter()
            .chain(numbers(&status, "Groups:"))
            .collect();
        groups.sort_unstable();
        // The first group of a process is often in the list of its other groups, too.
        groups.dedup();
        let name = self.users.get(&id).cloned();
        let account = self
            .members
            .iter()
            .filter(|(_, members)| members.iter().any(|member| name.as_ref() == Some(member)));
        User {
            id,
            account_groups: account.map(|(group, _)| group.clone()).collect(),
            groups: groups.into_iter().map(|id| self.group(id)).collect(),
            name,
        }
    }
}

/// The numbers of the line of `status` that begins with `key`.
fn numbers(status: &str, key: &str) -> Vec<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    line.unwrap_or_default()
        .split_whitespace()
        .filter_map(|number| number.parse().ok())
        .collect()
}

/// The fields of each line.
fn entries(system: &System, path: &str) -> Vec<Vec<String>> {
    let text = system.read(path).unwrap_or_default();
    text.lines()
        .map(|line| line.split(':').map(str::to_owned).collect())
        .collect()
}

fn names_by_number(entries: &[Vec<String>]) -> BTreeMap<u32, String> {
    entries
        .iter()
        .filter_map(|fields| Some((fields.get(2)?.parse().ok()?, fields.first()?.clone())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::Accounts;
    use std::fs;
    use testgen_device::System;

    #[test]
    fn process_and_account_may_have_other_groups() {
        let root = tempfile::tempdir().expect("the temporary directory can be written");
        for directory in ["etc", "proc/self"] {
            fs::create_dir_all(root.path().join(directory)).expect("the directory can be made");
        }
        let write = |path: &str, text: &str| {
            fs::write(root.path().join(path), text).expect("the file can be written")
        };
        write(
            "etc/passwd",
            "root:x:0:0::/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\n",
        );
        write(
            "etc/group",
            "video:x:44:ada\nrender:x:109:bob,ada\nada:x:1000:\n",
        );
        write(
            "proc/self/status",
            "Name:\tx\nUid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nGroups:\t44 7 \n",
        );
        let system = System::fake(root.path(), [("A", "b")], []);
        let user = Accounts::read(&system).user(&system);
        assert_eq!((user.id, user.name.as_deref()), (1000, Some("ada")));
        let groups: Vec<(u32, Option<&str>)> = user
            .groups
            .iter()
            .map(|group| (group.id, group.name.as_deref()))
            .collect();
        assert_eq!(
            groups,
            [(7, None), (44, Some("video")), (1000, Some("ada"))]
        );
        assert_eq!(user.account_groups, ["render", "video"]);
    }
}

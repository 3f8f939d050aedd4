//! Configurations of `testgen matrix`: one, three and fifty runners.

/// The smallest valid runner.
pub(crate) const ONE: &str = "\
[ci]
timeout_minutes = 45

[[ci.runner]]
name = \"mi300x\"
device = \"rocm\"
family = \"gfx942\"
labels = [\"self-hosted\", \"linux\", \"mi300x\"]
image = \"rocm/dev-ubuntu-24.04@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"
tiers = [\"postsubmit\"]
render_group = 109
node_selector = { \"amd.com/gpu.product-name\" = \"AMD_Instinct_MI300X\" }
slurm = { options = [\"--partition=mi300x\", \"--constraint=gfx942&nps1\"], modules = [\"rocm/6.4.1\"] }
";

/// Two that share the slices of a night and one that is advisory, so that every kind of entry is in
/// the files.
pub(crate) const THREE: &str = "\
[ci.shards]
rocm = 3

[[ci.runner]]
name = \"h100\"
device = \"cuda\"
family = \"sm_90\"
labels = [\"self-hosted\", \"h100\"]
tiers = [\"presubmit\", \"nightly\"]
blocking = false

[[ci.runner]]
name = \"mi300x-a\"
device = \"rocm\"
family = \"gfx942\"
labels = [\"self-hosted\", \"mi300x-a\"]
tiers = [\"nightly\"]
precisions = [\"f32\"]
weight = 2
gpus = 8

[[ci.runner]]
name = \"mi300x-b\"
device = \"rocm\"
family = \"gfx942\"
labels = [\"self-hosted\", \"mi300x-b\"]
tiers = [\"nightly\"]
precisions = [\"f32\"]
gpus = 8
";

/// A node with three GPUs, for two engines.
pub(crate) const ENGINES: &str = "\
engines = [\"native\", \"torch\"]

[ci.cpu]
python = \".venv/bin/python\"

[[ci.runner]]
name = \"mi300x\"
device = \"rocm\"
family = \"gfx942\"
labels = [\"self-hosted\", \"mi300x\"]
tiers = [\"nightly\"]
precisions = [\"f32\"]
gpus = 3
python = \"/opt/venv/bin/python\"
";

/// Fifty runners of both vendors in five families, of every tier and weight, some of them advisory.
pub(crate) fn fifty() -> String {
    let mut text = String::from("[ci.shards]\nrocm = 12\n\n");
    let families = [
        ("cuda", "sm_90"),
        ("cuda", "sm_80"),
        ("rocm", "gfx942"),
        ("rocm", "gfx90a"),
        ("rocm", "gfx1100"),
    ];
    let tiers = [
        "\"presubmit\"",
        "\"postsubmit\", \"nightly\"",
        "\"nightly\"",
    ];
    for index in 0..50 {
        let (device, family) = families[index % families.len()];
        let tiers = tiers[index / 5 % tiers.len()];
        let (weight, gpus) = (
            u32::from(index % 20 == 0) + 1,
            if index % 10 == 4 { 8 } else { 1 },
        );
        let blocking = index % 7 != 0;
        let precisions = if index % 10 == 3 {
            "precisions = [\"f32\"]\n"
        } else {
            ""
        };
        text.push_str(&format!(
            "[[ci.runner]]\nname = \"gpu-{index}\"\ndevice = \"{device}\"\nfamily = \"{family}\"\nlabels = [\"self-hosted\", \
             \"gpu-{index}\"]\nweight = {weight}\ngpus = {gpus}\ntiers = [{tiers}]\nblocking = {blocking}\n{precisions}\n"
        ));
    }
    text
}

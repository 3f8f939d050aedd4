# Shortcuts; the README and .ci/run contain the commands in full.

# Generate, verify, build and run the suite.
run *arguments:
    cargo run -- run {{arguments}}

# All tests of the workspace, including the suite.
test:
    cargo test --workspace

# What CI checks.
ci:
    bash .ci/run

# Write generated/ and the generated parts of docs/ again.
regenerate:
    cargo run -- generate
    UPDATE_DOCS=1 cargo test -p testgen -p testgen-verify

# Make the fixtures again (Python with torch and transformers).
fixtures *names:
    python3 python fixtures.make {{names}}

# Check the Python code, with the tests that run a model (Python as above, with ruff and pytest).
python python="python3":
    {{python}} -m ruff check .
    {{python}} -m pytest python/tests

# Check random configurations of model types on the CPU (Python as above). They replace the suite, which is restored at the end.
vary *types:
    #!/usr/bin/env bash
    set -euo pipefail
    rm -rf target/vary
    python3 python fixtures.vary --out target/vary/checkpoints {{types}}
    for checkpoint in target/vary/checkpoints/*; do cargo run --quiet -- add "$checkpoint" --specs target/vary/specs; done
    trap 'cargo run --quiet -- generate' EXIT
    cargo run --quiet -- generate --specs target/vary/specs
    cargo test --workspace --test conformance -- cpu::

# The wide models natively and with PyTorch on the CPU, and the table of docs/measurements/wide.md (Python with torch and transformers).
wide python="python3":
    #!/usr/bin/env bash
    set -euo pipefail
    {{python}} python fixtures.wide
    export ONEDNN_MAX_CPU_ISA=AVX512_CORE_FP16 OMP_NUM_THREADS=1
    reports=()
    for engine in native torch; do
        cargo run --quiet -- run --name '*_wide' --device cpu --engine "$engine" --python {{python}} --report "target/testgen/wide-$engine.jsonl"
        reports+=("target/testgen/wide-$engine.jsonl")
    done
    {{python}} python fixtures.wide_page "${reports[@]}"

# The wide models on a simulated AMD GPU, a job for a night; `.ci/run` has two of them.
wide-simulated architecture="gfx1100":
    cargo run -- run --name '*_wide' --device rocm --simulate rocm={{architecture}} --report target/testgen/wide-{{architecture}}.jsonl

# Models of published sizes in every column that is named, for example `just published cuda native torch`. Their weights are computed from a
# seed: up to 3 GB each in TESTGEN_CACHE. They replace the suite, which is restored at the end. A job for a GPU: minutes there, hours on two cores.
published device="cpu" *engines:
    #!/usr/bin/env bash
    set -euo pipefail
    cargo build --quiet
    trap 'target/debug/testgen generate' EXIT
    engines=()
    for engine in {{engines}}; do engines+=(--engine "$engine"); done
    target/debug/testgen run --specs fixtures/published "${engines[@]}" --device {{device}} --report target/testgen/published.jsonl

# Texts of 16384 tokens in every column that is named, for example `just long cuda native torch`; 4096 on a CPU. They replace the suite, which
# is restored at the end. Minutes on a GPU.
long device="cpu" *engines:
    #!/usr/bin/env bash
    set -euo pipefail
    cargo build --quiet
    trap 'target/debug/testgen generate' EXIT
    engines=()
    for engine in {{engines}}; do engines+=(--engine "$engine"); done
    target/debug/testgen run --specs fixtures/long --stress "${engines[@]}" --device {{device}} --report target/testgen/long.jsonl

# Shows that faults in long texts are red (Python with torch and transformers). The long models are in the suite meanwhile.
long-faults device="cpu" python="python3":
    #!/usr/bin/env bash
    set -euo pipefail
    cargo build --quiet
    trap 'target/debug/testgen generate --quiet' EXIT
    target/debug/testgen generate --quiet --specs fixtures/long
    cargo test --workspace --test conformance --no-run
    suite=$(find "${CARGO_TARGET_DIR:-target}/debug/deps" -name 'conformance-*' -executable -type f -printf '%T@ %p\n' | sort -rn | head -1 | cut -d' ' -f2)
    {{python}} python faults.run "$suite" {{device}}

# Every check of the checkpoints in fixtures/any, or of the named ones, with PyTorch on the CPU (Python with torch and transformers): 16
# minutes on two busy cores. They replace the suite, which is restored at the end.
any python="python3" *names:
    #!/usr/bin/env bash
    set -euo pipefail
    names=({{names}})
    [ ${#names[@]} -gt 0 ] || names=($(ls fixtures/any))
    rm -rf target/testgen/any
    cargo build --quiet
    trap 'target/debug/testgen generate' EXIT
    for name in "${names[@]}"; do target/debug/testgen add "fixtures/any/$name" --specs target/testgen/any/specs; done
    export ONEDNN_MAX_CPU_ISA=AVX512_CORE_FP16 OMP_NUM_THREADS=1
    target/debug/testgen run --specs target/testgen/any/specs --engine torch --engine torch/eager --python {{python}} --device cpu \
        --report target/testgen/any.jsonl

# docs/measurements/every-type.md: a checkpoint of each type without a native implementation, made and recorded automatically, and every
# check of it with PyTorch on each device (Python with torch and transformers; `just every python3 16 "cpu cuda"`). A job for a night: more
# than an hour on two cores. The suite is built outside of the workspace, without burn. With `TYPES="yoso xlstm"` only these types are
# measured, and the page keeps the results of the others (docs/measurements/every-type.jsonl.gz).
every python="python3" jobs="2" devices="cpu":
    #!/usr/bin/env bash
    set -euo pipefail
    cargo build --quiet
    root=$PWD work=${XDG_CACHE_HOME:-$HOME/.cache}/testgen-every
    rm -rf "$work"; mkdir -p "$work"
    {{python}} python fixtures.shrunk --out "$work/checkpoints" --jobs {{jobs}} --limit 400 ${TYPES:-}
    cd "$work"
    for checkpoint in checkpoints/*/; do "$root/target/debug/testgen" add "$checkpoint" --specs specs; done
    export ONEDNN_MAX_CPU_ISA=AVX512_CORE_FP16 OMP_NUM_THREADS=1
    reports=()
    for device in {{devices}}; do
        "$root/target/debug/testgen" run --specs specs --runtime "$root/crates/runtime" --engine torch --python {{python}} \
            --device "$device" --report "every-$device.jsonl" || [ $? = 1 ]
        reports+=("$work/every-$device.jsonl")
    done
    cd "$root"
    {{python}} python fixtures.every_page docs/measurements/every-type.jsonl.gz "$work/checkpoints/summary.json" "${reports[@]}" \
        >"$work/every-type.md"
    cp "$work/every-type.md" docs/measurements/every-type.md

# Mutation testing of the verifier (cargo install cargo-mutants); an hour and more.
mutants *arguments:
    TESTGEN_SAMPLE=1 cargo mutants --package testgen-verify {{arguments}}

# The mutation proof at every place of every model.
proof:
    TESTGEN_ALL_MUTANTS=1 cargo test -p testgen-verify -- no_broken_harness no_harmless_change

# Advisories of the day, licences, sources and duplicates of the dependencies (cargo install cargo-deny). `.ci/run` checks the same with a
# copy of the advisories, which `python3 tests/supply_chain/update.py DATABASE` renews.
deny:
    cargo deny check advisories bans licenses sources

# Measures what the suite detects: a fault of each kind in each fixture, compared with transformers (Python as above). Some minutes.
seeded python="python3" *names:
    #!/usr/bin/env bash
    set -euo pipefail
    cargo test --workspace --test conformance --no-run
    suite=$(find "${CARGO_TARGET_DIR:-target}/debug/deps" -name 'conformance-*' -executable -type f -printf '%T@ %p\n' | sort -rn | head -1 | cut -d' ' -f2)
    {{python}} python fixtures.seeded --suite "$suite" --table docs/measurements/seeded-faults.md {{names}}

# Fuzz what is read of others: each target for so many seconds, an hour without an argument. Prints the number of executions. Inputs that
# fail are below target/fuzz/; keep them in tests/fuzz/.
fuzz seconds="3600":
    TESTGEN_FUZZ_SECONDS={{seconds}} cargo test --release --no-default-features --features testgen-operators/cases --lib --no-fail-fast \
        -p testgen -p testgen-checkpoints -p testgen-engine -p testgen-logs -p testgen-nn -p testgen-operators -p testgen-processing -p testgen-runtime -- fuzz --nocapture

# Speed of the generator and the verifier, then of the models against PyTorch.
bench:
    cargo bench -p testgen
    cargo bench -p testgen-verify
    cargo bench -p testgen-runtime

# Shows that faults in the models of the engine `torch` are red (Python with torch and transformers). Some minutes. Five types without a
# native implementation are in the suite meanwhile.
engine-faults python="python3":
    #!/usr/bin/env bash
    set -euo pipefail
    cargo build --quiet
    trap 'rm -rf model_specs/any; target/debug/testgen generate --quiet' EXIT
    for name in smollm3 gpt_oss mbart beit falcon_mamba; do target/debug/testgen add "fixtures/any/$name" --specs model_specs/any >/dev/null; done
    target/debug/testgen generate --quiet
    cargo test --workspace --test conformance --no-run
    suite=$(find "${CARGO_TARGET_DIR:-target}/debug/deps" -name 'conformance-*' -executable -type f -printf '%T@ %p\n' | sort -rn | head -1 | cut -d' ' -f2)
    {{python}} python faults.run "$suite"

#!/usr/bin/env python3
"""Shows that a fault in the engine's model makes a check fail: `python3 python faults.run SUITE [DEVICE]`.

SUITE is the test binary of `generated/`, DEVICE is `cpu` or `cuda`. Run it with a Python that has torch and transformers. Each fault runs
one check of one model of the suite; without a fault the same checks pass.
The output is a table of the faults with their errors. Exit code 1 if a fault is not red, or a check without a fault is.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.path.dirname(HERE)
ROOT = os.path.dirname(PYTHON)
ERROR = re.compile(r"error rel-L2 (\S+) \(threshold (\S+)\)")

# The fault, its model, the check that has to fail, and what the fault is.
FAULTS = [
    ("eps", "encoder_only::bert", "output_golden_f32", "epsilon of every norm plus 1e-4"),
    ("bias", "encoder_only::bert", "output_golden_f32", "one bias is zero"),
    ("activation", "encoder_only::bert", "output_golden_f32", "GELU by tanh in place of erf"),
    ("position_offset", "encoder_only::bert", "output_golden_f32", "positions are shifted by one"),
    ("token_type", "encoder_only::bert", "output_golden_f32", "token types are ignored"),
    ("pooler_activation", "encoder_only::bert", "output_golden_f32", "the pooler has no tanh"),
    ("mask", "encoder_only::bert", "mask_golden", "the mask is ignored"),
    ("eps", "decoder_only::llama", "output_golden_f32", "epsilon of every norm plus 1e-4"),
    ("rope_base", "decoder_only::llama", "output_golden_f32", "frequencies to the power of 1.01"),
    ("one_head", "decoder_only::llama", "output_golden_f32", "one head is zero"),
    ("scale", "decoder_only::llama", "output_golden_f32", "scale of one attention times 1.01"),
    ("norm_order", "decoder_only::llama", "output_golden_f32", "two norms are swapped"),
    ("cache_off_by_one", "decoder_only::llama", "kv_cache_equivalence", "positions after the cache are one too high"),
    ("tied_head", "decoder_only::llama", "output_golden_f32", "the head is tied to the embeddings"),
    ("layer_skipped", "decoder_only::llama", "output_golden_f32", "the last layer is left out"),
    ("head_order", "decoder_only::llama", "output_golden_f32", "key heads are rotated"),
    ("gate_and_up", "decoder_only::llama", "output_golden_f32", "gate and up projection are swapped"),
    ("embedding_scale", "decoder_only::gemma", "output_golden_f32", "embeddings are not scaled"),
    ("window_off_by_one", "decoder_only::mistral", "output_golden_f32", "the sliding window is one longer"),
    ("soft_cap", "decoder_only::gemma2", "output_golden_f32", "logits are not capped"),
    ("expert_order", "moe::mixtral", "output_golden_f32", "experts are rotated"),
    ("relative_bias", "encoder_decoder::t5", "output_golden_f32", "relative biases of another head"),
    ("batch_norm_eps", "vision::resnet_basic", "output_golden_f32", "epsilon of batch norms is 1e-3"),
    ("pixel_channels", "vision::vit", "output_golden_f32", "channels are reversed"),
    ("sdpa_only", "decoder_only::llama", "attention_paths_f32", "queries of `sdpa` times 1.001"),
    ("batched_experts_only", "moe::mixtral", "expert_paths_f32", "weights of `batched_mm` times 1.001"),
    ("paligemma", "multimodal::llava", "attention_paths_f32", "PaliGemma without `token_type_ids` in the model's place"),
    # Types without a native implementation.
    ("eps", "decoder_only::smollm3", "output_golden_f32", "epsilon of every norm plus 1e-4"),
    ("rope_base", "decoder_only::smollm3", "output_golden_f32", "frequencies to the power of 1.01"),
    ("rope_everywhere", "decoder_only::smollm3", "output_golden_f32", "positions are rotated in the layer without, too"),
    ("scale", "decoder_only::smollm3", "output_golden_f32", "scale of one attention times 1.01"),
    ("cache_off_by_one", "decoder_only::smollm3", "kv_cache_equivalence", "positions after the cache are one too high"),
    ("mask", "decoder_only::smollm3", "mask_golden", "the mask is ignored"),
    ("no_sinks", "moe::gpt_oss", "output_golden_f32", "attention has no sinks"),
    ("window_off_by_one", "moe::gpt_oss", "output_golden_f32", "the sliding window is one longer"),
    ("expert_order", "moe::gpt_oss", "output_golden_f32", "experts are rotated"),
    ("router_bias", "moe::gpt_oss", "output_golden_f32", "the router has no bias"),
    ("gate_alpha", "moe::gpt_oss", "output_golden_f32", "the gate's alpha is 1.7 in place of 1.702"),
    ("frequency_scaling", "moe::gpt_oss", "output_golden_f32", "YaRN's attention factor is left out"),
    ("embedding_positions", "encoder_decoder::mbart", "output_golden_f32", "positions are shifted by one"),
    ("cross_attention", "encoder_decoder::mbart", "output_golden_f32", "the last cross attention is left out"),
    ("decoder_activation", "encoder_decoder::mbart", "output_golden_f32", "GELU by tanh in place of erf, in one layer of the decoder"),
    ("mask", "encoder_decoder::mbart", "mask_golden", "the mask of the encoder is ignored"),
    ("layer_scale", "vision::beit", "output_golden_f32", "one layer scale is left out"),
    ("pooled_class_token", "vision::beit", "output_golden_f32", "the first token is averaged, too"),
    ("pixel_channels", "vision::beit", "output_golden_f32", "channels are reversed"),
    ("eps", "vision::beit", "output_golden_f32", "epsilon of every norm plus 1e-4"),
    ("state_decay", "ssm::falcon_mamba", "output_golden_f32", "the state decays 1 % faster"),
    ("no_skip", "ssm::falcon_mamba", "output_golden_f32", "the state's input is not added to its output"),
    ("time_step_norm", "ssm::falcon_mamba", "output_golden_f32", "time steps are not normalised"),
    ("convolution_order", "ssm::falcon_mamba", "output_golden_f32", "the taps of the convolution are reversed"),
    # Long texts.
    ("window_off_by_one", "decoder_only::mistral_long", "long_text", "the sliding window is one longer"),
    ("window_too_small", "decoder_only::mistral_long", "long_text", "the sliding window is one shorter"),
    ("half_positions", "decoder_only::llama_long", "long_text", "positions are in float16"),
    ("cache_off_by_one", "decoder_only::qwen3_long", "long_text", "positions after the cache are one too high"),
    ("stale_page", "decoder_only::llama_long", "long_text", "64 cached keys are those of other tokens"),
    ("short_cache", "decoder_only::qwen3_long", "long_text", "cached keys are zero before the last 2048"),
    ("chunk_mask", "decoder_only::llama_long", "long_text", "the mask of a chunk begins at the first key"),
    ("tile_tail", "decoder_only::qwen3_long", "long_text", "the key after the last whole tile of 64 is left out"),
    ("rounded_queries", "decoder_only::llama_long", "long_text", "above 2048 tokens queries are rounded to bfloat16"),
    ("stale_values", "decoder_only::gemma2_long", "long_text", "64 cached values are those of other tokens"),
    ("half_positions", "decoder_only::qwen3_long", "long_text", "positions are in float16"),
]


def result(suite, device, fault, model, check):
    """Status and reason of a check with the fault."""
    with tempfile.TemporaryDirectory() as directory:
        report = os.path.join(directory, "report.jsonl")
        environment = os.environ | {
            "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", ""),
            "CARGO_MANIFEST_DIR": os.path.join(ROOT, "generated"),
            # Not in the place of `torch`, which is the reference of types without a native implementation.
            "TESTGEN_ENGINES": "faulty",
            "TESTGEN_ENGINE_FAULTY": os.path.join(HERE, "faulty_engine.py"),
            "TESTGEN_PYTHON": sys.executable,
            "TESTGEN_FAULT": fault,
            # Checks of long texts run on request.
            "TESTGEN_STRESS": "1",
            # The engine is a program, and its packages are beside it.
            "PYTHONPATH": PYTHON,
            "TESTGEN_REPORT": report,
        }
        test = f"{model}::{device}::{check}@faulty"
        ran = subprocess.run([suite, "--exact", test], env=environment, capture_output=True, text=True, cwd=ROOT, check=False)
        if not os.path.exists(report):
            return "absent", f"the suite has no test {test}: {ran.stderr[-200:]}"
        with open(report, encoding="utf-8") as file:
            line = file.readline()
    entry = json.loads(line) if line else {"status": "absent", "reason": f"the suite has no test {test}"}
    return entry["status"], entry.get("reason", "").split("\n")[0]


def effect(status, reason):
    """The threshold of the error, or nothing, and the error or the reason."""
    error = ERROR.search(reason)
    limit, text = (f"{float(error[2]):.0e}", f"{float(error[1]):.0e}") if error else ("", reason[:80])
    return limit, text if status == "fail" else f"**{status}** {text}"


def table(faults, results):
    """A row for each model, check and threshold, with the errors of the faults."""
    rows = {}
    for (_, model, check, what), outcome in zip(faults, results, strict=True):
        limit, text = effect(*outcome)
        rows.setdefault((model.split("::")[1], check, limit), []).append(f"{what}: {text}")
    lines = (f"| {model}, `{check}` | {limit} | {'; '.join(effects)} |" for (model, check, limit), effects in rows.items())
    return "\n".join(["| model, check | threshold | faults with their errors |\n|---|---|---|", *lines])


def main():
    """Runs every fault, and each of their checks without one."""
    suite, device = os.path.abspath(sys.argv[1]), (sys.argv[2:] or ["cpu"])[0]
    faults = [row for row in FAULTS if os.path.isfile(os.path.join(ROOT, "generated/src", *row[1].split("::")) + ".rs")]
    checks = sorted({row[1:3] for row in faults})
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        faulty = list(threads.map(lambda row: result(suite, device, *row[:3]), faults))
        without = list(threads.map(lambda row: result(suite, device, "none", *row), checks))
    print(table(faults, faulty))
    wrong = [f"{', '.join(row[:3])}: {status}: {reason}" for row, (status, reason) in zip(faults, faulty, strict=True) if status != "fail"]
    for (model, check), (status, reason) in zip(checks, without, strict=True):
        if status != "pass":
            wrong.append(f"{model}, {check} without a fault: {status}: {reason}")
    print(f"{len(faults)} faults, {len(checks)} checks without a fault; wrong: {len(wrong)}", *wrong, sep="\n", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

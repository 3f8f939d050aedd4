//! Each trainer's own form, with random numbers. Written from the sources that `docs/logs.md`
//! names, not from the definitions.

mod megatron;
mod memory;

use super::printed::{Printed, Printer, commas, exponent, four, one, shortest, two};
use crate::{format::LogFormat, metric::Metric, unit::GIB};
use megatron::{
    deepspeed_progress, deepspeed_timer, gpt_neox, megatron, megatron_deepspeed, primus,
};
use memory::{
    deepspeed_memory, hugging_face_run, hugging_face_tokens, megatron_memory, torch_memory,
};
use testgen_fuzz::Random;

/// Prints a step with random numbers.
pub(super) type Print = fn(&mut Random) -> Printed;

pub(super) const PRINTERS: &[(LogFormat, Print)] = &[
    (LogFormat::Torchtitan, torchtitan),
    (LogFormat::Megatron, megatron),
    (LogFormat::Megatron, megatron_deepspeed),
    (LogFormat::Primus, primus),
    (LogFormat::GptNeox, gpt_neox),
    (LogFormat::DeepSpeed, deepspeed_timer),
    (LogFormat::DeepSpeed, deepspeed_progress),
    (LogFormat::Nemo, nemo),
    (LogFormat::Lightning, lightning),
    (LogFormat::HuggingFace, hugging_face),
    (LogFormat::NanoGpt, nano_gpt),
    (LogFormat::LlmC, llm_c),
    (LogFormat::Nanotron, nanotron),
    (LogFormat::MaxText, max_text),
    (LogFormat::Torchtune, torchtune),
    (LogFormat::Composer, composer),
    (LogFormat::Olmo, olmo),
    (LogFormat::Fairseq, fairseq_json),
    (LogFormat::Fairseq, fairseq_simple),
    (LogFormat::LitGpt, lit_gpt),
    (LogFormat::MmEngine, mm_engine),
    (LogFormat::Megatron, megatron_memory),
    (LogFormat::DeepSpeed, deepspeed_memory),
    (LogFormat::HuggingFace, hugging_face_run),
    (LogFormat::HuggingFace, hugging_face_tokens),
    (LogFormat::TorchMemory, torch_memory),
];

fn torchtitan(random: &mut Random) -> Printed {
    let line = Printer::new(random)
        .text("[titan] \u{1b}[31mstep: ")
        .step(2)
        .text("  \u{1b}[32mloss: ");
    let line = line
        .number(Metric::Loss, 12.0, |loss| format!("{loss:8.5}"), 1.0)
        .text("  \u{1b}[38;2;180;60;0mgrad_norm: ");
    let line = line
        .number(Metric::GradNorm, 9.0, |norm| format!("{norm:7.4}"), 1.0)
        .text("  \u{1b}[39mmemory: ");
    let line = line
        .number(Metric::Memory, 192.0, two, GIB)
        .text("GiB(98.50%)  \u{1b}[34m")
        .any(&["tps", "wps"])
        .text(": ");
    let line = line
        .number(Metric::TokensPerSecondPerDevice, 5e6, commas, 1.0)
        .text("  \u{1b}[36mtflops: ");
    line.number(Metric::Tflops, 900.0, two, 1.0)
        .text("  \u{1b}[35mmfu: N/A\u{1b}[0m")
        .done()
}

fn nemo(random: &mut Random) -> Printed {
    let line = Printer::new(random)
        .text("Training epoch 0, iteration 7/149 | lr: ")
        .number(Metric::LearningRate, 1.0, four, 1.0);
    let line = line
        .text(" | consumed_samples: 121 | global_step: ")
        .step(0)
        .text(" | reduced_train_loss: ");
    let line = line
        .number(Metric::Loss, 12.0, four, 1.0)
        .text(" | train_step_timing in s: ");
    line.number(Metric::StepSeconds, 9.0, four, 1.0)
        .text(" | val_loss: 4.106")
        .done()
}

fn lightning(random: &mut Random) -> Printed {
    let line = Printer::new(random)
        .text("Epoch 0:   1%|\u{258f}         | ")
        .step(0)
        .text("/9999999 [11:04<14:01:28, ");
    let line = line
        .number(Metric::StepSeconds, 99.0, two, 1.0)
        .text("s/it, ")
        .any(&["loss=", "train_loss=", "train_loss_step="]);
    line.number(Metric::Loss, 12.0, four, 1.0)
        .text(", v_num=10]")
        .done()
}

fn hugging_face(random: &mut Random) -> Printed {
    let line = Printer::new(random)
        .text("{'loss': ")
        .number(Metric::Loss, 12.0, four, 1.0)
        .text(", 'grad_norm': '");
    let line = line
        .number(Metric::GradNorm, 99.0, shortest, 1.0)
        .text("', 'learning_rate': ");
    let line = line
        .number(Metric::LearningRate, 1.0, shortest, 1.0)
        .text(", 'memory/max_active (GiB)': '");
    let line = line
        .number(Metric::Memory, 192.0, two, GIB)
        .text("', 'tokens/train_per_sec_per_gpu': '");
    line.number(Metric::TokensPerSecondPerDevice, 9e3, two, 1.0)
        .text("', 'epoch': 1.0}")
        .counted()
}

fn nano_gpt(random: &mut Random) -> Printed {
    let line = Printer::new(random)
        .text("iter ")
        .step(0)
        .text(": loss ")
        .number(Metric::Loss, 12.0, four, 1.0);
    line.text(", time ")
        .number(Metric::StepSeconds, 9e4, two, 1e-3)
        .text("ms, mfu -100.00%")
        .done()
}

fn llm_c(random: &mut Random) -> Printed {
    let line = Printer::new(random)
        .text("step ")
        .step(4)
        .text("/1886500 | ")
        .any(&["loss ", "train loss "]);
    let line = line
        .number(Metric::Loss, 12.0, four, 1.0)
        .text(" (+nanz)| norm ")
        .number(Metric::GradNorm, 99.0, four, 1.0);
    let line = line
        .text(" (+nanz)| lr ")
        .number(Metric::LearningRate, 1e-3, exponent, 1.0)
        .any(&[" | ", " | ("]);
    let line = line
        .number(Metric::StepSeconds, 9e4, two, 1e-3)
        .text(" ms | 44.1% bf16 MFU | ");
    line.number(
        Metric::TokensPerSecond,
        9e6,
        |tokens| format!("{tokens:.0}"),
        1.0,
    )
    .text(" tok/s")
    .done()
}

fn nanotron(random: &mut Random) -> Printed {
    let line = Printer::new(random)
        .text("[INFO|DP=0|TP=0]: iteration: ")
        .step(0)
        .text(" / 1000 | time_per_iteration_ms: ");
    let line = line
        .number(Metric::StepSeconds, 99.0, two, 1.0)
        .text("K | tokens_per_sec: ")
        .number(Metric::TokensPerSecond, 99.0, two, 1e6);
    let line = line
        .text("M | tokens_per_sec_per_gpu: ")
        .number(Metric::TokensPerSecondPerDevice, 99.0, two, 1e3)
        .text("K | lm_loss: ");
    let line = line
        .number(Metric::Loss, 12.0, two, 1.0)
        .text(" | lr: ")
        .number(Metric::LearningRate, 1.0, four, 1.0);
    let line = line
        .text(" | model_tflops_per_gpu: ")
        .number(Metric::Tflops, 900.0, one, 1.0)
        .text(" | cuda_max_memory_reserved: ");
    line.number(Metric::Memory, 99.0, two, 1e9)
        .text("B | eta: 1:00")
        .done()
}

fn max_text(random: &mut Random) -> Printed {
    let line = Printer::new(random)
        .text("completed step: ")
        .step(0)
        .text(", seconds: ")
        .number(Metric::StepSeconds, 9.0, four, 1.0);
    let line = line
        .text(", TFLOP/s/device: ")
        .number(Metric::Tflops, 900.0, four, 1.0)
        .text(", Tokens/s/device: ");
    let line = line
        .number(Metric::TokensPerSecondPerDevice, 9e4, four, 1.0)
        .text(", total_weights: 65536, ");
    line.text("loss: ")
        .number(Metric::Loss, 12.0, four, 1.0)
        .text(", lm_loss: 10.870, perplexity: 52575.100")
        .done()
}

fn torchtune(random: &mut Random) -> Printed {
    let line = Printer::new(random)
        .text("Step ")
        .step(0)
        .text(" | loss:")
        .number(Metric::Loss, 12.0, shortest, 1.0)
        .text(" lr:");
    let line = line
        .number(Metric::LearningRate, 1.0, shortest, 1.0)
        .text(" tokens_per_second_per_gpu:");
    let line = line
        .number(Metric::TokensPerSecondPerDevice, 9e4, shortest, 1.0)
        .text(" peak_memory_active:");
    line.number(Metric::Memory, 192.0, shortest, GIB)
        .text(" peak_memory_alloc:15.25 ")
        .done()
}

fn composer(random: &mut Random) -> Printed {
    let block = Printer::new(random)
        .any(&["", "[epoch=1]"])
        .text("[batch=")
        .step(0)
        .text("/48000]:\n\t Train time/batch: 0\n\t ");
    let block =
        block
            .text("Train memory/peak_reserved_mem: ")
            .number(Metric::Memory, 192.0, four, 1e9);
    let block = block
        .text("\n\t Train loss/train/total: ")
        .number(Metric::Loss, 12.0, four, 1.0);
    let block = block
        .text("\n\t Train throughput/device/flops_per_sec: ")
        .number(Metric::Tflops, 9e14, four, 1e-12);
    let block = block.text("\n\t Train throughput/tokens_per_sec: ").number(
        Metric::TokensPerSecond,
        9e6,
        four,
        1.0,
    );
    block
        .text("\n\t Train lr-DecoupledAdamW/group0: ")
        .number(Metric::LearningRate, 1.0, four, 1.0)
        .block()
}

fn olmo(random: &mut Random) -> Printed {
    let block = Printer::new(random)
        .text("[step=")
        .step(0)
        .text("/739328,epoch=0]\n    train/CrossEntropyLoss=");
    let block = block
        .number(Metric::Loss, 12.0, four, 1.0)
        .text("\n    train/Perplexity=76,880\n    throughput/device/tokens_per_second=");
    let block = block
        .number(Metric::TokensPerSecondPerDevice, 9e4, commas, 1.0)
        .text("\n    System/Peak GPU Memory (MB)=");
    block
        .number(Metric::Memory, 9e4, commas, 1e6)
        .text("\n    optim/total_grad_norm=")
        .number(Metric::GradNorm, 9.0, four, 1.0)
        .block()
}

fn fairseq_json(random: &mut Random) -> Printed {
    let line = Printer::new(random)
        .text("| INFO | train_inner | {\"epoch\": 1, \"loss\": \"")
        .number(Metric::Loss, 12.0, four, 1.0);
    let line = line
        .text("\", \"wps\": \"")
        .number(Metric::TokensPerSecond, 9e4, one, 1.0)
        .text("\", \"num_updates\": \"")
        .step(0);
    let line = line
        .text("\", \"lr\": \"")
        .number(Metric::LearningRate, 1.0, shortest, 1.0)
        .text("\", \"gnorm\": \"");
    line.number(Metric::GradNorm, 99.0, four, 1.0)
        .text("\", \"wall\": \"105\"}")
        .done()
}

fn fairseq_simple(random: &mut Random) -> Printed {
    let line = Printer::new(random)
        .text("epoch 001:    450 / 1891 loss=")
        .number(Metric::Loss, 12.0, four, 1.0);
    let line = line
        .text(", nll_loss=10.881, wps=")
        .number(Metric::TokensPerSecond, 9e4, one, 1.0)
        .text(", num_updates=")
        .step(0);
    line.text(", lr=")
        .number(Metric::LearningRate, 1.0, shortest, 1.0)
        .text(", gnorm=")
        .number(Metric::GradNorm, 99.0, four, 1.0)
        .done()
}

fn lit_gpt(random: &mut Random) -> Printed {
    let line = Printer::new(random)
        .text("Epoch 4 | iter ")
        .step(0)
        .text(" step 9 | loss train: ")
        .number(Metric::Loss, 12.0, four, 1.0);
    line.text(", val: n/a | iter time: ")
        .number(Metric::StepSeconds, 9e4, two, 1e-3)
        .text(" ms (step)")
        .done()
}

fn mm_engine(random: &mut Random) -> Printed {
    let line = Printer::new(random)
        .any(&["Epoch(train)  [1][ ", "Iter(train) [ "])
        .step(0)
        .text("/9999999]  lr: ");
    let line = line
        .number(Metric::LearningRate, 1.0, four, 1.0)
        .text("  eta: 0:13:14  time: ")
        .number(Metric::StepSeconds, 9.0, four, 1.0);
    let line = line.text("  data_time: 0.0335  memory: ").number(
        Metric::Memory,
        9e4,
        |memory| format!("{memory:.0}"),
        1024.0 * 1024.0,
    );
    line.text("  loss: ")
        .number(Metric::Loss, 12.0, four, 1.0)
        .text("  loss_ce: 1.5")
        .done()
}

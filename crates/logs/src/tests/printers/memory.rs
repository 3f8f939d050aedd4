//! Lines about memory, and about the whole run.

use super::super::printed::{Printed, Printer, four, shortest, two};
use crate::{metric::Metric, unit::GIB};
use testgen_fuzz::Random;

pub(super) fn megatron_memory(random: &mut Random) -> Printed {
    let line = Printer::new(random)
        .text("(after ")
        .step(0)
        .text(" iterations) memory (MB) | allocated: 1570.77001953125 | max allocated: ");
    line.number(Metric::Memory, 2e5, shortest, 1024.0 * 1024.0)
        .text(" | reserved: 4020.0 | max reserved: 4020.0")
        .done()
}

pub(super) fn deepspeed_memory(random: &mut Random) -> Printed {
    let line = Printer::new(random)
        .text("[INFO] [utils.py:827:see_memory_usage] MA 4.96 GB         Max_MA ");
    line.number(Metric::Memory, 192.0, two, GIB)
        .text(" GB         CA 6.39 GB         Max_CA 6 GB ")
        .of_run()
}

pub(super) fn hugging_face_run(random: &mut Random) -> Printed {
    let line = Printer::new(random)
        .text("{'train_runtime': 437.8544, 'train_samples_per_second': ")
        .number(Metric::SamplesPerSecond, 900.0, four, 1.0);
    line.text(", 'train_loss': 0.4564213610768924, 'epoch': 3.0}")
        .of_run()
}

pub(super) fn hugging_face_tokens(random: &mut Random) -> Printed {
    let line = Printer::new(random)
        .text("{'loss': '")
        .number(Metric::Loss, 12.0, four, 1.0)
        .text("', 'num_input_tokens_seen': 4096, 'train_runtime': 2.5");
    line.text(", 'train_tokens_per_second': ")
        .number(Metric::TokensPerSecond, 9e5, four, 1.0)
        .text("}")
        .counted()
}

pub(super) fn torch_memory(random: &mut Random) -> Printed {
    let line = Printer::new(random).any(&[
        "torch.cuda.max_memory_allocated: ",
        "max_memory_allocated: ",
        "torch.cuda.max_memory_allocated() = ",
    ]);
    line.number(Metric::Memory, 192.0, four, GIB)
        .any(&["GB", " GiB", " (GB)"])
        .of_run()
}

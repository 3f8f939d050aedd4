//! Reports with every kind of fault, in the lines that suites write.

use crate::project::Project;

/// The line of one check; `rest` contains further fields, each followed by a comma.
pub(crate) fn line(
    model: &str,
    device: &str,
    check: &str,
    precision: &str,
    status: &str,
    rest: &str,
) -> String {
    let architecture = if model.starts_with("llama") {
        "decoder_only"
    } else {
        "encoder_only"
    };
    format!(
        "{{\"version\":1,\"model\":\"{model}\",\"architecture\":\"{architecture}\",\"device\":\"{device}\",\"check\":\
         \"{check}\",\"precision\":\"{precision}\",\"status\":\"{status}\",{rest}\"milliseconds\":12.5}}\n"
    )
}

/// One compared tensor; without an error it is NaN in two elements.
pub(crate) fn tensor(name: &str, error: Option<f64>, worst: &str) -> String {
    let (value, not_finite) = match error {
        Some(error) => (format!("{error:e}"), 0),
        None => (format!("{:e}", f64::MAX), 2),
    };
    let headroom = error.map_or(0.0, |error| 1e-3 / error);
    format!(
        "{{\"name\":\"{name}\",\"rel_l2\":{value},\"max_rel\":{value},\"rel_l2_threshold\":1e-3,\"max_rel_threshold\":\
         1e-3,\"headroom\":{headroom},\"non_finite\":{not_finite},\"worst\":[{worst}]}}"
    )
}

/// The fields of a device that ran.
pub(crate) fn on(name: &str) -> String {
    format!(
        "\"device_name\":\"{name}\",\"hardware\":{{\"architecture\":\"sm_90\",\"driver_version\":\"580.1\"}},\"testgen\":\
         \"0.1.0\",\"memory\":{{\"total\":1073741824,\"in_use_before\":0,\"in_use_after\":1048576}},"
    )
}

/// The field with the compared tensors.
pub(crate) fn outputs(tensors: &[String]) -> String {
    format!("\"outputs\":[{}],", tensors.join(","))
}

/// Three machines: `cpu.jsonl` is correct except for a NaN, `cuda/report.jsonl` has a wrong layer
/// and a mock, and `rocm-sim.jsonl` is a simulation next to a fallback.
pub(crate) fn seed(project: &Project, directory: &str) {
    let host = on("A host processor");
    let right = outputs(&[tensor("last_hidden_state", Some(1e-4), "")]);
    let nan = outputs(&[tensor(
        "logits",
        None,
        "{\"index\":[0,3],\"expected\":1.5,\"got\":1.7976931348623157e308}",
    )]);
    let mut cpu = line(
        "bert",
        "cpu",
        "output_golden",
        "f32",
        "pass",
        &format!("{host}{right}"),
    );
    cpu += &line(
        "llama",
        "cpu",
        "output_golden",
        "f32",
        "pass",
        &format!("{host}{right}"),
    );
    cpu += &line(
        "nan_model",
        "cpu",
        "finite",
        "f16",
        "fail",
        &format!("{host}{nan}\"reason\":\"NaN in 2 elements\","),
    );
    cpu += &line(
        "bert",
        "cuda",
        "output_golden",
        "f32",
        "ignored",
        "\"reason\":\"no usable cuda device\",",
    );
    cpu += &line(
        "bert",
        "rocm",
        "output_golden",
        "f32",
        "ignored",
        "\"fallback\":true,\"reason\":\"fell back to cpu\",",
    );
    project.write(format!("{directory}/cpu.jsonl"), cpu);
    project.write(format!("{directory}/cuda/report.jsonl"), cuda());
    let simulated = format!("{}\"simulated\":true,{right}", on("gfx1100 (hip-sim)"));
    project.write(
        format!("{directory}/rocm-sim.jsonl"),
        line("bert", "rocm", "output_golden", "f32", "pass", &simulated),
    );
}

/// A report of `models` models on three columns, half of them decoders. One has wrong numbers on
/// the CPU, and of another a check that is not about numbers fails on CUDA; everything else passes.
pub(crate) fn seed_many(project: &Project, directory: &str, models: usize) {
    let right = outputs(&[tensor("logits", Some(1e-4), "")]);
    let wrong = outputs(&[tensor("logits", Some(0.5), "")]) + "\"reason\":\"far from the golden\",";
    let mut text = String::new();
    for number in 0..models / 2 {
        for model in [format!("llama_{number:04}"), format!("bert_{number:04}")] {
            for (device, engine) in [("cpu", ""), ("cpu", "\"engine\":\"torch\","), ("cuda", "")] {
                let fields = on(if device == "cpu" {
                    "A host processor"
                } else {
                    "A CUDA device"
                }) + engine;
                let has_wrong_numbers =
                    model == "llama_0007" && device == "cpu" && engine.is_empty();
                let (status, numbers) = if has_wrong_numbers {
                    ("fail", &wrong)
                } else {
                    ("pass", &right)
                };
                text += &line(
                    &model,
                    device,
                    "output_golden",
                    "f32",
                    status,
                    &(fields.clone() + numbers),
                );
                let leaks = model == "bert_0009" && device == "cuda";
                let (status, reason) = if leaks {
                    ("fail", "\"reason\":\"4096 bytes remain\",")
                } else {
                    ("pass", "")
                };
                text += &line(
                    &model,
                    device,
                    "memory_released",
                    "f32",
                    status,
                    &(fields + reason),
                );
            }
        }
    }
    project.write(format!("{directory}/many.jsonl"), text);
}

fn cuda() -> String {
    let device = on("A CUDA device");
    let worst = "{\"index\":[0,1,7],\"expected\":0.25,\"got\":-0.75}";
    let trace = outputs(&[
        tensor("trace.embed", Some(1e-6), ""),
        tensor("trace.layer.0", Some(1e-5), ""),
        tensor("trace.layer.1", Some(0.5), worst),
        tensor("trace.layer.2", Some(0.6), ""),
    ]);
    let layers = "\"layers\":[{\"name\":\"embed\",\"rel_l2\":1e-6},{\"name\":\"layer.0\",\"rel_l2\":1e-5,\"reference\":8e-6},\
                  {\"name\":\"layer.1\",\"rel_l2\":0.5,\"reference\":9e-6},{\"name\":\"layer.2\",\"rel_l2\":0.6,\"reference\":\
                  9.5e-6}],";
    let reason = "\"reason\":\"first diverges at `layer.1`; `layer.0` still agrees\",";
    let right = outputs(&[tensor("last_hidden_state", Some(1e-4), "")]);
    let mut text = line(
        "bert",
        "cuda",
        "output_golden",
        "f32",
        "pass",
        &format!("{device}{right}"),
    );
    text += &line(
        "llama",
        "cuda",
        "layer_trace_golden",
        "f32",
        "fail",
        &format!("{device}{trace}{layers}{reason}"),
    );
    let mock = "\"mock\":true,\"reason\":\"the endpoint is a mock: <script>alert('weights')</script> do not load\",";
    text += &line("mocked", "cuda", "output_golden", "f32", "fail", mock);
    text
}

//! Schedulers against diffusers 0.42.1: `recorded.json` holds noise, the outputs of an imagined
//! model, and for several configurations the input and output of each step. `record.py` beside it
//! makes it again.

use super::Scheduler;
use serde_json::Value;

/// The tolerance in f32, relative to numbers that grow with the noise.
const TOLERANCE: f32 = 3e-6;

fn numbers(value: &Value) -> Vec<f32> {
    let numbers: Option<Vec<f32>> = value.as_array().and_then(|values| {
        values
            .iter()
            .map(|value| value.as_f64().map(|value| value as f32))
            .collect()
    });
    numbers.expect("a list of numbers")
}

#[track_caller]
fn assert_close(got: &[f32], expected: &[f32], what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    let size = expected.iter().map(|value| value.abs()).fold(1.0, f32::max);
    for (got, expected) in got.iter().zip(expected) {
        assert!(
            (got - expected).abs() <= TOLERANCE * size,
            "{what}: got {got}, expected {expected}"
        );
    }
}

#[test]
fn every_step_is_that_of_diffusers() {
    let recorded: Value =
        serde_json::from_str(include_str!("recorded.json")).expect("the file is JSON");
    let (noise, outputs) = (
        numbers(&recorded["noise"]),
        recorded["outputs"].as_array().expect("outputs"),
    );
    let cases = recorded["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 6);
    for case in cases {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::write(
            directory.path().join("scheduler_config.json"),
            case["config"].to_string(),
        )
        .expect("a file");
        let scheduler = Scheduler::open(directory.path())
            .expect("it is supported")
            .expect("it is there");
        let steps = scheduler
            .steps(outputs.len())
            .expect("the training had as many");
        let what = case["config"].to_string();
        assert_close(&steps.timesteps, &numbers(&case["timesteps"]), &what);
        assert_close(
            &[steps.init_noise_sigma],
            &numbers(&Value::Array(vec![case["init_noise_sigma"].clone()])),
            &what,
        );
        let mut sample: Vec<f32> = noise
            .iter()
            .map(|noise| noise * steps.init_noise_sigma)
            .collect();
        for (index, output) in outputs.iter().enumerate() {
            let step = format!("step {index} of {what}");
            assert_close(
                &steps.model_input(index, &sample),
                &numbers(&case["inputs"][index]),
                &step,
            );
            sample = steps.step(index, &sample, &numbers(output));
            assert_close(&sample, &numbers(&case["samples"][index]), &step);
        }
    }
}

#[test]
fn what_is_not_applied_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |text: &str| {
        std::fs::write(directory.path().join("scheduler_config.json"), text).expect("a file");
        Scheduler::open(directory.path())
            .map(|scheduler| scheduler.is_some())
            .map_err(|error| error.to_string())
    };
    assert_eq!(
        write(r#"{"_class_name": "DDIMScheduler", "thresholding": false}"#),
        Ok(true)
    );
    let refused = write(r#"{"_class_name": "EulerDiscreteScheduler", "use_karras_sigmas": true}"#);
    assert!(refused.is_err_and(|error| error.contains("use_karras_sigmas")));
    let none = write(
        r#"{"_class_name": "DDIMScheduler", "num_train_timesteps": 0, "set_alpha_to_one": false}"#,
    );
    assert!(none.is_err_and(|error| error.contains("`num_train_timesteps` is 0")));
    assert!(
        write(r#"{"_class_name": "PNDMScheduler"}"#)
            .is_err_and(|error| error.contains("DDIMScheduler"))
    );
}

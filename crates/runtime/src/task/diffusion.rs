//! From noise to latents, and from latents to images.

use super::{
    Request, Response,
    call::{FloatOutput, HandlerError, TaskCall},
    request_parts::Denoising,
};
use testgen_nn::array::{Array, Arrays};

pub(super) fn answer_denoising(
    call: &TaskCall<'_>,
    request: Request,
) -> Result<Response, HandlerError> {
    let Denoising {
        noise,
        condition,
        steps,
    } = call.noise(request)?;
    let (shape, values) = (
        noise.shape().to_vec(),
        noise.as_floats().unwrap_or_default(),
    );
    let scheduler = call.scheduler()?;
    let steps = scheduler
        .steps(steps)
        .ok_or_else(|| HandlerError::BadInput {
            index: 0,
            problem: wrong_steps(steps),
        })?;
    let mut sample: Vec<f32> = values
        .iter()
        // Requests have noise of deviation one, and schedulers of diffusers begin with this one.
        .map(|value| value * steps.init_noise_sigma)
        .collect();
    for (index, timestep) in steps.timesteps.iter().enumerate() {
        let input = Array::floats(shape.clone(), steps.model_input(index, &sample));
        let inputs = step_inputs(&condition, input, *timestep);
        let forward = call.model.forward(&inputs)?;
        let output = call.output(
            &forward,
            ("sample", 4),
            &shape,
            "a class such as `UNet2DConditionModel`",
        )?;
        let output: Vec<f32> = (0..shape[0])
            .flat_map(|row| output.row(row).iter().copied())
            .collect();
        sample = steps.step(index, &sample, &output);
    }
    let latents = Array::floats(shape.clone(), sample);
    Ok(Response::Latents(
        (0..shape[0])
            .map(|row| without_batch(&latents.select_rows(&[row])))
            .collect(),
    ))
}

/// The arguments of one step: the sample, and its time for each row.
fn step_inputs(condition: &Arrays, sample: Array, timestep: f32) -> Arrays {
    let rows = sample.shape()[0];
    let mut inputs = condition.clone();
    inputs.insert("sample".to_owned(), sample);
    inputs.insert(
        "timestep".to_owned(),
        Array::floats([rows], vec![timestep; rows]),
    );
    inputs
}

pub(super) fn answer_decoding(
    call: &TaskCall<'_>,
    request: Request,
) -> Result<Response, HandlerError> {
    let latents = call.latents(request)?;
    let batch = latents.shape()[0];
    let forward = call
        .model
        .forward(&Arrays::from([("z".to_owned(), latents)]))?;
    let images = call.output(
        &forward,
        ("sample", 4),
        &[batch],
        "a class such as `AutoencoderKL`",
    )?;
    Ok(Response::Pixels(
        (0..batch).map(|index| row(images, index)).collect(),
    ))
}

fn row(output: FloatOutput<'_>, index: usize) -> Array {
    Array::floats(&output.shape[1..], output.row(index).to_vec())
}

fn without_batch(array: &Array) -> Array {
    Array::floats(
        &array.shape()[1..],
        array.as_floats().unwrap_or_default().to_vec(),
    )
}

fn wrong_steps(steps: usize) -> String {
    format!("asks for {steps} steps, which must be above 0 and at most those of the training")
}

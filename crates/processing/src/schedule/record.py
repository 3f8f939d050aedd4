"""Makes recorded.json: python record.py"""

import json
import os

import diffusers
import numpy
import torch

rng = numpy.random.default_rng(5)
x = [round(float(v), 4) for v in rng.normal(0, 1, 6)]
outs = [[round(float(v), 4) for v in rng.normal(0, 1, 6)] for _ in range(4)]
cases = []
SD = {"beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear", "steps_offset": 1}
for name, conf in [
    ("DDIMScheduler", SD | {"clip_sample": False, "set_alpha_to_one": False}),
    ("DDIMScheduler", {"prediction_type": "v_prediction", "timestep_spacing": "trailing"}),
    (
        "DDIMScheduler",
        {"prediction_type": "sample", "timestep_spacing": "linspace", "beta_schedule": "squaredcos_cap_v2", "clip_sample_range": 0.7},
    ),
    ("EulerDiscreteScheduler", SD | {"timestep_spacing": "leading"}),
    ("EulerDiscreteScheduler", SD),
    ("EulerDiscreteScheduler", {"prediction_type": "v_prediction", "timestep_spacing": "trailing", "final_sigmas_type": "sigma_min"}),
]:
    s = getattr(diffusers, name)(**conf)
    s.set_timesteps(4)
    sample = torch.tensor(x) * s.init_noise_sigma
    inputs, samples = [], []
    for t, o in zip(s.timesteps, outs, strict=True):
        inputs.append(s.scale_model_input(sample, t).tolist())
        sample = s.step(torch.tensor(o), t, sample).prev_sample
        samples.append(sample.tolist())
    cases.append(
        {
            "config": {"_class_name": name} | conf,
            "timesteps": [float(t) for t in s.timesteps],
            "init_noise_sigma": float(s.init_noise_sigma),
            "inputs": inputs,
            "samples": samples,
        }
    )
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded.json"), "w") as file:
    json.dump({"noise": x, "outputs": outs, "cases": cases}, file, indent=None, separators=(",", ":"))

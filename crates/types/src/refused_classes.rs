//! The model classes of diffusers that are not tested. Written by
//! `python/fixtures/model_types.py`; do not edit.

/// Each class with an argument that is not a tensor, which neither goldens nor the messages of
/// engines have.
pub(crate) const REFUSED_CLASSES: &[(&str, &str)] = &[
    ("AnyFlowFARTransformer3DModel", "chunk_partition"),
    ("ControlNetUnionModel", "controlnet_cond"),
    ("Cosmos3OmniTransformer", "und_len"),
    ("FluxMultiControlNetModel", "controlnet_cond"),
    ("Kandinsky5Transformer3DModel", "visual_rope_pos"),
    ("MultiControlNetModel", "controlnet_cond"),
    ("NucleusMoEImageTransformer2DModel", "img_shapes"),
    ("OmniGenTransformer2DModel", "input_img_latents"),
    ("QwenImage21Transformer2DModel", "img_shapes"),
    ("QwenImageMultiControlNetModel", "controlnet_cond"),
    ("SanaWMLTX2RefinerTransformer3DModel", "video_rotary_emb"),
    ("SD3MultiControlNetModel", "controlnet_cond"),
    ("WanAnimate2Transformer3DModel", "hidden_states"),
    ("ZImageControlNetModel", "x"),
    ("ZImageTransformer2DModel", "x"),
];

//! The inputs of a call of each type, of the sizes that an estimate is for.

use serde_json::Value;
use std::{fs, path::Path};
use testgen_estimate::{CallSizes, CheckpointHeaders};
use testgen_nn::array::{Array, Arrays};
use testgen_types::{Architecture, ModelType};

/// Inputs of `sizes` for the checkpoint in `directory`.
pub(crate) fn inputs(directory: &Path, checkpoint: &CheckpointHeaders, sizes: CallSizes) -> Arrays {
    let text = fs::read(directory.join("config.json")).expect("it has a configuration");
    let config: Value = serde_json::from_slice(&text).expect("it is JSON");
    let [batch, tokens] = [sizes.batch, sizes.tokens].map(|size| size as usize);
    let rows = InputSizes {
        config: &config,
        batch,
        tokens,
    };
    let images = || {
        rows.floats(
            "pixel_values",
            &[rows.channels(), rows.side(0), rows.side(1)],
        )
    };
    let named = match checkpoint.model_type() {
        ModelType::ConvNext | ModelType::Detr | ModelType::ResNet | ModelType::Swin => {
            let [height, width] = checkpoint.image_size().map(|side| side as usize);
            vec![rows.floats("pixel_values", &[3, height, width])]
        }
        ModelType::AutoencoderKl => vec![rows.latents()],
        ModelType::Unet => rows.denoiser(),
        ModelType::Whisper => rows.spectrograms(),
        ModelType::Hubert | ModelType::Wav2Vec2 => {
            vec![rows.floats("input_values", &[rows.samples()])]
        }
        ModelType::PatchTst => vec![rows.floats(
            "past_values",
            &[rows.size("context_length"), rows.size("num_input_channels")],
        )],
        ModelType::Graphormer => rows.graphs(),
        ModelType::Llava => rows.images_in_texts(),
        other => match other.architecture() {
            Architecture::Vision | Architecture::ObjectDetection => vec![images()],
            Architecture::VisionText => vec![rows.ids("input_ids", tokens), images()],
            Architecture::EncoderDecoder | Architecture::Rag => ["input_ids", "decoder_input_ids"]
                .map(|name| rows.ids(name, tokens))
                .into(),
            _ => vec![rows.ids("input_ids", tokens)],
        },
    };
    named.into_iter().collect()
}

/// The configuration with the rows and the tokens of a call.
struct InputSizes<'a> {
    config: &'a Value,
    batch: usize,
    tokens: usize,
}

type NamedArray = (String, Array);

impl InputSizes<'_> {
    /// A number of the configuration, or of its image encoder.
    fn size(&self, field: &str) -> usize {
        self.config[field]
            .as_u64()
            .expect("fixtures name their sizes") as usize
    }

    fn vision(&self) -> &Value {
        self.config.get("vision_config").unwrap_or(self.config)
    }

    fn side(&self, index: usize) -> usize {
        let size = &self.vision()["image_size"];
        size.get(index).unwrap_or(size).as_u64().unwrap_or(224) as usize
    }

    fn channels(&self) -> usize {
        self.vision()["num_channels"].as_u64().unwrap_or(3) as usize
    }

    fn floats(&self, name: &str, dims: &[usize]) -> NamedArray {
        let shape = [&[self.batch][..], dims].concat();
        let count = shape.iter().product();
        (name.to_owned(), Array::floats(shape, vec![0.5; count]))
    }

    fn integers(&self, name: &str, dims: &[usize], value: i64) -> NamedArray {
        let shape = [&[self.batch][..], dims].concat();
        let count = shape.iter().product();
        (name.to_owned(), Array::integers(shape, vec![value; count]))
    }

    /// An end token of most types, which classifiers of BART need, and no padding of any.
    fn ids(&self, name: &str, tokens: usize) -> NamedArray {
        self.integers(name, &[tokens], 2)
    }

    fn spectrograms(&self) -> Vec<NamedArray> {
        let frames = 2 * self.size("max_source_positions");
        let features = self.floats("input_features", &[self.size("num_mel_bins"), frames]);
        vec![features, self.ids("decoder_input_ids", self.tokens)]
    }

    /// As many samples as the convolutions make `tokens` frames of.
    fn samples(&self) -> usize {
        let list = |field: &str| -> Vec<usize> {
            let numbers = self.config[field].as_array().expect("a list");
            numbers
                .iter()
                .map(|number| number.as_u64().unwrap_or(1) as usize)
                .collect()
        };
        let sizes = list("conv_kernel").into_iter().zip(list("conv_stride"));
        let all: Vec<_> = sizes.collect();
        all.into_iter()
            .rev()
            .fold(self.tokens, |frames, (kernel, stride)| {
                (frames - 1) * stride + kernel
            })
    }

    fn latents(&self) -> NamedArray {
        let side = self.size("sample_size");
        self.floats("sample", &[self.size("in_channels"), side, side])
    }

    fn denoiser(&self) -> Vec<NamedArray> {
        let condition = [self.tokens, self.size("cross_attention_dim")];
        let mut named = vec![
            self.latents(),
            self.integers("timestep", &[], 7),
            self.floats("encoder_hidden_states", &condition),
        ];
        if !self.config["num_class_embeds"].is_null() {
            named.push(self.integers("class_labels", &[], 1));
        }
        if !self.config["addition_embed_type"].is_null() {
            // Six numbers, whose waves are beside a vector of the text.
            let waves = 6 * self.size("addition_time_embed_dim");
            let both = self.size("projection_class_embeddings_input_dim");
            named.push(self.integers("time_ids", &[6], 7));
            named.push(self.floats("text_embeds", &[both - waves]));
        }
        named
    }

    /// Graphs of `tokens` nodes, with as many edges on each path as the model reads.
    fn graphs(&self) -> Vec<NamedArray> {
        let nodes = self.tokens;
        // The rows of a table for each feature.
        let [of_node, of_edge] =
            ["num_atoms", "num_edges"].map(|field| self.size(field).div_ceil(512));
        let all = self.size("num_edge_dis").min(nodes - 1);
        let read = self.config["multi_hop_max_dist"].as_u64().unwrap_or(0) as usize;
        let hops = if read == 0 { all } else { all.min(read) };
        let tokens = nodes + 1;
        vec![
            self.integers("input_nodes", &[nodes, of_node], 1),
            self.integers("in_degree", &[nodes], 1),
            self.integers("out_degree", &[nodes], 1),
            self.integers("spatial_pos", &[nodes, nodes], 1),
            self.integers("attn_edge_type", &[nodes, nodes, of_edge], 1),
            self.integers("input_edges", &[nodes, nodes, hops, of_edge], 1),
            self.floats("attn_bias", &[tokens, tokens]),
        ]
    }

    /// The tokens of an image before the tokens of a text.
    fn images_in_texts(&self) -> Vec<NamedArray> {
        let patch = self.vision()["patch_size"].as_u64().expect("a number") as usize;
        let full = self.config["vision_feature_select_strategy"] == "full";
        let image_tokens = (self.side(0) / patch) * (self.side(1) / patch) + usize::from(full);
        let image_token = self.config["image_token_index"].as_i64().expect("a number");
        let row = [vec![image_token; image_tokens], vec![2; self.tokens]].concat();
        let ids = Array::integers([self.batch, row.len()], row.repeat(self.batch));
        let sides = [self.channels(), self.side(0), self.side(1)];
        vec![
            ("input_ids".to_owned(), ids),
            self.floats("pixel_values", &sides),
        ]
    }
}

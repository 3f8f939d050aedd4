//! The versions of transformers that have each model type, from the mapping of configurations in
//! every minor version from 4.40 on. Written by `python/fixtures/type_versions.py`; do not edit.

/// The model types that a version has first, by version.
#[rustfmt::skip]
pub(crate) const ADDED: &[(&str, &[&str])] = &[
    ("4.40", &["albert", "align", "altclip", "audio-spectrogram-transformer", "autoformer", "bark", "bart", "beit", "bert", "bert-generation", "big_bird", "bigbird_pegasus", "biogpt", "bit", "blenderbot", "blenderbot-small", "blip", "blip-2", "bloom", "bridgetower", "bros", "camembert", "canine", "chinese_clip", "chinese_clip_vision_model", "clap", "clip", "clip_vision_model", "clipseg", "clvp", "codegen", "cohere", "conditional_detr", "convbert", "convnext", "convnextv2", "cpmant", "ctrl", "cvt", "data2vec-audio", "data2vec-text", "data2vec-vision", "dbrx", "deberta", "deberta-v2", "decision_transformer", "deformable_detr", "deit", "depth_anything", "detr", "dinat", "dinov2", "distilbert", "donut-swin", "dpr", "dpt", "efficientnet", "electra", "encodec", "encoder-decoder", "ernie", "esm", "falcon", "fastspeech2_conformer", "flaubert", "flava", "fnet", "focalnet", "fsmt", "funnel", "fuyu", "gemma", "git", "glpn", "gpt2", "gpt_bigcode", "gpt_neo", "gpt_neox", "gpt_neox_japanese", "gptj", "graphormer", "grounding-dino", "groupvit", "hubert", "ibert", "idefics", "idefics2", "imagegpt", "informer", "instructblip", "jamba", "kosmos-2", "layoutlm", "layoutlmv2", "layoutlmv3", "led", "levit", "lilt", "llama", "llava", "llava_next", "longformer", "longt5", "luke", "lxmert", "m2m_100", "mamba", "marian", "markuplm", "mask2former", "maskformer", "maskformer-swin", "mbart", "megatron-bert", "mgp-str", "mistral", "mixtral", "mobilebert", "mobilenet_v1", "mobilenet_v2", "mobilevit", "mobilevitv2", "mpnet", "mpt", "mra", "mt5", "mvp", "nllb-moe", "nystromformer", "olmo", "oneformer", "openai-gpt", "opt", "owlv2", "owlvit", "patchtsmixer", "patchtst", "pegasus", "pegasus_x", "perceiver", "persimmon", "phi", "pix2struct", "plbart", "poolformer", "pop2piano", "prophetnet", "pvt", "pvt_v2", "qwen2", "qwen2_moe", "rag", "recurrent_gemma", "reformer", "regnet", "rembert", "resnet", "roberta", "roberta-prelayernorm", "roc_bert", "roformer", "rwkv", "sam", "seamless_m4t", "seamless_m4t_v2", "segformer", "seggpt", "sew", "sew-d", "siglip", "siglip_vision_model", "speech-encoder-decoder", "speech_to_text", "speecht5", "splinter", "squeezebert", "stablelm", "starcoder2", "superpoint", "swiftformer", "swin", "swin2sr", "swinv2", "switch_transformers", "t5", "table-transformer", "tapas", "time_series_transformer", "timesformer", "timm_backbone", "trocr", "tvp", "udop", "umt5", "unispeech", "unispeech-sat", "univnet", "upernet", "videomae", "vilt", "vipllava", "vision-encoder-decoder", "vision-text-dual-encoder", "visual_bert", "vit", "vit_mae", "vit_msn", "vitdet", "vits", "vivit", "wav2vec2", "wav2vec2-bert", "wav2vec2-conformer", "wavlm", "whisper", "xclip", "xglm", "xlm", "xlm-roberta", "xlm-roberta-xl", "xlnet", "xmod", "yolos", "yoso"]),
    ("4.41", &["jetmoe", "paligemma", "phi3", "video_llava"]),
    ("4.42", &["gemma2", "instructblipvideo", "rt_detr", "rt_detr_resnet"]),
    ("4.43", &["chameleon", "hiera", "zoedepth"]),
    ("4.44", &["mamba2", "nemotron"]),
    ("4.45", &["clip_text_model", "dac", "falcon_mamba", "granite", "granitemoe", "llava_next_video", "llava_onevision", "mimi", "mllama", "olmoe", "omdet-turbo", "pixtral", "qwen2_audio", "qwen2_audio_encoder", "qwen2_vl"]),
    ("4.46", &["glm", "idefics3", "moshi", "phimoe", "zamba"]),
    ("4.47", &["ijepa", "olmo2"]),
    ("4.48", &["aria", "aria_text", "bamba", "cohere2", "diffllama", "dinov2_with_registers", "emu3", "idefics3_vision", "modernbert", "moonshine", "textnet", "timm_wrapper", "vitpose_backbone"]),
    ("4.49", &["dab-detr", "depth_pro", "got_ocr2", "granitemoeshared", "helium", "qwen2_5_vl", "rt_detr_v2", "zamba2"]),
    ("4.50", &["aya_vision", "gemma3", "gemma3_text", "mistral3", "prompt_depth_anything", "siglip2", "smolvlm", "smolvlm_vision"]),
    ("4.51", &["deepseek_v3", "llama4", "llama4_text", "phi4_multimodal", "qwen3", "qwen3_moe", "sam_vision_model"]),
    ("4.52", &["bitnet", "blip_2_qformer", "csm", "d_fine", "glm4", "granite_speech", "granitemoehybrid", "hgnet_v2", "internvl", "internvl_vision", "janus", "qwen2_5_vl_text", "qwen2_vl_text", "sam_hq", "sam_hq_vision_model", "timesfm"]),
    ("4.53", &["arcee", "dia", "dots1", "falcon_h1", "gemma3n", "gemma3n_audio", "gemma3n_text", "glm4v", "glm4v_text", "kyutai_speech_to_text", "lightglue", "minimax", "smollm3", "t5gemma", "vjepa2"]),
    ("4.54", &["aimv2", "aimv2_vision_model", "deepseek_v2", "deepseek_vl", "deepseek_vl_hybrid", "doge", "efficientloftr", "eomt", "ernie4_5", "ernie4_5_moe", "evolla", "exaone4", "fastspeech2_conformer_with_hifigan", "glm4_moe", "lfm2", "modernbert-decoder", "perception_lm", "voxtral", "voxtral_encoder", "xlstm"]),
    ("4.55", &["cohere2_vision", "gpt_oss", "mm-grounding-dino"]),
    ("4.56", &["apertus", "dinov3_convnext", "dinov3_vit", "florence2", "glm4v_moe", "glm4v_moe_text", "hunyuan_v1_dense", "hunyuan_v1_moe", "kosmos-2.5", "metaclip_2", "ovis2", "sam2", "sam2_hiera_det_model", "sam2_video", "sam2_vision_model", "seed_oss", "xcodec"]),
    ("4.57", &["blt", "edgetam", "edgetam_video", "edgetam_vision_model", "flex_olmo", "lfm2_vl", "longcat_flash", "ministral", "olmo3", "parakeet_ctc", "parakeet_encoder", "qwen3_next", "qwen3_vl", "qwen3_vl_moe", "qwen3_vl_moe_text", "qwen3_vl_text", "siglip2_vision_model", "vaultgemma"]),
    ("5.0", &["afmoe", "audioflamingo3", "audioflamingo3_encoder", "cwm", "ernie4_5_vl_moe", "fast_vlm", "glm46v", "glm4_moe_lite", "glm4v_moe_vision", "glm4v_vision", "glm_image", "glm_image_text", "glm_image_vision", "glm_image_vqmodel", "glmasr", "glmasr_encoder", "jais2", "lasr_ctc", "lasr_encoder", "lfm2_moe", "lighton_ocr", "lw_detr", "lw_detr_vit", "minimax_m2", "ministral3", "nanochat", "paddleocr_vl", "pe_audio", "pe_audio_encoder", "pe_audio_video", "pe_audio_video_encoder", "pe_video", "pe_video_encoder", "pixio", "sam3", "sam3_tracker", "sam3_tracker_video", "sam3_video", "sam3_vision_model", "sam3_vit_model", "solar_open", "t5gemma2", "video_llama_3", "video_llama_3_vision"]),
    ("5.1", &["eomt_dinov3", "exaone_moe", "glm_ocr", "glm_ocr_text", "glm_ocr_vision", "pp_doclayout_v3", "t5gemma2_encoder", "youtu"]),
    ("5.2", &["glm_moe_dsa", "moonshine_streaming", "qwen3_5", "qwen3_5_moe", "qwen3_5_moe_text", "qwen3_5_text", "vibevoice_acoustic_tokenizer", "voxtral_realtime", "voxtral_realtime_encoder"]),
    ("5.3", &["eurobert", "higgs_audio_v2", "modernvbert", "nemotron_h", "olmo_hybrid", "pp_doclayout_v2", "timesfm2_5", "vibevoice_acoustic_tokenizer_decoder", "vibevoice_acoustic_tokenizer_encoder", "vibevoice_asr"]),
    ("5.4", &["chmv2", "cohere_asr", "jina_embeddings_v3", "mistral4", "mlcd_vision_model", "pi0", "pp_lcnet", "pp_lcnet_v3", "pp_ocrv5_mobile_det", "pp_ocrv5_mobile_rec", "pp_ocrv5_server_det", "pp_ocrv5_server_rec", "uvdoc", "uvdoc_backbone", "videomt"]),
    ("5.5", &["gemma4", "gemma4_audio", "gemma4_text", "gemma4_vision", "musicflamingo", "nomic_bert"]),
    ("5.6", &["emu3_text_model", "hy_v3", "llama4_vision_model", "mllama_text_model", "mllama_vision_model", "musicgen_decoder", "musicgen_melody_decoder", "openai_privacy_filter", "qianfan_ocr", "qianfan_ocr_vision", "qwen2_5_omni_thinker", "qwen2_5_vl_vision", "qwen3_5_moe_vision", "qwen3_5_vision", "qwen3_omni_moe_thinker", "qwen3_vl_moe_vision", "qwen3_vl_vision", "sam3_lite_text", "sam3_lite_text_text_model"]),
    ("5.7", &["deimv2", "laguna", "minicpmv4_6"]),
    ("5.8", &["deepseek_v4", "exaone4_5", "exaone4_5_vision", "gemma4_assistant", "granite4_vision", "granite_speech_plus", "pp_formulanet"]),
    ("5.9", &["cohere2_moe", "hrm_text", "hyperclovax", "parakeet_tdt", "rf_detr", "rf_detr_dinov2"]),
    ("5.10", &["gemma4_unified", "gemma4_unified_assistant", "gemma4_unified_text", "pp_lcnet_v4", "pp_ocrv6_medium_det", "pp_ocrv6_small_det", "pp_ocrv6_small_rec", "pp_ocrv6_tiny_rec"]),
    ("5.11", &["cosmos3_omni", "deepseek_ocr2", "deepseek_v32", "diffusion_gemma", "mellum", "sapiens2"]),
    ("5.12", &["minimax_m3_vl", "minimax_m3_vl_text", "parakeet_rnnt"]),
    ("5.13", &["hunyuan_vl", "hunyuan_vl_text", "hunyuan_vl_vision", "kimi_k25", "kimi_k25_vision", "mimo_v2_flash", "minicpm3", "nemotron3_5_asr", "nemotron_asr_streaming", "nemotron_asr_streaming_encoder", "qwen3_asr", "qwen3_asr_encoder", "radio", "videoprism", "videoprism_vision_model", "xcodec2", "zaya"]),
    ("5.14", &["inkling_mm_model", "inkling_text", "tipsv2", "tipsv2_dpt", "tipsv2_text_model", "tipsv2_vision_model"]),
    ("5.15", &["axk1", "axk2", "cosmos3_edge", "cosmos3_edge_text", "cosmos3_edge_vision", "granite_swa", "granitemoe_swa", "muse_glimmer", "muse_glimmer_assistant", "muse_glimmer_text", "muse_glimmer_vision"]),
    ("5.16", &["cohere_compass", "cohere_compass_text", "cohere_compass_vision", "esmc", "granite_speech5_ctc", "granite_speech5_encoder", "qwen4_exp", "qwen4_exp_text", "qwen4_exp_vision", "step3p7"]),
    ("5.17", &["canary", "fun_asr_nano", "fun_asr_nano_encoder", "glm5_next", "glm5_next_text", "glm5_next_vision", "hy_v4", "kimi_linear", "neomme", "neucodec", "vibevoice"]),
    ("5.18", &["gte", "hyperclovax_vision_v2", "minicpmv4_7", "minicpmv4_7_vision", "nemotron3_diarization", "nemotron3_diarization_audio", "nemotron_h_omni"]),
    ("5.19", &["embedding_gemma2", "embedding_gemma2_text"]),
    ("5.20", &["bailing_hybrid", "kolibri1", "molmo2", "molmo2_text", "moss_transcribe_diarize", "moss_transcribe_diarize_audio", "muse_spark", "muse_spark_audio", "muse_spark_text", "muse_spark_vision", "pp_doclayout_v4", "ultrabert", "unlimited_ocr"]),
    ("5.21", &["beam", "flint", "gradium_phonon_tts", "mimi_decoder", "mimi_encoder", "minicpm_ocr", "minicpm_ocr_vision", "pocket_tts", "pocket_tts_audio_tokenizer", "pocket_tts_audio_tokenizer_decoder", "pocket_tts_audio_tokenizer_encoder", "ultravbert"]),
    ("5.22", &["mistral_large4", "mistral_large4_text", "nemo_speechlm", "nemotron3_5_transcribe_asr_audio", "nemotron3_5_transcribe_audio", "nemotron3_5_transcribe_word_timestamp"]),
    ("5.23", &["dots3_note", "dots3_note_text", "granite_docling", "granite_docling_text", "granite_docling_vision", "inkling2", "inkling2_text", "inkling2_vision", "lfm3", "lfm3_vl", "lfm3_vl_vision"]),
];

/// The model types that a version no longer has, by version.
#[rustfmt::skip]
pub(crate) const REMOVED: &[(&str, &[&str])] = &[
    ("5.0", &["graphormer"]),
];

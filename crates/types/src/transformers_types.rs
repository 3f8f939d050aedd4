//! The model types of transformers without a native implementation, as transformers' own mappings
//! list them, and the model classes of diffusers. Written by `python/fixtures/model_types.py`; do
//! not edit.

/// Calls `$callback!` with `$tokens` and the table: a block for each architecture, and in it an entry
/// for each type: the variant of [`ModelType`](crate::ModelType), the `model_type` of
/// `config.json`, or the `_class_name` of diffusers, and the class of each head.
#[macro_export]
macro_rules! for_each_transformers_type {
    ($callback:ident $tokens:tt) => {
        $callback! {
        $tokens
        DecoderOnly recorded_by "decoder_only" {
            Apertus "apertus" [Base "ApertusModel", CausalLm "ApertusForCausalLM",
                TokenClassification "ApertusForTokenClassification"]
            Arcee "arcee" [Base "ArceeModel", CausalLm "ArceeForCausalLM",
                SequenceClassification "ArceeForSequenceClassification",
                TokenClassification "ArceeForTokenClassification",
                QuestionAnswering "ArceeForQuestionAnswering"]
            BertGeneration "bert-generation" [Base "BertGenerationEncoder",
                CausalLm "BertGenerationDecoder"]
            Biogpt "biogpt" [Base "BioGptModel", CausalLm "BioGptForCausalLM",
                SequenceClassification "BioGptForSequenceClassification",
                TokenClassification "BioGptForTokenClassification"]
            Bitnet "bitnet" [Base "BitNetModel", CausalLm "BitNetForCausalLM"]
            Blt "blt" [Base "BltModel", CausalLm "BltForCausalLM"]
            Codegen "codegen" [Base "CodeGenModel", CausalLm "CodeGenForCausalLM"]
            Cohere "cohere" [Base "CohereModel", CausalLm "CohereForCausalLM"]
            Cohere2 "cohere2" [Base "Cohere2Model", CausalLm "Cohere2ForCausalLM"]
            CohereCompassText "cohere_compass_text" [Base "CohereCompassTextModel",
                CausalLm "CohereCompassForCausalLM",
                SequenceClassification "CohereCompassTextForSequenceClassification"]
            Cosmos3EdgeText "cosmos3_edge_text" [Base "Cosmos3EdgeTextModel"]
            Cpmant "cpmant" [Base "CpmAntModel", CausalLm "CpmAntForCausalLM"]
            Csm "csm" [Base "CsmForConditionalGeneration"]
            Ctrl "ctrl" [Base "CTRLModel", CausalLm "CTRLLMHeadModel",
                SequenceClassification "CTRLForSequenceClassification"]
            Cwm "cwm" [Base "CwmModel", CausalLm "CwmForCausalLM"]
            Dbrx "dbrx" [Base "DbrxModel", CausalLm "DbrxForCausalLM"]
            Diffllama "diffllama" [Base "DiffLlamaModel", CausalLm "DiffLlamaForCausalLM",
                SequenceClassification "DiffLlamaForSequenceClassification",
                TokenClassification "DiffLlamaForTokenClassification",
                QuestionAnswering "DiffLlamaForQuestionAnswering"]
            Dots1 "dots1" [Base "Dots1Model", CausalLm "Dots1ForCausalLM"]
            Emu3TextModel "emu3_text_model" [Base "Emu3TextModel", CausalLm "Emu3ForCausalLM"]
            Ernie45 "ernie4_5" [Base "Ernie4_5Model", CausalLm "Ernie4_5ForCausalLM"]
            Exaone4 "exaone4" [Base "Exaone4Model", CausalLm "Exaone4ForCausalLM",
                SequenceClassification "Exaone4ForSequenceClassification",
                TokenClassification "Exaone4ForTokenClassification",
                QuestionAnswering "Exaone4ForQuestionAnswering"]
            Gemma3Text "gemma3_text" [Base "Gemma3TextModel", CausalLm "Gemma3ForCausalLM",
                SequenceClassification "Gemma3TextForSequenceClassification"]
            Gemma3nText "gemma3n_text" [Base "Gemma3nTextModel", CausalLm "Gemma3nForCausalLM"]
            Gemma4Assistant "gemma4_assistant" [CausalLm "Gemma4AssistantForCausalLM"]
            Gemma4Text "gemma4_text" [Base "Gemma4TextModel", CausalLm "Gemma4ForCausalLM"]
            Gemma4UnifiedAssistant "gemma4_unified_assistant"
                [CausalLm "Gemma4UnifiedAssistantForCausalLM"]
            Gemma4UnifiedText "gemma4_unified_text" [Base "Gemma4UnifiedTextModel",
                CausalLm "Gemma4UnifiedForCausalLM"]
            Glm "glm" [Base "GlmModel", CausalLm "GlmForCausalLM",
                SequenceClassification "GlmForSequenceClassification",
                TokenClassification "GlmForTokenClassification"]
            Glm4 "glm4" [Base "Glm4Model", CausalLm "Glm4ForCausalLM",
                SequenceClassification "Glm4ForSequenceClassification",
                TokenClassification "Glm4ForTokenClassification"]
            Glm4vText "glm4v_text" [Base "Glm4vTextModel"]
            GlmImage "glm_image" [Base "GlmImageModel"]
            GlmImageText "glm_image_text" [Base "GlmImageTextModel"]
            GlmOcrText "glm_ocr_text" [Base "GlmOcrTextModel"]
            GptBigcode "gpt_bigcode" [Base "GPTBigCodeModel", CausalLm "GPTBigCodeForCausalLM",
                SequenceClassification "GPTBigCodeForSequenceClassification",
                TokenClassification "GPTBigCodeForTokenClassification"]
            GptNeo "gpt_neo" [Base "GPTNeoModel", CausalLm "GPTNeoForCausalLM",
                SequenceClassification "GPTNeoForSequenceClassification",
                TokenClassification "GPTNeoForTokenClassification",
                QuestionAnswering "GPTNeoForQuestionAnswering"]
            GptNeoxJapanese "gpt_neox_japanese" [Base "GPTNeoXJapaneseModel",
                CausalLm "GPTNeoXJapaneseForCausalLM"]
            Gptj "gptj" [Base "GPTJModel", CausalLm "GPTJForCausalLM",
                SequenceClassification "GPTJForSequenceClassification",
                QuestionAnswering "GPTJForQuestionAnswering"]
            GradiumPhononTts "gradium_phonon_tts" [Base "GradiumPhononTTSModel"]
            Granite "granite" [Base "GraniteModel", CausalLm "GraniteForCausalLM"]
            GraniteDoclingText "granite_docling_text" [Base "GraniteDoclingTextModel"]
            GraniteSwa "granite_swa" [Base "GraniteSWAModel", CausalLm "GraniteSWAForCausalLM"]
            Helium "helium" [Base "HeliumModel", CausalLm "HeliumForCausalLM",
                SequenceClassification "HeliumForSequenceClassification",
                TokenClassification "HeliumForTokenClassification"]
            HiggsAudioV2 "higgs_audio_v2" [Base "HiggsAudioV2ForConditionalGeneration"]
            HrmText "hrm_text" [Base "HrmTextModel", CausalLm "HrmTextForCausalLM"]
            HunyuanV1Dense "hunyuan_v1_dense" [Base "HunYuanDenseV1Model",
                CausalLm "HunYuanDenseV1ForCausalLM",
                SequenceClassification "HunYuanDenseV1ForSequenceClassification"]
            HunyuanVlText "hunyuan_vl_text" [Base "HunYuanVLTextModel"]
            Hyperclovax "hyperclovax" [Base "HyperCLOVAXModel", CausalLm "HyperCLOVAXForCausalLM"]
            Imagegpt "imagegpt" [Base "ImageGPTModel"]
            Jais2 "jais2" [Base "Jais2Model", CausalLm "Jais2ForCausalLM"]
            Lfm2 "lfm2" [Base "Lfm2Model", CausalLm "Lfm2ForCausalLM"]
            Lfm3 "lfm3" [Base "Lfm3Model", CausalLm "Lfm3ForCausalLM"]
            MimiDecoder "mimi_decoder" [Base "MimiDecoderModel"]
            Minicpm3 "minicpm3" [Base "MiniCPM3Model", CausalLm "MiniCPM3ForCausalLM",
                SequenceClassification "MiniCPM3ForSequenceClassification"]
            Ministral "ministral" [Base "MinistralModel", CausalLm "MinistralForCausalLM",
                SequenceClassification "MinistralForSequenceClassification",
                TokenClassification "MinistralForTokenClassification",
                QuestionAnswering "MinistralForQuestionAnswering"]
            Ministral3 "ministral3" [Base "Ministral3Model", CausalLm "Ministral3ForCausalLM",
                SequenceClassification "Ministral3ForSequenceClassification",
                TokenClassification "Ministral3ForTokenClassification",
                QuestionAnswering "Ministral3ForQuestionAnswering"]
            MllamaTextModel "mllama_text_model" [Base "MllamaTextModel",
                CausalLm "MllamaForCausalLM"]
            ModernbertDecoder "modernbert-decoder" [Base "ModernBertDecoderModel",
                CausalLm "ModernBertDecoderForCausalLM",
                SequenceClassification "ModernBertDecoderForSequenceClassification"]
            Molmo2Text "molmo2_text" [Base "Molmo2TextModel"]
            Mpt "mpt" [Base "MptModel", CausalLm "MptForCausalLM",
                SequenceClassification "MptForSequenceClassification",
                TokenClassification "MptForTokenClassification",
                QuestionAnswering "MptForQuestionAnswering"]
            MuseGlimmerAssistant "muse_glimmer_assistant" [Base "MuseGlimmerAssistantModel"]
            MuseGlimmerText "muse_glimmer_text" [Base "MuseGlimmerTextModel"]
            MusicgenDecoder "musicgen_decoder" [Base "MusicgenModel",
                CausalLm "MusicgenForCausalLM"]
            MusicgenMelodyDecoder "musicgen_melody_decoder" [Base "MusicgenMelodyModel",
                CausalLm "MusicgenMelodyForCausalLM"]
            Nanochat "nanochat" [Base "NanoChatModel", CausalLm "NanoChatForCausalLM"]
            Nemotron "nemotron" [Base "NemotronModel", CausalLm "NemotronForCausalLM",
                SequenceClassification "NemotronForSequenceClassification",
                TokenClassification "NemotronForTokenClassification",
                QuestionAnswering "NemotronForQuestionAnswering"]
            Olmo "olmo" [Base "OlmoModel", CausalLm "OlmoForCausalLM",
                SequenceClassification "OlmoForSequenceClassification"]
            Olmo3 "olmo3" [Base "Olmo3Model", CausalLm "Olmo3ForCausalLM",
                SequenceClassification "Olmo3ForSequenceClassification"]
            OpenaiGpt "openai-gpt" [Base "OpenAIGPTModel", CausalLm "OpenAIGPTLMHeadModel",
                SequenceClassification "OpenAIGPTForSequenceClassification"]
            Persimmon "persimmon" [Base "PersimmonModel", CausalLm "PersimmonForCausalLM",
                SequenceClassification "PersimmonForSequenceClassification",
                TokenClassification "PersimmonForTokenClassification"]
            Phi "phi" [Base "PhiModel", CausalLm "PhiForCausalLM",
                SequenceClassification "PhiForSequenceClassification",
                TokenClassification "PhiForTokenClassification"]
            PocketTts "pocket_tts" [Base "PocketTTSModel"]
            PocketTtsAudioTokenizerDecoder "pocket_tts_audio_tokenizer_decoder"
                [Base "PocketTTSAudioTokenizerDecoderModel"]
            Qwen25VlText "qwen2_5_vl_text" [Base "Qwen2_5_VLTextModel"]
            Qwen2VlText "qwen2_vl_text" [Base "Qwen2VLTextModel"]
            Qwen3VlText "qwen3_vl_text" [Base "Qwen3VLTextModel"]
            SeedOss "seed_oss" [Base "SeedOssModel", CausalLm "SeedOssForCausalLM",
                SequenceClassification "SeedOssForSequenceClassification",
                TokenClassification "SeedOssForTokenClassification",
                QuestionAnswering "SeedOssForQuestionAnswering"]
            Smollm3 "smollm3" [Base "SmolLM3Model", CausalLm "SmolLM3ForCausalLM",
                SequenceClassification "SmolLM3ForSequenceClassification",
                TokenClassification "SmolLM3ForTokenClassification",
                QuestionAnswering "SmolLM3ForQuestionAnswering"]
            Stablelm "stablelm" [Base "StableLmModel", CausalLm "StableLmForCausalLM",
                SequenceClassification "StableLmForSequenceClassification",
                TokenClassification "StableLmForTokenClassification"]
            Starcoder2 "starcoder2" [Base "Starcoder2Model", CausalLm "Starcoder2ForCausalLM",
                SequenceClassification "Starcoder2ForSequenceClassification",
                TokenClassification "Starcoder2ForTokenClassification"]
            Trocr "trocr" [CausalLm "TrOCRForCausalLM"]
            Vaultgemma "vaultgemma" [Base "VaultGemmaModel", CausalLm "VaultGemmaForCausalLM"]
            Xglm "xglm" [Base "XGLMModel", CausalLm "XGLMForCausalLM"]
            Xlnet "xlnet" [Base "XLNetModel", CausalLm "XLNetLMHeadModel",
                SequenceClassification "XLNetForSequenceClassification",
                TokenClassification "XLNetForTokenClassification",
                QuestionAnswering "XLNetForQuestionAnsweringSimple"]
            Youtu "youtu" [Base "YoutuModel", CausalLm "YoutuForCausalLM"]
        }
        Diffusion recorded_by "diffusion" {
            AceStepTransformer1DModel "AceStepTransformer1DModel" [Base "AceStepTransformer1DModel"]
            AllegroTransformer3DModel "AllegroTransformer3DModel" [Base "AllegroTransformer3DModel"]
            AnyFlowTransformer3DModel "AnyFlowTransformer3DModel" [Base "AnyFlowTransformer3DModel"]
            AsymmetricAutoencoderKL "AsymmetricAutoencoderKL"
                [Autoencoder "AsymmetricAutoencoderKL"]
            AuraFlowTransformer2DModel "AuraFlowTransformer2DModel"
                [Base "AuraFlowTransformer2DModel"]
            AutoencoderDC "AutoencoderDC" [Autoencoder "AutoencoderDC"]
            AutoencoderKLAllegro "AutoencoderKLAllegro" [Autoencoder "AutoencoderKLAllegro"]
            AutoencoderKLCogVideoX "AutoencoderKLCogVideoX" [Autoencoder "AutoencoderKLCogVideoX"]
            AutoencoderKLCosmos "AutoencoderKLCosmos" [Autoencoder "AutoencoderKLCosmos"]
            AutoencoderKLFlux2 "AutoencoderKLFlux2" [Autoencoder "AutoencoderKLFlux2"]
            AutoencoderKLHunyuanImage "AutoencoderKLHunyuanImage"
                [Autoencoder "AutoencoderKLHunyuanImage"]
            AutoencoderKLHunyuanImageRefiner "AutoencoderKLHunyuanImageRefiner"
                [Autoencoder "AutoencoderKLHunyuanImageRefiner"]
            AutoencoderKLHunyuanVideo "AutoencoderKLHunyuanVideo"
                [Autoencoder "AutoencoderKLHunyuanVideo"]
            AutoencoderKLHunyuanVideo15 "AutoencoderKLHunyuanVideo15"
                [Autoencoder "AutoencoderKLHunyuanVideo15"]
            AutoencoderKLKVAE "AutoencoderKLKVAE" [Autoencoder "AutoencoderKLKVAE"]
            AutoencoderKLKVAEAudio "AutoencoderKLKVAEAudio" [Autoencoder "AutoencoderKLKVAEAudio"]
            AutoencoderKLKVAEVideo "AutoencoderKLKVAEVideo" [Autoencoder "AutoencoderKLKVAEVideo"]
            AutoencoderKLLTX2Audio "AutoencoderKLLTX2Audio" [Autoencoder "AutoencoderKLLTX2Audio"]
            AutoencoderKLLTX2Video "AutoencoderKLLTX2Video" [Autoencoder "AutoencoderKLLTX2Video"]
            AutoencoderKLLTXVideo "AutoencoderKLLTXVideo" [Autoencoder "AutoencoderKLLTXVideo"]
            AutoencoderKLMagvit "AutoencoderKLMagvit" [Autoencoder "AutoencoderKLMagvit"]
            AutoencoderKLMiniMaxH3 "AutoencoderKLMiniMaxH3" [Autoencoder "AutoencoderKLMiniMaxH3"]
            AutoencoderKLMiniMaxH3Audio "AutoencoderKLMiniMaxH3Audio"
                [Autoencoder "AutoencoderKLMiniMaxH3Audio"]
            AutoencoderKLMochi "AutoencoderKLMochi" [Autoencoder "AutoencoderKLMochi"]
            AutoencoderKLQwenImage "AutoencoderKLQwenImage" [Autoencoder "AutoencoderKLQwenImage"]
            AutoencoderKLQwenImage21 "AutoencoderKLQwenImage21"
                [Autoencoder "AutoencoderKLQwenImage21"]
            AutoencoderKLTemporalDecoder "AutoencoderKLTemporalDecoder"
                [Autoencoder "AutoencoderKLTemporalDecoder"]
            AutoencoderKLWan "AutoencoderKLWan" [Autoencoder "AutoencoderKLWan"]
            AutoencoderOobleck "AutoencoderOobleck" [Autoencoder "AutoencoderOobleck"]
            AutoencoderRAE "AutoencoderRAE" [Autoencoder "AutoencoderRAE"]
            AutoencoderSAME "AutoencoderSAME" [Autoencoder "AutoencoderSAME"]
            AutoencoderTiny "AutoencoderTiny" [Autoencoder "AutoencoderTiny"]
            AutoencoderVidTok "AutoencoderVidTok" [Autoencoder "AutoencoderVidTok"]
            BriaFibo2Transformer2DModel "BriaFibo2Transformer2DModel"
                [Base "BriaFibo2Transformer2DModel"]
            BriaFiboTransformer2DModel "BriaFiboTransformer2DModel"
                [Base "BriaFiboTransformer2DModel"]
            BriaTransformer2DModel "BriaTransformer2DModel" [Base "BriaTransformer2DModel"]
            ChromaTransformer2DModel "ChromaTransformer2DModel" [Base "ChromaTransformer2DModel"]
            ChronoEditTransformer3DModel "ChronoEditTransformer3DModel"
                [Base "ChronoEditTransformer3DModel"]
            CogVideoXTransformer3DModel "CogVideoXTransformer3DModel"
                [Base "CogVideoXTransformer3DModel"]
            CogView3PlusTransformer2DModel "CogView3PlusTransformer2DModel"
                [Base "CogView3PlusTransformer2DModel"]
            CogView4Transformer2DModel "CogView4Transformer2DModel"
                [Base "CogView4Transformer2DModel"]
            ConsisIDTransformer3DModel "ConsisIDTransformer3DModel"
                [Base "ConsisIDTransformer3DModel"]
            ConsistencyDecoderVAE "ConsistencyDecoderVAE" [Autoencoder "ConsistencyDecoderVAE"]
            ControlNetModel "ControlNetModel" [Base "ControlNetModel"]
            Cosmos3AVAEAudioTokenizer "Cosmos3AVAEAudioTokenizer"
                [Autoencoder "Cosmos3AVAEAudioTokenizer"]
            CosmosControlNetModel "CosmosControlNetModel" [Base "CosmosControlNetModel"]
            CosmosTransformer3DModel "CosmosTransformer3DModel" [Base "CosmosTransformer3DModel"]
            DiTTransformer2DModel "DiTTransformer2DModel" [Base "DiTTransformer2DModel"]
            DreamLiteTransformer2DModel "DreamLiteTransformer2DModel"
                [Base "DreamLiteTransformer2DModel"]
            DreamLiteUNetModel "DreamLiteUNetModel" [Base "DreamLiteUNetModel"]
            EasyAnimateTransformer3DModel "EasyAnimateTransformer3DModel"
                [Base "EasyAnimateTransformer3DModel"]
            ErnieImageTransformer2DModel "ErnieImageTransformer2DModel"
                [Base "ErnieImageTransformer2DModel"]
            Flux2Transformer2DModel "Flux2Transformer2DModel" [Base "Flux2Transformer2DModel"]
            Flux3Transformer2DModel "Flux3Transformer2DModel" [Base "Flux3Transformer2DModel"]
            FluxControlNetModel "FluxControlNetModel" [Base "FluxControlNetModel"]
            FluxTransformer2DModel "FluxTransformer2DModel" [Base "FluxTransformer2DModel"]
            GlmImageTransformer2DModel "GlmImageTransformer2DModel"
                [Base "GlmImageTransformer2DModel"]
            HeliosTransformer3DModel "HeliosTransformer3DModel" [Base "HeliosTransformer3DModel"]
            HiDreamImageTransformer2DModel "HiDreamImageTransformer2DModel"
                [Base "HiDreamImageTransformer2DModel"]
            HunyuanDiT2DControlNetModel "HunyuanDiT2DControlNetModel"
                [Base "HunyuanDiT2DControlNetModel"]
            HunyuanDiT2DModel "HunyuanDiT2DModel" [Base "HunyuanDiT2DModel"]
            HunyuanDiT2DMultiControlNetModel "HunyuanDiT2DMultiControlNetModel"
                [Base "HunyuanDiT2DMultiControlNetModel"]
            HunyuanImageTransformer2DModel "HunyuanImageTransformer2DModel"
                [Base "HunyuanImageTransformer2DModel"]
            HunyuanVideo15Transformer3DModel "HunyuanVideo15Transformer3DModel"
                [Base "HunyuanVideo15Transformer3DModel"]
            HunyuanVideoFramepackTransformer3DModel "HunyuanVideoFramepackTransformer3DModel"
                [Base "HunyuanVideoFramepackTransformer3DModel"]
            HunyuanVideoTransformer3DModel "HunyuanVideoTransformer3DModel"
                [Base "HunyuanVideoTransformer3DModel"]
            I2VGenXLUNet "I2VGenXLUNet" [Base "I2VGenXLUNet"]
            Ideogram4Transformer2DModel "Ideogram4Transformer2DModel"
                [Base "Ideogram4Transformer2DModel"]
            JoyImageEditPlusTransformer3DModel "JoyImageEditPlusTransformer3DModel"
                [Base "JoyImageEditPlusTransformer3DModel"]
            JoyImageEditTransformer3DModel "JoyImageEditTransformer3DModel"
                [Base "JoyImageEditTransformer3DModel"]
            Kandinsky3UNet "Kandinsky3UNet" [Base "Kandinsky3UNet"]
            Kandinsky6SRTransformer3DModel "Kandinsky6SRTransformer3DModel"
                [Base "Kandinsky6SRTransformer3DModel"]
            Kandinsky6SRVAE "Kandinsky6SRVAE" [Autoencoder "Kandinsky6SRVAE"]
            Kandinsky6Transformer3DModel "Kandinsky6Transformer3DModel"
                [Base "Kandinsky6Transformer3DModel"]
            Krea2Transformer2DModel "Krea2Transformer2DModel" [Base "Krea2Transformer2DModel"]
            LatteTransformer3DModel "LatteTransformer3DModel" [Base "LatteTransformer3DModel"]
            LongCatAudioDiTTransformer "LongCatAudioDiTTransformer"
                [Base "LongCatAudioDiTTransformer"]
            LongCatAudioDiTVae "LongCatAudioDiTVae" [Autoencoder "LongCatAudioDiTVae"]
            LongCatImageTransformer2DModel "LongCatImageTransformer2DModel"
                [Base "LongCatImageTransformer2DModel"]
            LTX2VideoTransformer3DModel "LTX2VideoTransformer3DModel"
                [Base "LTX2VideoTransformer3DModel"]
            LTXVideoTransformer3DModel "LTXVideoTransformer3DModel"
                [Base "LTXVideoTransformer3DModel"]
            Lumina2Transformer2DModel "Lumina2Transformer2DModel" [Base "Lumina2Transformer2DModel"]
            LuminaNextDiT2DModel "LuminaNextDiT2DModel" [Base "LuminaNextDiT2DModel"]
            MiniMaxH3Transformer3DModel "MiniMaxH3Transformer3DModel"
                [Base "MiniMaxH3Transformer3DModel"]
            MiniMaxMusic3Transformer1DModel "MiniMaxMusic3Transformer1DModel"
                [Base "MiniMaxMusic3Transformer1DModel"]
            MMAudioVAE "MMAudioVAE" [Autoencoder "MMAudioVAE"]
            MochiTransformer3DModel "MochiTransformer3DModel" [Base "MochiTransformer3DModel"]
            MotifVideoTransformer3DModel "MotifVideoTransformer3DModel"
                [Base "MotifVideoTransformer3DModel"]
            OvisImageTransformer2DModel "OvisImageTransformer2DModel"
                [Base "OvisImageTransformer2DModel"]
            PixArtTransformer2DModel "PixArtTransformer2DModel" [Base "PixArtTransformer2DModel"]
            PriorTransformer "PriorTransformer" [Base "PriorTransformer"]
            PRXTransformer2DModel "PRXTransformer2DModel" [Base "PRXTransformer2DModel"]
            QwenImageControlNetModel "QwenImageControlNetModel" [Base "QwenImageControlNetModel"]
            QwenImageTransformer2DModel "QwenImageTransformer2DModel"
                [Base "QwenImageTransformer2DModel"]
            RFD4ProteinaAutoencoder "RFD4ProteinaAutoencoder"
                [Autoencoder "RFD4ProteinaAutoencoder"]
            RFD4ProteinaTransformer "RFD4ProteinaTransformer" [Base "RFD4ProteinaTransformer"]
            SanaControlNetModel "SanaControlNetModel" [Base "SanaControlNetModel"]
            SanaTransformer2DModel "SanaTransformer2DModel" [Base "SanaTransformer2DModel"]
            SanaVideoTransformer3DModel "SanaVideoTransformer3DModel"
                [Base "SanaVideoTransformer3DModel"]
            SanaWMTransformer3DModel "SanaWMTransformer3DModel" [Base "SanaWMTransformer3DModel"]
            SD3ControlNetModel "SD3ControlNetModel" [Base "SD3ControlNetModel"]
            SD3Transformer2DModel "SD3Transformer2DModel" [Base "SD3Transformer2DModel"]
            SkyReelsV2Transformer3DModel "SkyReelsV2Transformer3DModel"
                [Base "SkyReelsV2Transformer3DModel"]
            SparseControlNetModel "SparseControlNetModel" [Base "SparseControlNetModel"]
            StableAudio3DiTModel "StableAudio3DiTModel" [Base "StableAudio3DiTModel"]
            StableAudioDiTModel "StableAudioDiTModel" [Base "StableAudioDiTModel"]
            StableCascadeUNet "StableCascadeUNet" [Base "StableCascadeUNet"]
            T5FilmDecoder "T5FilmDecoder" [Base "T5FilmDecoder"]
            Transformer2DModel "Transformer2DModel" [Base "Transformer2DModel"]
            TransformerTemporalModel "TransformerTemporalModel" [Base "TransformerTemporalModel"]
            UNet1DModel "UNet1DModel" [Base "UNet1DModel"]
            UNet2DModel "UNet2DModel" [Base "UNet2DModel"]
            UNet3DConditionModel "UNet3DConditionModel" [Base "UNet3DConditionModel"]
            UNetControlNetXSModel "UNetControlNetXSModel" [Base "UNetControlNetXSModel"]
            UNetMotionModel "UNetMotionModel" [Base "UNetMotionModel"]
            UNetSpatioTemporalConditionModel "UNetSpatioTemporalConditionModel"
                [Base "UNetSpatioTemporalConditionModel"]
            VQModel "VQModel" [Autoencoder "VQModel"]
            WanAnimateTransformer3DModel "WanAnimateTransformer3DModel"
                [Base "WanAnimateTransformer3DModel"]
            WanTransformer3DModel "WanTransformer3DModel" [Base "WanTransformer3DModel"]
            WanVACETransformer3DModel "WanVACETransformer3DModel" [Base "WanVACETransformer3DModel"]
        }
        EncoderDecoder recorded_by "encoder_decoder" {
            BigbirdPegasus "bigbird_pegasus" [Base "BigBirdPegasusModel",
                ConditionalGeneration "BigBirdPegasusForConditionalGeneration",
                SequenceClassification "BigBirdPegasusForSequenceClassification",
                QuestionAnswering "BigBirdPegasusForQuestionAnswering"]
            Blenderbot "blenderbot" [Base "BlenderbotModel",
                ConditionalGeneration "BlenderbotForConditionalGeneration"]
            BlenderbotSmall "blenderbot-small" [Base "BlenderbotSmallModel",
                ConditionalGeneration "BlenderbotSmallForConditionalGeneration"]
            EncoderDecoder "encoder-decoder" [ConditionalGeneration "EncoderDecoderModel"]
            Fsmt "fsmt" [Base "FSMTModel", ConditionalGeneration "FSMTForConditionalGeneration"]
            Led "led" [Base "LEDModel", ConditionalGeneration "LEDForConditionalGeneration",
                QuestionAnswering "LEDForQuestionAnswering"]
            Longt5 "longt5" [Base "LongT5Model",
                ConditionalGeneration "LongT5ForConditionalGeneration",
                Encoder "LongT5EncoderModel"]
            M2m100 "m2m_100" [Base "M2M100Model",
                ConditionalGeneration "M2M100ForConditionalGeneration"]
            Mbart "mbart" [Base "MBartModel", ConditionalGeneration "MBartForConditionalGeneration",
                SequenceClassification "MBartForSequenceClassification",
                QuestionAnswering "MBartForQuestionAnswering"]
            Mt5 "mt5" [Base "MT5Model", ConditionalGeneration "MT5ForConditionalGeneration",
                Encoder "MT5EncoderModel", SequenceClassification "MT5ForSequenceClassification",
                QuestionAnswering "MT5ForQuestionAnswering"]
            Mvp "mvp" [Base "MvpModel", ConditionalGeneration "MvpForConditionalGeneration",
                SequenceClassification "MvpForSequenceClassification",
                QuestionAnswering "MvpForQuestionAnswering"]
            NllbMoe "nllb-moe" [Base "NllbMoeModel",
                ConditionalGeneration "NllbMoeForConditionalGeneration"]
            PegasusX "pegasus_x" [Base "PegasusXModel",
                ConditionalGeneration "PegasusXForConditionalGeneration"]
            Plbart "plbart" [Base "PLBartModel",
                ConditionalGeneration "PLBartForConditionalGeneration",
                SequenceClassification "PLBartForSequenceClassification"]
            Prophetnet "prophetnet" [Base "ProphetNetModel",
                ConditionalGeneration "ProphetNetForConditionalGeneration"]
            SwitchTransformers "switch_transformers" [Base "SwitchTransformersModel",
                ConditionalGeneration "SwitchTransformersForConditionalGeneration",
                Encoder "SwitchTransformersEncoderModel"]
            T5gemma "t5gemma" [Base "T5GemmaModel",
                ConditionalGeneration "T5GemmaForConditionalGeneration",
                Encoder "T5GemmaEncoderModel",
                SequenceClassification "T5GemmaForSequenceClassification"]
            Umt5 "umt5" [Base "UMT5Model", ConditionalGeneration "UMT5ForConditionalGeneration",
                Encoder "UMT5EncoderModel", SequenceClassification "UMT5ForSequenceClassification",
                QuestionAnswering "UMT5ForQuestionAnswering"]
        }
        EncoderOnly recorded_by "encoder_only" {
            Bark "bark" [Base "BarkModel"]
            BigBird "big_bird" [Base "BigBirdModel", MaskedLm "BigBirdForMaskedLM",
                PreTraining "BigBirdForPreTraining",
                SequenceClassification "BigBirdForSequenceClassification",
                TokenClassification "BigBirdForTokenClassification",
                QuestionAnswering "BigBirdForQuestionAnswering",
                MultipleChoice "BigBirdForMultipleChoice"]
            Blip2Qformer "blip_2_qformer" [Base "Blip2QFormerModel"]
            Bridgetower "bridgetower" [Base "BridgeTowerModel"]
            Bros "bros" [Base "BrosModel", TokenClassification "BrosForTokenClassification"]
            Camembert "camembert" [Base "CamembertModel", MaskedLm "CamembertForMaskedLM",
                SequenceClassification "CamembertForSequenceClassification",
                TokenClassification "CamembertForTokenClassification",
                QuestionAnswering "CamembertForQuestionAnswering",
                MultipleChoice "CamembertForMultipleChoice"]
            Canine "canine" [Base "CanineModel",
                SequenceClassification "CanineForSequenceClassification",
                TokenClassification "CanineForTokenClassification",
                QuestionAnswering "CanineForQuestionAnswering",
                MultipleChoice "CanineForMultipleChoice"]
            ClipTextModel "clip_text_model" [Base "CLIPTextModel"]
            Clvp "clvp" [Base "ClvpModelForConditionalGeneration"]
            Convbert "convbert" [Base "ConvBertModel", MaskedLm "ConvBertForMaskedLM",
                SequenceClassification "ConvBertForSequenceClassification",
                TokenClassification "ConvBertForTokenClassification",
                QuestionAnswering "ConvBertForQuestionAnswering",
                MultipleChoice "ConvBertForMultipleChoice"]
            Data2vecText "data2vec-text" [Base "Data2VecTextModel",
                MaskedLm "Data2VecTextForMaskedLM",
                SequenceClassification "Data2VecTextForSequenceClassification",
                TokenClassification "Data2VecTextForTokenClassification",
                QuestionAnswering "Data2VecTextForQuestionAnswering",
                MultipleChoice "Data2VecTextForMultipleChoice"]
            Deberta "deberta" [Base "DebertaModel", MaskedLm "DebertaForMaskedLM",
                SequenceClassification "DebertaForSequenceClassification",
                TokenClassification "DebertaForTokenClassification",
                QuestionAnswering "DebertaForQuestionAnswering"]
            DecisionTransformer "decision_transformer" [Base "DecisionTransformerModel"]
            Dpr "dpr" [Base "DPRQuestionEncoder"]
            EmbeddingGemma2 "embedding_gemma2" [Base "EmbeddingGemma2Model"]
            EmbeddingGemma2Text "embedding_gemma2_text" [Base "EmbeddingGemma2TextModel"]
            Ernie "ernie" [Base "ErnieModel", MaskedLm "ErnieForMaskedLM",
                PreTraining "ErnieForPreTraining", NextSentence "ErnieForNextSentencePrediction",
                SequenceClassification "ErnieForSequenceClassification",
                TokenClassification "ErnieForTokenClassification",
                QuestionAnswering "ErnieForQuestionAnswering",
                MultipleChoice "ErnieForMultipleChoice"]
            Esm "esm" [Base "EsmModel", MaskedLm "EsmForMaskedLM",
                SequenceClassification "EsmForSequenceClassification",
                TokenClassification "EsmForTokenClassification"]
            Esmc "esmc" [Base "EsmcModel", MaskedLm "EsmcForMaskedLM",
                SequenceClassification "EsmcForSequenceClassification",
                TokenClassification "EsmcForTokenClassification"]
            Eurobert "eurobert" [Base "EuroBertModel", MaskedLm "EuroBertForMaskedLM",
                SequenceClassification "EuroBertForSequenceClassification",
                TokenClassification "EuroBertForTokenClassification"]
            Fastspeech2Conformer "fastspeech2_conformer" [Base "FastSpeech2ConformerModel"]
            Fastspeech2ConformerWithHifigan "fastspeech2_conformer_with_hifigan"
                [Base "FastSpeech2ConformerWithHifiGan"]
            Flaubert "flaubert" [Base "FlaubertModel", MaskedLm "FlaubertWithLMHeadModel",
                SequenceClassification "FlaubertForSequenceClassification",
                TokenClassification "FlaubertForTokenClassification",
                QuestionAnswering "FlaubertForQuestionAnsweringSimple",
                MultipleChoice "FlaubertForMultipleChoice"]
            Fnet "fnet" [Base "FNetModel", MaskedLm "FNetForMaskedLM",
                PreTraining "FNetForPreTraining", NextSentence "FNetForNextSentencePrediction",
                SequenceClassification "FNetForSequenceClassification",
                TokenClassification "FNetForTokenClassification",
                QuestionAnswering "FNetForQuestionAnswering",
                MultipleChoice "FNetForMultipleChoice"]
            Funnel "funnel" [Base "FunnelModel", MaskedLm "FunnelForMaskedLM",
                PreTraining "FunnelForPreTraining",
                SequenceClassification "FunnelForSequenceClassification",
                TokenClassification "FunnelForTokenClassification",
                QuestionAnswering "FunnelForQuestionAnswering",
                MultipleChoice "FunnelForMultipleChoice"]
            GlmImageVqmodel "glm_image_vqmodel" [Base "GlmImageVQVAE"]
            Gte "gte" [Base "GteModel", MaskedLm "GteForMaskedLM",
                SequenceClassification "GteForSequenceClassification",
                TokenClassification "GteForTokenClassification"]
            Ibert "ibert" [Base "IBertModel", MaskedLm "IBertForMaskedLM",
                SequenceClassification "IBertForSequenceClassification",
                TokenClassification "IBertForTokenClassification",
                QuestionAnswering "IBertForQuestionAnswering",
                MultipleChoice "IBertForMultipleChoice"]
            JinaEmbeddingsV3 "jina_embeddings_v3" [Base "JinaEmbeddingsV3Model",
                MaskedLm "JinaEmbeddingsV3ForMaskedLM",
                SequenceClassification "JinaEmbeddingsV3ForSequenceClassification",
                TokenClassification "JinaEmbeddingsV3ForTokenClassification",
                QuestionAnswering "JinaEmbeddingsV3ForQuestionAnswering"]
            Layoutlm "layoutlm" [Base "LayoutLMModel", MaskedLm "LayoutLMForMaskedLM",
                SequenceClassification "LayoutLMForSequenceClassification",
                TokenClassification "LayoutLMForTokenClassification",
                DocumentQuestionAnswering "LayoutLMForQuestionAnswering"]
            Layoutlmv2 "layoutlmv2" [Base "LayoutLMv2Model",
                SequenceClassification "LayoutLMv2ForSequenceClassification",
                TokenClassification "LayoutLMv2ForTokenClassification",
                DocumentQuestionAnswering "LayoutLMv2ForQuestionAnswering"]
            Layoutlmv3 "layoutlmv3" [Base "LayoutLMv3Model",
                SequenceClassification "LayoutLMv3ForSequenceClassification",
                TokenClassification "LayoutLMv3ForTokenClassification",
                DocumentQuestionAnswering "LayoutLMv3ForQuestionAnswering"]
            Lilt "lilt" [Base "LiltModel", SequenceClassification "LiltForSequenceClassification",
                TokenClassification "LiltForTokenClassification",
                QuestionAnswering "LiltForQuestionAnswering"]
            Longformer "longformer" [Base "LongformerModel", MaskedLm "LongformerForMaskedLM",
                SequenceClassification "LongformerForSequenceClassification",
                TokenClassification "LongformerForTokenClassification",
                QuestionAnswering "LongformerForQuestionAnswering",
                MultipleChoice "LongformerForMultipleChoice"]
            Luke "luke" [Base "LukeModel", MaskedLm "LukeForMaskedLM",
                SequenceClassification "LukeForSequenceClassification",
                TokenClassification "LukeForTokenClassification",
                QuestionAnswering "LukeForQuestionAnswering",
                MultipleChoice "LukeForMultipleChoice"]
            Lxmert "lxmert" [Base "LxmertModel", PreTraining "LxmertForPreTraining",
                QuestionAnswering "LxmertForQuestionAnswering"]
            Markuplm "markuplm" [Base "MarkupLMModel",
                SequenceClassification "MarkupLMForSequenceClassification",
                TokenClassification "MarkupLMForTokenClassification",
                QuestionAnswering "MarkupLMForQuestionAnswering"]
            MegatronBert "megatron-bert" [Base "MegatronBertModel",
                MaskedLm "MegatronBertForMaskedLM", PreTraining "MegatronBertForPreTraining",
                NextSentence "MegatronBertForNextSentencePrediction",
                SequenceClassification "MegatronBertForSequenceClassification",
                TokenClassification "MegatronBertForTokenClassification",
                QuestionAnswering "MegatronBertForQuestionAnswering",
                MultipleChoice "MegatronBertForMultipleChoice"]
            Mobilebert "mobilebert" [Base "MobileBertModel", MaskedLm "MobileBertForMaskedLM",
                PreTraining "MobileBertForPreTraining",
                NextSentence "MobileBertForNextSentencePrediction",
                SequenceClassification "MobileBertForSequenceClassification",
                TokenClassification "MobileBertForTokenClassification",
                QuestionAnswering "MobileBertForQuestionAnswering",
                MultipleChoice "MobileBertForMultipleChoice"]
            Modernvbert "modernvbert" [Base "ModernVBertModel", MaskedLm "ModernVBertForMaskedLM",
                SequenceClassification "ModernVBertForSequenceClassification",
                TokenClassification "ModernVBertForTokenClassification"]
            Mra "mra" [Base "MraModel", MaskedLm "MraForMaskedLM",
                SequenceClassification "MraForSequenceClassification",
                TokenClassification "MraForTokenClassification",
                QuestionAnswering "MraForQuestionAnswering", MultipleChoice "MraForMultipleChoice"]
            Nemotron35TranscribeWordTimestamp "nemotron3_5_transcribe_word_timestamp"
                [Base "Nemotron3_5TranscribeWordTimestampModel"]
            Neomme "neomme" [Base "NeoMMEModel", MaskedLm "NeoMMEForMaskedLM"]
            NomicBert "nomic_bert" [Base "NomicBertModel", MaskedLm "NomicBertForMaskedLM",
                SequenceClassification "NomicBertForSequenceClassification",
                TokenClassification "NomicBertForTokenClassification"]
            Nystromformer "nystromformer" [Base "NystromformerModel",
                MaskedLm "NystromformerForMaskedLM",
                SequenceClassification "NystromformerForSequenceClassification",
                TokenClassification "NystromformerForTokenClassification",
                QuestionAnswering "NystromformerForQuestionAnswering",
                MultipleChoice "NystromformerForMultipleChoice"]
            OpenaiPrivacyFilter "openai_privacy_filter" [Base "OpenAIPrivacyFilterModel",
                TokenClassification "OpenAIPrivacyFilterForTokenClassification"]
            PeVideo "pe_video" [Base "PeVideoModel"]
            Perceiver "perceiver" [Base "PerceiverModel", MaskedLm "PerceiverForMaskedLM",
                SequenceClassification "PerceiverForSequenceClassification"]
            Reformer "reformer" [Base "ReformerModel", MaskedLm "ReformerForMaskedLM",
                SequenceClassification "ReformerForSequenceClassification",
                QuestionAnswering "ReformerForQuestionAnswering"]
            Rembert "rembert" [Base "RemBertModel", MaskedLm "RemBertForMaskedLM",
                SequenceClassification "RemBertForSequenceClassification",
                TokenClassification "RemBertForTokenClassification",
                QuestionAnswering "RemBertForQuestionAnswering",
                MultipleChoice "RemBertForMultipleChoice"]
            RobertaPrelayernorm "roberta-prelayernorm" [Base "RobertaPreLayerNormModel",
                MaskedLm "RobertaPreLayerNormForMaskedLM",
                SequenceClassification "RobertaPreLayerNormForSequenceClassification",
                TokenClassification "RobertaPreLayerNormForTokenClassification",
                QuestionAnswering "RobertaPreLayerNormForQuestionAnswering",
                MultipleChoice "RobertaPreLayerNormForMultipleChoice"]
            RocBert "roc_bert" [Base "RoCBertModel", MaskedLm "RoCBertForMaskedLM",
                PreTraining "RoCBertForPreTraining",
                SequenceClassification "RoCBertForSequenceClassification",
                TokenClassification "RoCBertForTokenClassification",
                QuestionAnswering "RoCBertForQuestionAnswering",
                MultipleChoice "RoCBertForMultipleChoice"]
            Roformer "roformer" [Base "RoFormerModel", MaskedLm "RoFormerForMaskedLM",
                SequenceClassification "RoFormerForSequenceClassification",
                TokenClassification "RoFormerForTokenClassification",
                QuestionAnswering "RoFormerForQuestionAnswering",
                MultipleChoice "RoFormerForMultipleChoice"]
            Splinter "splinter" [Base "SplinterModel", PreTraining "SplinterForPreTraining",
                QuestionAnswering "SplinterForQuestionAnswering"]
            Squeezebert "squeezebert" [Base "SqueezeBertModel", MaskedLm "SqueezeBertForMaskedLM",
                SequenceClassification "SqueezeBertForSequenceClassification",
                TokenClassification "SqueezeBertForTokenClassification",
                QuestionAnswering "SqueezeBertForQuestionAnswering",
                MultipleChoice "SqueezeBertForMultipleChoice"]
            T5gemma2Encoder "t5gemma2_encoder" [Base "T5Gemma2Encoder"]
            Tapas "tapas" [Base "TapasModel", MaskedLm "TapasForMaskedLM",
                SequenceClassification "TapasForSequenceClassification"]
            Tipsv2TextModel "tipsv2_text_model" [Base "Tipsv2TextModel"]
            Tvp "tvp" [Base "TvpModel"]
            Ultrabert "ultrabert" [Base "UltrabertModel", MaskedLm "UltrabertForMaskedLM",
                SequenceClassification "UltrabertForSequenceClassification",
                TokenClassification "UltrabertForTokenClassification",
                QuestionAnswering "UltrabertForQuestionAnswering"]
            Ultravbert "ultravbert" [Base "UltraVBertModel", MaskedLm "UltraVBertForMaskedLM",
                SequenceClassification "UltraVBertForSequenceClassification",
                TokenClassification "UltraVBertForTokenClassification"]
            Vilt "vilt" [Base "ViltModel"]
            VisualBert "visual_bert" [Base "VisualBertModel",
                PreTraining "VisualBertForPreTraining"]
            Vits "vits" [TextToWaveform "VitsModel"]
            Xclip "xclip" [Base "XCLIPModel"]
            Xlm "xlm" [Base "XLMModel", MaskedLm "XLMWithLMHeadModel",
                SequenceClassification "XLMForSequenceClassification",
                TokenClassification "XLMForTokenClassification",
                QuestionAnswering "XLMForQuestionAnsweringSimple",
                MultipleChoice "XLMForMultipleChoice"]
            XlmRobertaXl "xlm-roberta-xl" [Base "XLMRobertaXLModel",
                MaskedLm "XLMRobertaXLForMaskedLM",
                SequenceClassification "XLMRobertaXLForSequenceClassification",
                TokenClassification "XLMRobertaXLForTokenClassification",
                QuestionAnswering "XLMRobertaXLForQuestionAnswering",
                MultipleChoice "XLMRobertaXLForMultipleChoice"]
            Xmod "xmod" [Base "XmodModel", MaskedLm "XmodForMaskedLM",
                SequenceClassification "XmodForSequenceClassification",
                TokenClassification "XmodForTokenClassification",
                QuestionAnswering "XmodForQuestionAnswering",
                MultipleChoice "XmodForMultipleChoice"]
            Yoso "yoso" [Base "YosoModel", MaskedLm "YosoForMaskedLM",
                SequenceClassification "YosoForSequenceClassification",
                TokenClassification "YosoForTokenClassification",
                QuestionAnswering "YosoForQuestionAnswering",
                MultipleChoice "YosoForMultipleChoice"]
        }
        Moe recorded_by "decoder_only" {
            Afmoe "afmoe" [Base "AfmoeModel", CausalLm "AfmoeForCausalLM"]
            AriaText "aria_text" [Base "AriaTextModel", CausalLm "AriaTextForCausalLM"]
            Axk1 "axk1" [Base "AXK1Model", CausalLm "AXK1ForCausalLM",
                SequenceClassification "AXK1ForSequenceClassification",
                TokenClassification "AXK1ForTokenClassification"]
            Axk2 "axk2" [Base "AXK2Model", CausalLm "AXK2ForCausalLM",
                SequenceClassification "AXK2ForSequenceClassification",
                TokenClassification "AXK2ForTokenClassification"]
            Beam "beam" [Base "BeamModel", CausalLm "BeamForCausalLM"]
            Cohere2Moe "cohere2_moe" [Base "Cohere2MoeModel", CausalLm "Cohere2MoeForCausalLM"]
            DeepseekV2 "deepseek_v2" [Base "DeepseekV2Model", CausalLm "DeepseekV2ForCausalLM",
                SequenceClassification "DeepseekV2ForSequenceClassification"]
            DeepseekV3 "deepseek_v3" [Base "DeepseekV3Model", CausalLm "DeepseekV3ForCausalLM",
                SequenceClassification "DeepseekV3ForSequenceClassification",
                TokenClassification "DeepseekV3ForTokenClassification"]
            DeepseekV32 "deepseek_v32" [Base "DeepseekV32Model", CausalLm "DeepseekV32ForCausalLM"]
            Doge "doge" [Base "DogeModel", CausalLm "DogeForCausalLM",
                SequenceClassification "DogeForSequenceClassification"]
            Dots3NoteText "dots3_note_text" [Base "Dots3NoteTextModel",
                CausalLm "Dots3NoteForCausalLM"]
            Ernie45Moe "ernie4_5_moe" [Base "Ernie4_5_MoeModel", CausalLm "Ernie4_5_MoeForCausalLM"]
            ExaoneMoe "exaone_moe" [Base "ExaoneMoeModel", CausalLm "ExaoneMoeForCausalLM"]
            FlexOlmo "flex_olmo" [Base "FlexOlmoModel", CausalLm "FlexOlmoForCausalLM"]
            Flint "flint" [Base "FlintModel", CausalLm "FlintForCausalLM"]
            Glm4Moe "glm4_moe" [Base "Glm4MoeModel", CausalLm "Glm4MoeForCausalLM"]
            Glm4MoeLite "glm4_moe_lite" [Base "Glm4MoeLiteModel", CausalLm "Glm4MoeLiteForCausalLM"]
            Glm4vMoeText "glm4v_moe_text" [Base "Glm4vMoeTextModel"]
            GlmMoeDsa "glm_moe_dsa" [Base "GlmMoeDsaModel", CausalLm "GlmMoeDsaForCausalLM"]
            GptOss "gpt_oss" [Base "GptOssModel", CausalLm "GptOssForCausalLM",
                SequenceClassification "GptOssForSequenceClassification",
                TokenClassification "GptOssForTokenClassification"]
            Granitemoe "granitemoe" [Base "GraniteMoeModel", CausalLm "GraniteMoeForCausalLM"]
            GranitemoeSwa "granitemoe_swa" [Base "GraniteMoeSWAModel",
                CausalLm "GraniteMoeSWAForCausalLM"]
            Granitemoeshared "granitemoeshared" [Base "GraniteMoeSharedModel",
                CausalLm "GraniteMoeSharedForCausalLM"]
            HunyuanV1Moe "hunyuan_v1_moe" [Base "HunYuanMoEV1Model",
                CausalLm "HunYuanMoEV1ForCausalLM",
                SequenceClassification "HunYuanMoEV1ForSequenceClassification"]
            HyV3 "hy_v3" [Base "HYV3Model", CausalLm "HYV3ForCausalLM"]
            HyV4 "hy_v4" [Base "HYV4Model", CausalLm "HYV4ForCausalLM"]
            Inkling2Text "inkling2_text" [Base "Inkling2TextModel", CausalLm "Inkling2ForCausalLM"]
            InklingText "inkling_text" [Base "InklingTextModel", CausalLm "InklingForCausalLM"]
            Jetmoe "jetmoe" [Base "JetMoeModel", CausalLm "JetMoeForCausalLM",
                SequenceClassification "JetMoeForSequenceClassification"]
            Kolibri1 "kolibri1" [Base "Kolibri1Model", CausalLm "Kolibri1ForCausalLM"]
            Laguna "laguna" [Base "LagunaModel", CausalLm "LagunaForCausalLM"]
            Lfm2Moe "lfm2_moe" [Base "Lfm2MoeModel", CausalLm "Lfm2MoeForCausalLM"]
            Llama4Text "llama4_text" [Base "Llama4TextModel", CausalLm "Llama4ForCausalLM"]
            LongcatFlash "longcat_flash" [Base "LongcatFlashModel",
                CausalLm "LongcatFlashForCausalLM"]
            Mellum "mellum" [Base "MellumModel", CausalLm "MellumForCausalLM"]
            MimoV2Flash "mimo_v2_flash" [Base "MiMoV2FlashModel", CausalLm "MiMoV2FlashForCausalLM"]
            Minimax "minimax" [Base "MiniMaxModel", CausalLm "MiniMaxForCausalLM",
                SequenceClassification "MiniMaxForSequenceClassification",
                TokenClassification "MiniMaxForTokenClassification",
                QuestionAnswering "MiniMaxForQuestionAnswering"]
            MinimaxM2 "minimax_m2" [Base "MiniMaxM2Model", CausalLm "MiniMaxM2ForCausalLM"]
            MinimaxM3VlText "minimax_m3_vl_text" [Base "MiniMaxM3VLTextModel",
                CausalLm "MiniMaxM3VLForCausalLM"]
            MistralLarge4Text "mistral_large4_text" [Base "MistralLarge4TextModel"]
            MuseSparkText "muse_spark_text" [Base "MuseSparkTextModel"]
            Phimoe "phimoe" [Base "PhimoeModel", CausalLm "PhimoeForCausalLM",
                SequenceClassification "PhimoeForSequenceClassification"]
            Qwen2Moe "qwen2_moe" [Base "Qwen2MoeModel", CausalLm "Qwen2MoeForCausalLM",
                SequenceClassification "Qwen2MoeForSequenceClassification",
                TokenClassification "Qwen2MoeForTokenClassification",
                QuestionAnswering "Qwen2MoeForQuestionAnswering"]
            Qwen3VlMoeText "qwen3_vl_moe_text" [Base "Qwen3VLMoeTextModel"]
            SolarOpen "solar_open" [Base "SolarOpenModel", CausalLm "SolarOpenForCausalLM"]
            Zaya "zaya" [Base "ZayaModel", CausalLm "ZayaForCausalLM"]
        }
        Multimodal recorded_by "multimodal" {
            Aria "aria" [ConditionalGeneration "AriaForConditionalGeneration"]
            AyaVision "aya_vision" [ConditionalGeneration "AyaVisionForConditionalGeneration"]
            Blip "blip" [ConditionalGeneration "BlipForConditionalGeneration"]
            Blip2 "blip-2" [ConditionalGeneration "Blip2ForConditionalGeneration"]
            Chameleon "chameleon" [ConditionalGeneration "ChameleonForConditionalGeneration"]
            Cohere2Vision "cohere2_vision"
                [ConditionalGeneration "Cohere2VisionForConditionalGeneration"]
            CohereCompass "cohere_compass"
                [ConditionalGeneration "CohereCompassForConditionalGeneration"]
            Cosmos3Edge "cosmos3_edge" [ConditionalGeneration "Cosmos3EdgeForConditionalGeneration"]
            Cosmos3Omni "cosmos3_omni" [ConditionalGeneration "Cosmos3OmniForConditionalGeneration"]
            DeepseekOcr2 "deepseek_ocr2"
                [ConditionalGeneration "DeepseekOcr2ForConditionalGeneration"]
            DeepseekVl "deepseek_vl" [ConditionalGeneration "DeepseekVLForConditionalGeneration"]
            DeepseekVlHybrid "deepseek_vl_hybrid"
                [ConditionalGeneration "DeepseekVLHybridForConditionalGeneration"]
            DiffusionGemma "diffusion_gemma"
                [ConditionalGeneration "DiffusionGemmaForBlockDiffusion"]
            Dots3Note "dots3_note" [ConditionalGeneration "Dots3NoteForConditionalGeneration"]
            Emu3 "emu3" [ConditionalGeneration "Emu3ForConditionalGeneration"]
            Ernie45VlMoe "ernie4_5_vl_moe"
                [ConditionalGeneration "Ernie4_5_VLMoeForConditionalGeneration"]
            Evolla "evolla" [ConditionalGeneration "EvollaForProteinText2Text"]
            Exaone45 "exaone4_5" [ConditionalGeneration "Exaone4_5_ForConditionalGeneration"]
            FastVlm "fast_vlm" [ConditionalGeneration "FastVlmForConditionalGeneration"]
            Florence2 "florence2" [ConditionalGeneration "Florence2ForConditionalGeneration"]
            Fuyu "fuyu" [ConditionalGeneration "FuyuForCausalLM"]
            Gemma3 "gemma3" [ConditionalGeneration "Gemma3ForConditionalGeneration"]
            Gemma3n "gemma3n" [ConditionalGeneration "Gemma3nForConditionalGeneration"]
            Gemma4 "gemma4" [ConditionalGeneration "Gemma4ForConditionalGeneration"]
            Gemma4Unified "gemma4_unified"
                [ConditionalGeneration "Gemma4UnifiedForConditionalGeneration"]
            Git "git" [ConditionalGeneration "GitForCausalLM"]
            Glm46v "glm46v" [ConditionalGeneration "Glm46VForConditionalGeneration"]
            Glm4v "glm4v" [ConditionalGeneration "Glm4vForConditionalGeneration"]
            Glm4vMoe "glm4v_moe" [ConditionalGeneration "Glm4vMoeForConditionalGeneration"]
            Glm5Next "glm5_next" [ConditionalGeneration "Glm5NextForConditionalGeneration"]
            GlmOcr "glm_ocr" [ConditionalGeneration "GlmOcrForConditionalGeneration"]
            GotOcr2 "got_ocr2" [ConditionalGeneration "GotOcr2ForConditionalGeneration"]
            Granite4Vision "granite4_vision"
                [ConditionalGeneration "Granite4VisionForConditionalGeneration"]
            GraniteDocling "granite_docling"
                [ConditionalGeneration "GraniteDoclingForConditionalGeneration"]
            HunyuanVl "hunyuan_vl" [ConditionalGeneration "HunYuanVLForConditionalGeneration"]
            HyperclovaxVisionV2 "hyperclovax_vision_v2"
                [ConditionalGeneration "HyperCLOVAXVisionV2ForConditionalGeneration"]
            Idefics "idefics" [ConditionalGeneration "IdeficsForVisionText2Text"]
            Idefics2 "idefics2" [ConditionalGeneration "Idefics2ForConditionalGeneration"]
            Idefics3 "idefics3" [ConditionalGeneration "Idefics3ForConditionalGeneration"]
            Inkling2 "inkling2" [ConditionalGeneration "Inkling2ForConditionalGeneration"]
            InklingMmModel "inkling_mm_model"
                [ConditionalGeneration "InklingForConditionalGeneration"]
            Instructblip "instructblip"
                [ConditionalGeneration "InstructBlipForConditionalGeneration"]
            Instructblipvideo "instructblipvideo"
                [ConditionalGeneration "InstructBlipVideoForConditionalGeneration"]
            Internvl "internvl" [ConditionalGeneration "InternVLForConditionalGeneration"]
            Janus "janus" [ConditionalGeneration "JanusForConditionalGeneration"]
            KimiK25 "kimi_k25" [ConditionalGeneration "Kimi_K25ForConditionalGeneration"]
            Kosmos2 "kosmos-2" [ConditionalGeneration "Kosmos2ForConditionalGeneration"]
            Kosmos25 "kosmos-2.5" [ConditionalGeneration "Kosmos2_5ForConditionalGeneration"]
            Lfm2Vl "lfm2_vl" [ConditionalGeneration "Lfm2VlForConditionalGeneration"]
            Lfm3Vl "lfm3_vl" [ConditionalGeneration "Lfm3VlForConditionalGeneration"]
            LightonOcr "lighton_ocr" [ConditionalGeneration "LightOnOcrForConditionalGeneration"]
            Llama4 "llama4" [ConditionalGeneration "Llama4ForConditionalGeneration"]
            LlavaNext "llava_next" [ConditionalGeneration "LlavaNextForConditionalGeneration"]
            LlavaNextVideo "llava_next_video"
                [ConditionalGeneration "LlavaNextVideoForConditionalGeneration"]
            LlavaOnevision "llava_onevision"
                [ConditionalGeneration "LlavaOnevisionForConditionalGeneration"]
            MinicpmOcr "minicpm_ocr" [ConditionalGeneration "MiniCPMOcrForConditionalGeneration"]
            Minicpmv46 "minicpmv4_6" [ConditionalGeneration "MiniCPMV4_6ForConditionalGeneration"]
            Minicpmv47 "minicpmv4_7" [ConditionalGeneration "MiniCPMV4_7ForConditionalGeneration"]
            MinimaxM3Vl "minimax_m3_vl"
                [ConditionalGeneration "MiniMaxM3SparseForConditionalGeneration"]
            Mistral3 "mistral3" [ConditionalGeneration "Mistral3ForConditionalGeneration"]
            Mistral4 "mistral4" [ConditionalGeneration "Mistral4ForCausalLM"]
            MistralLarge4 "mistral_large4"
                [ConditionalGeneration "MistralLarge4ForConditionalGeneration"]
            Mllama "mllama" [ConditionalGeneration "MllamaForConditionalGeneration"]
            Molmo2 "molmo2" [ConditionalGeneration "Molmo2ForConditionalGeneration"]
            MuseGlimmer "muse_glimmer" [ConditionalGeneration "MuseGlimmerForConditionalGeneration"]
            MuseSpark "muse_spark" [ConditionalGeneration "MuseSparkForConditionalGeneration"]
            NemotronHOmni "nemotron_h_omni" [ConditionalGeneration "NemotronH_Omni_Reasoning_V3"]
            Ovis2 "ovis2" [ConditionalGeneration "Ovis2ForConditionalGeneration"]
            PaddleocrVl "paddleocr_vl" [ConditionalGeneration "PaddleOCRVLForConditionalGeneration"]
            Paligemma "paligemma" [ConditionalGeneration "PaliGemmaForConditionalGeneration"]
            PerceptionLm "perception_lm"
                [ConditionalGeneration "PerceptionLMForConditionalGeneration"]
            Phi4Multimodal "phi4_multimodal" [ConditionalGeneration "Phi4MultimodalForCausalLM"]
            Pi0 "pi0" [ConditionalGeneration "PI0ForConditionalGeneration"]
            Pix2struct "pix2struct" [ConditionalGeneration "Pix2StructForConditionalGeneration"]
            PpFormulanet "pp_formulanet"
                [ConditionalGeneration "PPFormulaNetForConditionalGeneration"]
            QianfanOcr "qianfan_ocr" [ConditionalGeneration "QianfanOCRForConditionalGeneration"]
            Qwen25OmniThinker "qwen2_5_omni_thinker"
                [ConditionalGeneration "Qwen2_5OmniThinkerForConditionalGeneration"]
            Qwen25Vl "qwen2_5_vl" [ConditionalGeneration "Qwen2_5_VLForConditionalGeneration"]
            Qwen2Vl "qwen2_vl" [ConditionalGeneration "Qwen2VLForConditionalGeneration"]
            Qwen35 "qwen3_5" [ConditionalGeneration "Qwen3_5ForConditionalGeneration"]
            Qwen35Moe "qwen3_5_moe" [ConditionalGeneration "Qwen3_5MoeForConditionalGeneration"]
            Qwen3OmniMoeThinker "qwen3_omni_moe_thinker"
                [ConditionalGeneration "Qwen3OmniMoeThinkerForConditionalGeneration"]
            Qwen3Vl "qwen3_vl" [ConditionalGeneration "Qwen3VLForConditionalGeneration"]
            Qwen3VlMoe "qwen3_vl_moe" [ConditionalGeneration "Qwen3VLMoeForConditionalGeneration"]
            Qwen4Exp "qwen4_exp" [ConditionalGeneration "Qwen4ExpForConditionalGeneration"]
            Smolvlm "smolvlm" [ConditionalGeneration "SmolVLMForConditionalGeneration"]
            Step3p7 "step3p7" [ConditionalGeneration "Step3p7ForConditionalGeneration"]
            T5gemma2 "t5gemma2" [ConditionalGeneration "T5Gemma2ForConditionalGeneration"]
            Udop "udop" [ConditionalGeneration "UdopForConditionalGeneration"]
            UnlimitedOcr "unlimited_ocr"
                [ConditionalGeneration "UnlimitedOcrForConditionalGeneration"]
            VideoLlama3 "video_llama_3"
                [ConditionalGeneration "VideoLlama3ForConditionalGeneration"]
            VideoLlava "video_llava" [ConditionalGeneration "VideoLlavaForConditionalGeneration"]
            Vipllava "vipllava" [ConditionalGeneration "VipLlavaForConditionalGeneration"]
            VisionEncoderDecoder "vision-encoder-decoder"
                [ConditionalGeneration "VisionEncoderDecoderModel"]
        }
        ObjectDetection recorded_by "object_detection" {
            ConditionalDetr "conditional_detr" [Base "ConditionalDetrModel",
                ObjectDetection "ConditionalDetrForObjectDetection"]
            DFine "d_fine" [Base "DFineModel", ObjectDetection "DFineForObjectDetection"]
            DabDetr "dab-detr" [Base "DabDetrModel", ObjectDetection "DabDetrForObjectDetection"]
            DeformableDetr "deformable_detr" [Base "DeformableDetrModel",
                ObjectDetection "DeformableDetrForObjectDetection"]
            Deimv2 "deimv2" [Base "Deimv2Model", ObjectDetection "Deimv2ForObjectDetection"]
            LwDetr "lw_detr" [Base "LwDetrModel", ObjectDetection "LwDetrForObjectDetection"]
            PpDoclayoutV2 "pp_doclayout_v2" [ObjectDetection "PPDocLayoutV2ForObjectDetection"]
            PpDoclayoutV3 "pp_doclayout_v3" [Base "PPDocLayoutV3Model",
                ObjectDetection "PPDocLayoutV3ForObjectDetection"]
            PpDoclayoutV4 "pp_doclayout_v4" [Base "PPDocLayoutV4Model",
                ObjectDetection "PPDocLayoutV4ForObjectDetection"]
            PpOcrv5MobileDet "pp_ocrv5_mobile_det"
                [ObjectDetection "PPOCRV5MobileDetForObjectDetection"]
            PpOcrv5ServerDet "pp_ocrv5_server_det"
                [ObjectDetection "PPOCRV5ServerDetForObjectDetection"]
            PpOcrv6MediumDet "pp_ocrv6_medium_det" [Base "PPOCRV6MediumDetModel",
                ObjectDetection "PPOCRV6MediumDetForObjectDetection"]
            PpOcrv6SmallDet "pp_ocrv6_small_det" [Base "PPOCRV6SmallDetModel",
                ObjectDetection "PPOCRV6SmallDetForObjectDetection"]
            RfDetr "rf_detr" [Base "RfDetrModel", ObjectDetection "RfDetrForObjectDetection"]
            RtDetr "rt_detr" [Base "RTDetrModel", ObjectDetection "RTDetrForObjectDetection"]
            RtDetrV2 "rt_detr_v2" [Base "RTDetrV2Model",
                ObjectDetection "RTDetrV2ForObjectDetection"]
            TableTransformer "table-transformer" [Base "TableTransformerModel",
                ObjectDetection "TableTransformerForObjectDetection"]
        }
        Speech recorded_by "speech" {
            AudioSpectrogramTransformer "audio-spectrogram-transformer" [Base "ASTModel",
                AudioClassification "ASTForAudioClassification"]
            Audioflamingo3 "audioflamingo3" [Base "AudioFlamingo3Model",
                ConditionalGeneration "AudioFlamingo3ForConditionalGeneration"]
            Audioflamingo3Encoder "audioflamingo3_encoder" [Base "AudioFlamingo3Encoder"]
            Canary "canary" [Base "CanaryModel",
                ConditionalGeneration "CanaryForConditionalGeneration"]
            Clap "clap" [Base "ClapModel"]
            CohereAsr "cohere_asr" [Base "CohereAsrModel",
                ConditionalGeneration "CohereAsrForConditionalGeneration"]
            Dac "dac" [Base "DacModel"]
            Data2vecAudio "data2vec-audio" [Base "Data2VecAudioModel",
                SequenceClassification "Data2VecAudioForSequenceClassification",
                Ctc "Data2VecAudioForCTC"]
            Dia "dia" [Base "DiaModel", ConditionalGeneration "DiaForConditionalGeneration"]
            Encodec "encodec" [Base "EncodecModel"]
            FunAsrNano "fun_asr_nano" [Base "FunAsrNanoModel",
                ConditionalGeneration "FunAsrNanoForConditionalGeneration"]
            FunAsrNanoEncoder "fun_asr_nano_encoder" [Base "FunAsrNanoEncoder"]
            Gemma3nAudio "gemma3n_audio" [Base "Gemma3nAudioEncoder"]
            Gemma4Audio "gemma4_audio" [Base "Gemma4AudioModel"]
            Glmasr "glmasr" [Base "GlmAsrModel",
                ConditionalGeneration "GlmAsrForConditionalGeneration"]
            GlmasrEncoder "glmasr_encoder" [Base "GlmAsrEncoder"]
            GraniteSpeech "granite_speech" [Base "GraniteSpeechModel",
                ConditionalGeneration "GraniteSpeechForConditionalGeneration"]
            GraniteSpeech5Ctc "granite_speech5_ctc" [Ctc "GraniteSpeech5ForCTC"]
            GraniteSpeech5Encoder "granite_speech5_encoder" [Base "GraniteSpeech5Encoder"]
            GraniteSpeechPlus "granite_speech_plus" [Base "GraniteSpeechPlusModel",
                ConditionalGeneration "GraniteSpeechPlusForConditionalGeneration"]
            KyutaiSpeechToText "kyutai_speech_to_text" [Base "KyutaiSpeechToTextModel",
                ConditionalGeneration "KyutaiSpeechToTextForConditionalGeneration"]
            LasrCtc "lasr_ctc" [Ctc "LasrForCTC"]
            LasrEncoder "lasr_encoder" [Base "LasrEncoder"]
            Mimi "mimi" [Base "MimiModel"]
            MimiEncoder "mimi_encoder" [Base "MimiEncoderModel"]
            Moonshine "moonshine" [Base "MoonshineModel",
                ConditionalGeneration "MoonshineForConditionalGeneration"]
            MoonshineStreaming "moonshine_streaming" [Base "MoonshineStreamingModel",
                ConditionalGeneration "MoonshineStreamingForConditionalGeneration"]
            Moshi "moshi" [Base "MoshiModel", ConditionalGeneration "MoshiForCausalLM"]
            MossTranscribeDiarize "moss_transcribe_diarize" [Base "MossTranscribeDiarizeModel",
                ConditionalGeneration "MossTranscribeDiarizeForConditionalGeneration"]
            MossTranscribeDiarizeAudio "moss_transcribe_diarize_audio"
                [Base "MossTranscribeDiarizeAudioModel"]
            MuseSparkAudio "muse_spark_audio" [Base "MuseSparkAudioModel"]
            Musicflamingo "musicflamingo" [Base "MusicFlamingoModel",
                ConditionalGeneration "MusicFlamingoForConditionalGeneration"]
            NemoSpeechlm "nemo_speechlm" [Base "Nemotron3_5TranscribeModel",
                ConditionalGeneration "Nemotron3_5TranscribeForConditionalGeneration"]
            Nemotron35Asr "nemotron3_5_asr" [Base "Nemotron3_5AsrForRNNT"]
            Nemotron35TranscribeAsrAudio "nemotron3_5_transcribe_asr_audio"
                [Base "Nemotron3_5TranscribeAsrAudioModel"]
            Nemotron35TranscribeAudio "nemotron3_5_transcribe_audio"
                [Base "Nemotron3_5TranscribeAudioModel"]
            Nemotron3Diarization "nemotron3_diarization" [Base "Nemotron3DiarizationModel"]
            Nemotron3DiarizationAudio "nemotron3_diarization_audio"
                [Base "Nemotron3DiarizationAudioModel"]
            NemotronAsrStreaming "nemotron_asr_streaming" [Base "NemotronAsrStreamingForRNNT"]
            NemotronAsrStreamingEncoder "nemotron_asr_streaming_encoder"
                [Base "NemotronAsrStreamingEncoder"]
            Neucodec "neucodec" [Base "NeuCodecModel"]
            ParakeetCtc "parakeet_ctc" [Ctc "ParakeetForCTC"]
            ParakeetEncoder "parakeet_encoder" [Base "ParakeetEncoder"]
            ParakeetRnnt "parakeet_rnnt" [Base "ParakeetForRNNT"]
            ParakeetTdt "parakeet_tdt" [Base "ParakeetForTDT"]
            PeAudio "pe_audio" [Base "PeAudioModel"]
            PeAudioEncoder "pe_audio_encoder" [Base "PeAudioEncoder"]
            PeAudioVideo "pe_audio_video" [Base "PeAudioVideoModel"]
            PeAudioVideoEncoder "pe_audio_video_encoder" [Base "PeAudioVideoEncoder"]
            PocketTtsAudioTokenizer "pocket_tts_audio_tokenizer"
                [Base "PocketTTSAudioTokenizerModel"]
            PocketTtsAudioTokenizerEncoder "pocket_tts_audio_tokenizer_encoder"
                [Base "PocketTTSAudioTokenizerEncoderModel"]
            Pop2piano "pop2piano" [ConditionalGeneration "Pop2PianoForConditionalGeneration"]
            Qwen2Audio "qwen2_audio" [Base "Qwen2AudioModel",
                ConditionalGeneration "Qwen2AudioForConditionalGeneration"]
            Qwen2AudioEncoder "qwen2_audio_encoder" [Base "Qwen2AudioEncoder"]
            Qwen3Asr "qwen3_asr" [Base "Qwen3ASRModel",
                ConditionalGeneration "Qwen3ASRForConditionalGeneration"]
            Qwen3AsrEncoder "qwen3_asr_encoder" [Base "Qwen3ASREncoder"]
            SeamlessM4t "seamless_m4t" [Base "SeamlessM4TModel",
                ConditionalGeneration "SeamlessM4TForSpeechToText"]
            SeamlessM4tV2 "seamless_m4t_v2" [Base "SeamlessM4Tv2Model",
                ConditionalGeneration "SeamlessM4Tv2ForSpeechToText"]
            Sew "sew" [Base "SEWModel", SequenceClassification "SEWForSequenceClassification",
                Ctc "SEWForCTC"]
            SewD "sew-d" [Base "SEWDModel", SequenceClassification "SEWDForSequenceClassification",
                Ctc "SEWDForCTC"]
            SpeechEncoderDecoder "speech-encoder-decoder"
                [ConditionalGeneration "SpeechEncoderDecoderModel"]
            SpeechToText "speech_to_text" [Base "Speech2TextModel",
                ConditionalGeneration "Speech2TextForConditionalGeneration"]
            Speecht5 "speecht5" [Base "SpeechT5Model",
                ConditionalGeneration "SpeechT5ForSpeechToText"]
            Unispeech "unispeech" [Base "UniSpeechModel",
                SequenceClassification "UniSpeechForSequenceClassification", Ctc "UniSpeechForCTC"]
            UnispeechSat "unispeech-sat" [Base "UniSpeechSatModel",
                SequenceClassification "UniSpeechSatForSequenceClassification",
                Ctc "UniSpeechSatForCTC"]
            Univnet "univnet" [Base "UnivNetModel"]
            Vibevoice "vibevoice" [ConditionalGeneration "VibeVoiceForConditionalGeneration"]
            VibevoiceAcousticTokenizer "vibevoice_acoustic_tokenizer"
                [Base "VibeVoiceAcousticTokenizerModel"]
            VibevoiceAcousticTokenizerDecoder "vibevoice_acoustic_tokenizer_decoder"
                [Base "VibeVoiceAcousticTokenizerDecoderModel"]
            VibevoiceAcousticTokenizerEncoder "vibevoice_acoustic_tokenizer_encoder"
                [Base "VibeVoiceAcousticTokenizerEncoderModel"]
            VibevoiceAsr "vibevoice_asr" [Base "VibeVoiceAsrModel",
                ConditionalGeneration "VibeVoiceAsrForConditionalGeneration"]
            Voxtral "voxtral" [Base "VoxtralModel",
                ConditionalGeneration "VoxtralForConditionalGeneration"]
            VoxtralEncoder "voxtral_encoder" [Base "VoxtralEncoder"]
            VoxtralRealtime "voxtral_realtime" [Base "VoxtralRealtimeModel",
                ConditionalGeneration "VoxtralRealtimeForConditionalGeneration"]
            VoxtralRealtimeEncoder "voxtral_realtime_encoder" [Base "VoxtralRealtimeEncoder"]
            Wav2vec2Bert "wav2vec2-bert" [Base "Wav2Vec2BertModel",
                SequenceClassification "Wav2Vec2BertForSequenceClassification",
                Ctc "Wav2Vec2BertForCTC"]
            Wav2vec2Conformer "wav2vec2-conformer" [Base "Wav2Vec2ConformerModel",
                SequenceClassification "Wav2Vec2ConformerForSequenceClassification",
                Ctc "Wav2Vec2ConformerForCTC"]
            Wavlm "wavlm" [Base "WavLMModel",
                SequenceClassification "WavLMForSequenceClassification", Ctc "WavLMForCTC"]
            Xcodec "xcodec" [Base "XcodecModel"]
            Xcodec2 "xcodec2" [Base "Xcodec2Model"]
        }
        Ssm recorded_by "decoder_only" {
            BailingHybrid "bailing_hybrid" [Base "BailingHybridModel",
                CausalLm "BailingHybridForCausalLM"]
            Bamba "bamba" [Base "BambaModel", CausalLm "BambaForCausalLM"]
            DeepseekV4 "deepseek_v4" [Base "DeepseekV4Model", CausalLm "DeepseekV4ForCausalLM"]
            FalconH1 "falcon_h1" [Base "FalconH1Model", CausalLm "FalconH1ForCausalLM"]
            FalconMamba "falcon_mamba" [Base "FalconMambaModel", CausalLm "FalconMambaForCausalLM"]
            Glm5NextText "glm5_next_text" [Base "Glm5NextTextModel"]
            Granitemoehybrid "granitemoehybrid" [Base "GraniteMoeHybridModel",
                CausalLm "GraniteMoeHybridForCausalLM"]
            Jamba "jamba" [Base "JambaModel", CausalLm "JambaForCausalLM"]
            KimiLinear "kimi_linear" [Base "KimiLinearModel", CausalLm "KimiLinearForCausalLM"]
            NemotronH "nemotron_h" [Base "NemotronHModel", CausalLm "NemotronHForCausalLM"]
            OlmoHybrid "olmo_hybrid" [Base "OlmoHybridModel", CausalLm "OlmoHybridForCausalLM"]
            Qwen35MoeText "qwen3_5_moe_text" [Base "Qwen3_5MoeTextModel",
                CausalLm "Qwen3_5MoeForCausalLM"]
            Qwen35Text "qwen3_5_text" [Base "Qwen3_5TextModel", CausalLm "Qwen3_5ForCausalLM"]
            Qwen3Next "qwen3_next" [Base "Qwen3NextModel", CausalLm "Qwen3NextForCausalLM"]
            Qwen4ExpText "qwen4_exp_text" [Base "Qwen4ExpTextModel", CausalLm "Qwen4ExpForCausalLM"]
            RecurrentGemma "recurrent_gemma" [Base "RecurrentGemmaModel",
                CausalLm "RecurrentGemmaForCausalLM"]
            Rwkv "rwkv" [Base "RwkvModel", CausalLm "RwkvForCausalLM"]
            Xlstm "xlstm" [Base "xLSTMModel", CausalLm "xLSTMForCausalLM"]
            Zamba "zamba" [Base "ZambaModel", CausalLm "ZambaForCausalLM"]
            Zamba2 "zamba2" [Base "Zamba2Model", CausalLm "Zamba2ForCausalLM"]
        }
        TimeSeries recorded_by "time_series" {
            Autoformer "autoformer" [Prediction "AutoformerForPrediction"]
            Informer "informer" [Prediction "InformerForPrediction"]
            Patchtsmixer "patchtsmixer" [Prediction "PatchTSMixerForPrediction",
                Classification "PatchTSMixerForTimeSeriesClassification",
                Regression "PatchTSMixerForRegression"]
            TimeSeriesTransformer "time_series_transformer"
                [Prediction "TimeSeriesTransformerForPrediction"]
            Timesfm "timesfm" [Prediction "TimesFmModelForPrediction"]
            Timesfm25 "timesfm2_5" [Prediction "TimesFm2_5ModelForPrediction"]
        }
        Vision recorded_by "vision" {
            Aimv2VisionModel "aimv2_vision_model" [Base "Aimv2VisionModel"]
            Beit "beit" [Base "BeitModel", ImageClassification "BeitForImageClassification",
                SemanticSegmentation "BeitForSemanticSegmentation"]
            Bit "bit" [Base "BitModel", ImageClassification "BitForImageClassification"]
            ChineseClipVisionModel "chinese_clip_vision_model" [Base "ChineseCLIPVisionModel"]
            Chmv2 "chmv2" [DepthEstimation "CHMv2ForDepthEstimation"]
            ClipVisionModel "clip_vision_model" [Base "CLIPVisionModel"]
            CohereCompassVision "cohere_compass_vision" [Base "CohereCompassVisionModel"]
            Convnextv2 "convnextv2" [Base "ConvNextV2Model",
                ImageClassification "ConvNextV2ForImageClassification"]
            Cosmos3EdgeVision "cosmos3_edge_vision" [Base "Cosmos3EdgeVisionModel"]
            Cvt "cvt" [Base "CvtModel", ImageClassification "CvtForImageClassification"]
            Data2vecVision "data2vec-vision" [Base "Data2VecVisionModel",
                ImageClassification "Data2VecVisionForImageClassification",
                SemanticSegmentation "Data2VecVisionForSemanticSegmentation"]
            DepthAnything "depth_anything" [DepthEstimation "DepthAnythingForDepthEstimation"]
            DepthPro "depth_pro" [Base "DepthProModel",
                DepthEstimation "DepthProForDepthEstimation"]
            Dinat "dinat" [Base "DinatModel", ImageClassification "DinatForImageClassification"]
            Dinov2WithRegisters "dinov2_with_registers" [Base "Dinov2WithRegistersModel",
                ImageClassification "Dinov2WithRegistersForImageClassification"]
            Dinov3Convnext "dinov3_convnext" [Base "DINOv3ConvNextModel"]
            Dinov3Vit "dinov3_vit" [Base "DINOv3ViTModel"]
            DonutSwin "donut-swin" [Base "DonutSwinModel",
                ImageClassification "DonutSwinForImageClassification"]
            Dpt "dpt" [Base "DPTModel", SemanticSegmentation "DPTForSemanticSegmentation",
                DepthEstimation "DPTForDepthEstimation"]
            Edgetam "edgetam" [Base "EdgeTamModel"]
            EdgetamVideo "edgetam_video" [Base "EdgeTamVideoModel"]
            EdgetamVisionModel "edgetam_vision_model" [Base "EdgeTamVisionModel"]
            Efficientloftr "efficientloftr" [Base "EfficientLoFTRModel"]
            Efficientnet "efficientnet" [Base "EfficientNetModel",
                ImageClassification "EfficientNetForImageClassification"]
            Eomt "eomt" [UniversalSegmentation "EomtForUniversalSegmentation"]
            EomtDinov3 "eomt_dinov3" [UniversalSegmentation "EomtDinov3ForUniversalSegmentation"]
            Exaone45Vision "exaone4_5_vision" [Base "Exaone4_5_VisionModel"]
            Focalnet "focalnet" [Base "FocalNetModel",
                ImageClassification "FocalNetForImageClassification"]
            Gemma4Vision "gemma4_vision" [Base "Gemma4VisionModel"]
            Glm4vMoeVision "glm4v_moe_vision" [Base "Glm4vMoeVisionModel"]
            Glm4vVision "glm4v_vision" [Base "Glm4vVisionModel"]
            Glm5NextVision "glm5_next_vision" [Base "Glm5NextVisionModel"]
            GlmImageVision "glm_image_vision" [Base "GlmImageVisionModel"]
            GlmOcrVision "glm_ocr_vision" [Base "GlmOcrVisionModel"]
            Glpn "glpn" [Base "GLPNModel", DepthEstimation "GLPNForDepthEstimation"]
            GraniteDoclingVision "granite_docling_vision" [Base "GraniteDoclingVisionModel"]
            GroundingDino "grounding-dino" [Base "GroundingDinoModel"]
            HgnetV2 "hgnet_v2" [Base "HGNetV2Backbone",
                ImageClassification "HGNetV2ForImageClassification"]
            Hiera "hiera" [Base "HieraModel", ImageClassification "HieraForImageClassification"]
            HunyuanVlVision "hunyuan_vl_vision" [Base "HunYuanVLVisionTransformer"]
            Idefics3Vision "idefics3_vision" [Base "Idefics3VisionTransformer"]
            Ijepa "ijepa" [Base "IJepaModel", ImageClassification "IJepaForImageClassification"]
            Inkling2Vision "inkling2_vision" [Base "Inkling2VisionModel"]
            InternvlVision "internvl_vision" [Base "InternVLVisionModel"]
            KimiK25Vision "kimi_k25_vision" [Base "Kimi_K25VisionModel"]
            Levit "levit" [Base "LevitModel", ImageClassification "LevitForImageClassification",
                ImageClassificationWithTeacher "LevitForImageClassificationWithTeacher"]
            Lfm3VlVision "lfm3_vl_vision" [Base "Lfm3VlVisionModel"]
            Lightglue "lightglue" [Base "LightGlueForKeypointMatching"]
            Llama4VisionModel "llama4_vision_model" [Base "Llama4VisionModel"]
            LwDetrVit "lw_detr_vit" [Base "LwDetrViTBackbone"]
            Mask2former "mask2former" [Base "Mask2FormerModel",
                UniversalSegmentation "Mask2FormerForUniversalSegmentation"]
            Maskformer "maskformer" [Base "MaskFormerModel",
                InstanceSegmentation "MaskFormerForInstanceSegmentation"]
            MaskformerSwin "maskformer-swin" [Base "MaskFormerSwinModel"]
            MgpStr "mgp-str" [Base "MgpstrForSceneTextRecognition"]
            MinicpmOcrVision "minicpm_ocr_vision" [Base "MiniCPMOcrVisionModel"]
            Minicpmv47Vision "minicpmv4_7_vision" [Base "MiniCPMV4_7VisionModel"]
            MlcdVisionModel "mlcd_vision_model" [Base "MLCDVisionModel"]
            MllamaVisionModel "mllama_vision_model" [Base "MllamaVisionModel"]
            MmGroundingDino "mm-grounding-dino" [Base "MMGroundingDinoModel"]
            MobilenetV1 "mobilenet_v1" [Base "MobileNetV1Model",
                ImageClassification "MobileNetV1ForImageClassification"]
            MobilenetV2 "mobilenet_v2" [Base "MobileNetV2Model",
                ImageClassification "MobileNetV2ForImageClassification",
                SemanticSegmentation "MobileNetV2ForSemanticSegmentation"]
            Mobilevit "mobilevit" [Base "MobileViTModel",
                ImageClassification "MobileViTForImageClassification",
                SemanticSegmentation "MobileViTForSemanticSegmentation"]
            Mobilevitv2 "mobilevitv2" [Base "MobileViTV2Model",
                ImageClassification "MobileViTV2ForImageClassification",
                SemanticSegmentation "MobileViTV2ForSemanticSegmentation"]
            MuseGlimmerVision "muse_glimmer_vision" [Base "MuseGlimmerVisionModel"]
            MuseSparkVision "muse_spark_vision" [Base "MuseSparkVisionModel"]
            OmdetTurbo "omdet-turbo" [Base "OmDetTurboForObjectDetection"]
            Oneformer "oneformer" [Base "OneFormerModel",
                UniversalSegmentation "OneFormerForUniversalSegmentation"]
            PeVideoEncoder "pe_video_encoder" [Base "PeVideoEncoder"]
            Pixio "pixio" [Base "PixioModel"]
            Pixtral "pixtral" [Base "PixtralVisionModel"]
            Poolformer "poolformer" [Base "PoolFormerModel",
                ImageClassification "PoolFormerForImageClassification"]
            PpLcnet "pp_lcnet" [Base "PPLCNetBackbone",
                ImageClassification "PPLCNetForImageClassification"]
            PpLcnetV3 "pp_lcnet_v3" [Base "PPLCNetV3Backbone"]
            PpLcnetV4 "pp_lcnet_v4" [Base "PPLCNetV4Backbone"]
            PpOcrv5MobileRec "pp_ocrv5_mobile_rec" [Base "PPOCRV5MobileRecModel"]
            PpOcrv5ServerRec "pp_ocrv5_server_rec" [Base "PPOCRV5ServerRecModel"]
            PpOcrv6SmallRec "pp_ocrv6_small_rec" [Base "PPOCRV6SmallRecModel"]
            PpOcrv6TinyRec "pp_ocrv6_tiny_rec" [Base "PPOCRV6TinyRecModel"]
            PromptDepthAnything "prompt_depth_anything"
                [DepthEstimation "PromptDepthAnythingForDepthEstimation"]
            Pvt "pvt" [Base "PvtModel", ImageClassification "PvtForImageClassification"]
            PvtV2 "pvt_v2" [Base "PvtV2Model", ImageClassification "PvtV2ForImageClassification"]
            QianfanOcrVision "qianfan_ocr_vision" [Base "QianfanOCRVisionModel"]
            Qwen25VlVision "qwen2_5_vl_vision" [Base "Qwen2_5_VisionTransformerPretrainedModel"]
            Qwen35MoeVision "qwen3_5_moe_vision" [Base "Qwen3_5MoeVisionModel"]
            Qwen35Vision "qwen3_5_vision" [Base "Qwen3_5VisionModel"]
            Qwen3VlMoeVision "qwen3_vl_moe_vision" [Base "Qwen3VLMoeVisionModel"]
            Qwen3VlVision "qwen3_vl_vision" [Base "Qwen3VLVisionModel"]
            Qwen4ExpVision "qwen4_exp_vision" [Base "Qwen4ExpVisionModel"]
            Radio "radio" [Base "RadioModel"]
            Regnet "regnet" [Base "RegNetModel", ImageClassification "RegNetForImageClassification"]
            RfDetrDinov2 "rf_detr_dinov2" [Base "RfDetrDinov2Backbone"]
            RtDetrResnet "rt_detr_resnet" [Base "RTDetrResNetBackbone"]
            Sam "sam" [Base "SamModel"]
            Sam2 "sam2" [Base "Sam2Model"]
            Sam2HieraDetModel "sam2_hiera_det_model" [Base "Sam2HieraDetModel"]
            Sam2Video "sam2_video" [Base "Sam2VideoModel"]
            Sam2VisionModel "sam2_vision_model" [Base "Sam2VisionModel"]
            Sam3 "sam3" [Base "Sam3Model"]
            Sam3LiteText "sam3_lite_text" [Base "Sam3LiteTextModel"]
            Sam3LiteTextTextModel "sam3_lite_text_text_model" [Base "Sam3LiteTextTextModel"]
            Sam3Tracker "sam3_tracker" [Base "Sam3TrackerModel"]
            Sam3TrackerVideo "sam3_tracker_video" [Base "Sam3TrackerVideoModel"]
            Sam3Video "sam3_video" [Base "Sam3VideoModel"]
            Sam3VisionModel "sam3_vision_model" [Base "Sam3VisionModel"]
            Sam3VitModel "sam3_vit_model" [Base "Sam3ViTModel"]
            SamHq "sam_hq" [Base "SamHQModel"]
            SamHqVisionModel "sam_hq_vision_model" [Base "SamHQVisionModel"]
            SamVisionModel "sam_vision_model" [Base "SamVisionModel"]
            Sapiens2 "sapiens2" [Base "Sapiens2Model",
                SemanticSegmentation "Sapiens2ForSemanticSegmentation"]
            Segformer "segformer" [Base "SegformerModel",
                ImageClassification "SegformerForImageClassification",
                SemanticSegmentation "SegformerForSemanticSegmentation"]
            Seggpt "seggpt" [Base "SegGptModel"]
            Siglip2VisionModel "siglip2_vision_model" [Base "Siglip2VisionModel"]
            SiglipVisionModel "siglip_vision_model" [Base "SiglipVisionModel"]
            SmolvlmVision "smolvlm_vision" [Base "SmolVLMVisionTransformer"]
            Superpoint "superpoint" [KeypointDetection "SuperPointForKeypointDetection"]
            Swiftformer "swiftformer" [Base "SwiftFormerModel",
                ImageClassification "SwiftFormerForImageClassification"]
            Swin2sr "swin2sr" [Base "Swin2SRModel"]
            Swinv2 "swinv2" [Base "Swinv2Model", ImageClassification "Swinv2ForImageClassification"]
            Textnet "textnet" [Base "TextNetModel",
                ImageClassification "TextNetForImageClassification"]
            Timesformer "timesformer" [Base "TimesformerModel",
                VideoClassification "TimesformerForVideoClassification"]
            TimmBackbone "timm_backbone" [Base "TimmBackbone"]
            TimmWrapper "timm_wrapper" [Base "TimmWrapperModel",
                ImageClassification "TimmWrapperForImageClassification"]
            Tipsv2Dpt "tipsv2_dpt" [SemanticSegmentation "Tipsv2DptForSemanticSegmentation",
                DepthEstimation "Tipsv2DptForDepthEstimation"]
            Tipsv2VisionModel "tipsv2_vision_model" [Base "Tipsv2VisionModel"]
            Upernet "upernet" [SemanticSegmentation "UperNetForSemanticSegmentation"]
            Uvdoc "uvdoc" [Base "UVDocModel"]
            UvdocBackbone "uvdoc_backbone" [Base "UVDocBackbone"]
            VideoLlama3Vision "video_llama_3_vision" [Base "VideoLlama3VisionModel"]
            Videomae "videomae" [Base "VideoMAEModel",
                VideoClassification "VideoMAEForVideoClassification"]
            Videomt "videomt" [UniversalSegmentation "VideomtForUniversalSegmentation"]
            VideoprismVisionModel "videoprism_vision_model" [Base "VideoPrismVisionModel",
                VideoClassification "VideoPrismForVideoClassification"]
            VitMae "vit_mae" [Base "ViTMAEModel"]
            VitMsn "vit_msn" [Base "ViTMSNModel",
                ImageClassification "ViTMSNForImageClassification"]
            Vitdet "vitdet" [Base "VitDetModel"]
            VitposeBackbone "vitpose_backbone" [Base "VitPoseBackbone"]
            Vivit "vivit" [Base "VivitModel", VideoClassification "VivitForVideoClassification"]
            Vjepa2 "vjepa2" [Base "VJEPA2Model", VideoClassification "VJEPA2ForVideoClassification"]
            Zoedepth "zoedepth" [DepthEstimation "ZoeDepthForDepthEstimation"]
        }
        VisionText recorded_by "vision_text" {
            Aimv2 "aimv2" [Base "Aimv2Model"]
            Align "align" [Base "AlignModel"]
            Altclip "altclip" [Base "AltCLIPModel"]
            ChineseClip "chinese_clip" [Base "ChineseCLIPModel"]
            Clipseg "clipseg" [Base "CLIPSegModel"]
            Flava "flava" [Base "FlavaModel"]
            Groupvit "groupvit" [Base "GroupViTModel"]
            Metaclip2 "metaclip_2" [Base "MetaClip2Model"]
            Owlv2 "owlv2" [Base "Owlv2Model"]
            Owlvit "owlvit" [Base "OwlViTModel"]
            Siglip2 "siglip2" [Base "Siglip2Model"]
            Tipsv2 "tipsv2" [Base "Tipsv2Model"]
            Videoprism "videoprism" [Base "VideoPrismClipModel"]
            VisionTextDualEncoder "vision-text-dual-encoder" [Base "VisionTextDualEncoderModel"]
        }
        }
    };
}

//! What a handler does with one request.

use crate::word::words;

words! {
    /// A task names the handlers of a harness: `create_<device>_<task>_endpoint_handler`.
    Task: "task" {
        /// Text in, one vector per token and one per text out.
        TextEmbedding = "text_embedding",
        /// Text with a mask token in, the likeliest tokens for it out.
        FillMask = "fill_mask",
        /// Text in, one score per label out.
        TextClassification = "text_classification",
        /// Text in, one score per token and label out.
        TokenClassification = "token_classification",
        /// Question and context in, start and end scores per token out.
        QuestionAnswering = "question_answering",
        /// Text in, its continuation out.
        TextGeneration = "text_generation",
        /// Text in, another text out: an answer, a summary, a translation.
        Text2TextGeneration = "text2text_generation",
        /// Recording in, the words that are spoken in it out.
        SpeechRecognition = "speech_recognition",
        /// Recording in, one score per label out.
        AudioClassification = "audio_classification",
        /// Recording in, one vector per frame and one per recording out.
        AudioEmbedding = "audio_embedding",
        /// Image in, one score per label out.
        ImageClassification = "image_classification",
        /// Image in, one vector per patch and one per image out.
        ImageEmbedding = "image_embedding",
        /// Image in, the boxes of its objects with their labels and scores out.
        ObjectDetection = "object_detection",
        /// Images and texts in, for each image one score per text out (zero-shot classification).
        ImageTextSimilarity = "image_text_similarity",
        /// Images and texts in, one vector of a common space for each out.
        ImageTextEmbedding = "image_text_embedding",
        /// Noisy latents, a step and a condition in, the noise in them out.
        ImageDenoising = "image_denoising",
        /// Latents in, images out.
        ImageDecoding = "image_decoding",
        /// Images and a text with their places in, its continuation out.
        ImageTextToText = "image_text_to_text",
        /// Question in, its answer and the passages that were found for it out.
        RetrievalAugmentedGeneration = "retrieval_augmented_generation",
        /// Series in, how each of their channels goes on out.
        TimeSeriesForecasting = "time_series_forecasting",
        /// Series in, one score per label out.
        TimeSeriesClassification = "time_series_classification",
        /// Series in, the numbers that they stand for out.
        TimeSeriesRegression = "time_series_regression",
        /// Graphs in, one score per label out, or the number that each stands for.
        GraphClassification = "graph_classification",
        /// Graphs in, one vector per node and one per graph out.
        GraphEmbedding = "graph_embedding",
    }
}

//! The tasks: what a handler computes for one request.

use crate::closed_enum::closed_enum;

closed_enum! {
    /// A task names the handlers of a harness: `create_<device>_<task>_endpoint_handler`.
    Task: "task" {
        /// Embeds a text: one vector per token and one per text.
        TextEmbedding = "text_embedding",
        /// Fills a mask token in a text: the likeliest tokens.
        FillMask = "fill_mask",
        /// Classifies a text: one score per label.
        TextClassification = "text_classification",
        /// Classifies the tokens of a text: one score per token and label.
        TokenClassification = "token_classification",
        /// Finds the answer to a question in a context: start and end scores per token.
        QuestionAnswering = "question_answering",
        /// Finds the answer to a question among the words of a page.
        DocumentQuestionAnswering = "document_question_answering",
        /// Chooses the text that continues another one: one score per choice.
        MultipleChoice = "multiple_choice",
        /// Speaks a text: the samples of its sound.
        TextToSpeech = "text_to_speech",
        /// Continues a text.
        TextGeneration = "text_generation",
        /// Generates a text from a text: an answer, a summary, a translation.
        Text2TextGeneration = "text2text_generation",
        /// Transcribes an audio clip.
        SpeechRecognition = "speech_recognition",
        /// Classifies an audio clip: one score per label.
        AudioClassification = "audio_classification",
        /// Embeds an audio clip: one vector per frame and one per clip.
        AudioEmbedding = "audio_embedding",
        /// Classifies an image: one score per label.
        ImageClassification = "image_classification",
        /// Embeds an image: one vector per patch and one per image.
        ImageEmbedding = "image_embedding",
        /// Detects the objects in an image: boxes with labels and scores.
        ObjectDetection = "object_detection",
        /// Divides an image into segments: one mask per label.
        ImageSegmentation = "image_segmentation",
        /// Estimates the depth of an image: one number per pixel.
        DepthEstimation = "depth_estimation",
        /// Classifies a video: one score per label.
        VideoClassification = "video_classification",
        /// Finds points in an image: places with scores and descriptors.
        KeypointDetection = "keypoint_detection",
        /// Compares images with texts: one score per image and text (zero-shot classification).
        ImageTextSimilarity = "image_text_similarity",
        /// Embeds images and texts in a common space: one vector each.
        ImageTextEmbedding = "image_text_embedding",
        /// Predicts the noise in latents, from a timestep and a condition.
        ImageDenoising = "image_denoising",
        /// Decodes latents to images.
        ImageDecoding = "image_decoding",
        /// Continues a text that contains images.
        ImageTextToText = "image_text_to_text",
        /// Answers a question from retrieved passages: the answer and the passages.
        RetrievalAugmentedGeneration = "retrieval_augmented_generation",
        /// Forecasts the channels of time series.
        TimeSeriesForecasting = "time_series_forecasting",
        /// Classifies time series: one score per label.
        TimeSeriesClassification = "time_series_classification",
        /// Predicts numbers from time series.
        TimeSeriesRegression = "time_series_regression",
        /// Classifies graphs, one score per label, or predicts a number for each.
        GraphClassification = "graph_classification",
        /// Embeds graphs: one vector per node and one per graph.
        GraphEmbedding = "graph_embedding",
        /// Computes operators on tensors.
        OperatorEvaluation = "operator_evaluation",
    }
}

"""The tasks that a class serves: part of the recorder `answers.py`."""

from record import answer_arrays, answer_document, answer_generation, answer_maps, answer_media, answer_text

# By the end of a class's name; the first that fits counts. Where the task depends on the architecture, there is a dict.
BY_SUFFIX = {
    "ForSequenceClassification": {"speech": "audio_classification", "": "text_classification"},
    "ForAudioClassification": "audio_classification",
    "ForTokenClassification": "token_classification",
    "ElectraForPreTraining": "token_classification",
    "LayoutLMForQuestionAnswering": "document_question_answering",
    "LayoutLMv2ForQuestionAnswering": "document_question_answering",
    "LayoutLMv3ForQuestionAnswering": "document_question_answering",
    "ForQuestionAnswering": "question_answering",
    "ForMultipleChoice": "multiple_choice",
    "VitsModel": "text_to_speech",
    "ForMaskedLM": "fill_mask",
    "ForCausalLM": "text_generation",
    "LMHeadModel": "text_generation",
    "MTModel": "text2text_generation",
    "ForConditionalGeneration": {"speech": "speech_recognition", "multimodal": "image_text_to_text", "": "text2text_generation"},
    "ForCTC": "speech_recognition",
    "ForImageClassification": "image_classification",
    "ForImageClassificationWithTeacher": "image_classification",
    "ForObjectDetection": "object_detection",
    "ForSemanticSegmentation": "image_segmentation",
    "ForUniversalSegmentation": "image_segmentation",
    "ForInstanceSegmentation": "image_segmentation",
    "ForDepthEstimation": "depth_estimation",
    "ForVideoClassification": "video_classification",
    "ForKeypointDetection": "keypoint_detection",
    "ForGraphClassification": "graph_classification",
    "PatchTSTForPrediction": "time_series_forecasting",
    "PatchTSTForClassification": "time_series_classification",
    "PatchTSTForRegression": "time_series_regression",
    "RagTokenForGeneration": "retrieval_augmented_generation",
    "RagSequenceForGeneration": "retrieval_augmented_generation",
    "UNet2DConditionModel": "image_denoising",
    "AutoencoderKL": "image_decoding",
}

# Classes without a head.
BY_ARCHITECTURE = {
    "speech": ["audio_embedding"],
    "vision": ["image_embedding"],
    "object_detection": ["image_embedding"],
    "vision_text": ["image_text_similarity", "image_text_embedding"],
    "graph": ["graph_embedding"],
    # The scheduler of a checkpoint calls the native types only.
    "diffusion": [],
}

ANSWERS = {
    "text_embedding": answer_text.text_embedding,
    "fill_mask": answer_text.fill_mask,
    "text_classification": answer_text.text_classification,
    "token_classification": answer_text.token_classification,
    "question_answering": answer_text.question_answering,
    "document_question_answering": answer_document.document_question_answering,
    "multiple_choice": answer_text.multiple_choice,
    "text_to_speech": answer_text.text_to_speech,
    "text_generation": answer_generation.text_generation,
    "text2text_generation": answer_generation.text2text_generation,
    "image_text_to_text": answer_generation.image_text_to_text,
    "retrieval_augmented_generation": answer_generation.retrieval_augmented_generation,
    "speech_recognition": answer_generation.speech_recognition,
    "audio_classification": answer_media.audio_classification,
    "audio_embedding": answer_media.audio_embedding,
    "image_classification": answer_media.image_classification,
    "image_embedding": answer_media.image_embedding,
    "object_detection": answer_media.object_detection,
    "image_segmentation": answer_maps.image_segmentation,
    "depth_estimation": answer_maps.depth_estimation,
    "video_classification": answer_media.video_classification,
    "keypoint_detection": answer_maps.keypoint_detection,
    "image_text_similarity": answer_media.image_text_similarity,
    "image_text_embedding": answer_media.image_text_embedding,
    "image_denoising": answer_arrays.image_denoising,
    "image_decoding": answer_arrays.image_decoding,
    "time_series_forecasting": answer_arrays.time_series_forecasting,
    "time_series_classification": answer_arrays.time_series_classification,
    "time_series_regression": answer_arrays.time_series_regression,
    "graph_classification": answer_arrays.graph_classification,
    "graph_embedding": answer_arrays.graph_embedding,
}


def tasks_of(subject):
    """The functions that record an answer, by task."""
    return {task: ANSWERS[task] for task in names_of(subject.model_class.__name__, subject.architecture)}


def names_of(class_name, architecture):
    """The names of the tasks of a class; none for a head that no task has, such as next sentence prediction."""
    for suffix, task in BY_SUFFIX.items():
        if class_name.endswith(suffix):
            return [task if isinstance(task, str) else task.get(architecture, task[""])]
    if "For" in class_name:
        return []
    return BY_ARCHITECTURE.get(architecture, ["text_embedding"])

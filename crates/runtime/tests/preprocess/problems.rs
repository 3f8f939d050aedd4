//! Files and inputs that cannot be used are rejected with the file, the field and a hint.

use crate::directory_with;
use testgen_runtime::{Image, ImageProcessor, Processor, Tokenizer};

fn image_problem(config: &str) -> String {
    let directory = directory_with(&[("preprocessor_config.json", config)]);
    ImageProcessor::open(directory.path())
        .unwrap_err()
        .to_string()
}

#[test]
fn absent_files_are_none() {
    let directory = directory_with(&[]);
    let processor = Processor::open(directory.path()).unwrap();
    assert!(processor.tokenizer().is_none() && processor.images().is_none());
    let sound = directory_with(&[("preprocessor_config.json", r#"{"feature_size": 80}"#)]);
    assert!(Processor::open(sound.path()).unwrap().images().is_none());
}

#[test]
fn fields_that_change_pixels_are_named() {
    let vit = |field: &str| {
        image_problem(&format!(
            r#"{{"image_processor_type": "ViTImageProcessor", {field}}}"#
        ))
    };
    assert!(vit(r#""do_pad": true"#).contains("`do_pad` is not supported"));
    assert!(vit(r#""resample": 9"#).contains("`resample` is 9"));
    assert!(vit(r#""size": {"longest_edge": 9}"#).contains("`size` is"));
    assert!(vit(r#""size": "large""#).contains("`size` is"));
    assert!(vit(r#""do_center_crop": true"#).contains("`crop_size` is missing"));
    assert!(vit(r#""image_std": [1, 0, 1]"#).contains("`image_std` has a zero"));
    assert!(vit(r#""image_mean": [1, 0]"#).contains("`image_mean` is"));
    assert!(vit(r#""do_resize": "yes""#).contains("`do_resize` is"));
    assert!(
        image_problem(r#"{"image_processor_type": "SamImageProcessor"}"#)
            .contains("`SamImageProcessor`")
    );
    let detr = r#"{"image_processor_type": "DetrImageProcessor", "size": {"shortest_edge": 9}}"#;
    assert!(image_problem(detr).contains("`size` has no `longest_edge`"));
    let longest = vit(r#""size": {"shortest_edge": 9, "longest_edge": 12}"#);
    assert!(longest.contains("`size` has a `longest_edge`"), "{longest}");
    let dpt = |field: &str| {
        image_problem(&format!(
            r#"{{"image_processor_type": "DPTImageProcessor", {field}}}"#
        ))
    };
    assert!(dpt(r#""size": {"shortest_edge": 9}"#).contains("lacks `height` or `width`"));
    assert!(dpt(r#""ensure_multiple_of": 0"#).contains("`ensure_multiple_of` is 0"));
    assert!(vit(r#""ensure_multiple_of": 4"#).contains("`ensure_multiple_of` is not supported"));
    let convnext =
        r#"{"image_processor_type": "ConvNextImageProcessor", "size": {"height": 3, "width": 3}}"#;
    assert!(image_problem(convnext).contains("shortest_edge"));
    assert!(image_problem("{").contains("preprocessor_config.json"));
    assert!(image_problem("[]").contains("not a JSON object"));
}

#[test]
fn images_of_a_batch_come_out_alike() {
    let config = r#"{"image_processor_type": "ViTImageProcessor", "size": {"shortest_edge": 4}}"#;
    let directory = directory_with(&[("preprocessor_config.json", config)]);
    let processor = ImageProcessor::open(directory.path()).unwrap().unwrap();
    let image = |height: usize| Image::new(height, 8, vec![0; height * 24]).unwrap();
    let unequal = [vec![image(8), image(8)], vec![image(8)]];
    let problem = processor.process_videos(&unequal).unwrap_err().to_string();
    assert!(
        problem.contains("video 1 has 1 frames, the first has 2"),
        "{problem}"
    );
    let problem = processor
        .process(&[image(8), image(16)])
        .unwrap_err()
        .to_string();
    assert!(problem.contains("image 1 becomes 8 x 4"), "{problem}");
    assert!(Image::new(2, 2, vec![0; 11]).is_err());
}

#[test]
fn tokenizers_that_cannot_be_read_are_named() {
    let open = |files: &[(&str, &str)]| {
        Tokenizer::open(directory_with(files).path())
            .unwrap_err()
            .to_string()
    };
    assert!(open(&[("tokenizer.json", "{}")]).contains("tokenizer.json"));
    assert!(open(&[("tokenizer.model", "")]).contains("save it again"));
    assert!(
        open(&[("tokenizer_config.json", r#"{"padding_side": "top"}"#)])
            .contains("`padding_side` is `top`")
    );
    let bert = r#"{"model_type": "bert"}"#;
    assert!(open(&[("vocab.txt", "a\nb"), ("config.json", bert)]).contains("no `[SEP]`"));
    assert!(open(&[("vocab.txt", "a\nb")]).contains("vocab.txt"));
}

//! Images become pixel values bit for bit as Pillow and transformers make them.

use crate::{directory_with, fixture, recorded, tensors::Tensors};
use std::{fs, io::Cursor};
use testgen_runtime::{Array, Image, ImageProcessor};

fn process(processor: &ImageProcessor, images: &[Image]) -> Array {
    processor
        .process(images)
        .unwrap()
        .remove("pixel_values")
        .unwrap()
}

#[test]
fn fixtures_equal_their_goldens() {
    let mut compared = 0;
    for entry in fs::read_dir(fixture("")).unwrap() {
        let directory = entry.unwrap().path();
        let Ok(Some(processor)) = ImageProcessor::open(&directory) else {
            continue;
        };
        let golden = Tensors::read(&directory.join("golden.safetensors"));
        let images: Vec<Image> = (0..)
            .map_while(|index| golden.arrays.get(&format!("image.{index}")))
            .map(|array| Image::from_array(array).unwrap())
            .collect();
        assert!(
            !images.is_empty(),
            "{} has a processor and no image",
            directory.display()
        );
        let expected = &golden.arrays["input.pixel_values"];
        assert_eq!(
            process(&processor, &images),
            *expected,
            "{}",
            directory.display()
        );
        compared += 1;
    }
    assert!(compared >= 3, "only {compared} fixtures have images");
}

#[test]
fn every_class_equals_transformers() {
    let vectors = Tensors::read(&recorded("vectors.safetensors"));
    let wave = Image::from_array(&vectors.arrays["image.wave"]).unwrap();
    let configs: Vec<serde_json::Value> =
        serde_json::from_slice(&fs::read(recorded("processors.json")).unwrap()).unwrap();
    for (index, config) in configs.iter().enumerate() {
        let directory = directory_with(&[("preprocessor_config.json", &config.to_string())]);
        let processor = ImageProcessor::open(directory.path()).unwrap().unwrap();
        let expected = &vectors.arrays[&format!("pixels.{index}")];
        assert_eq!(
            process(&processor, std::slice::from_ref(&wave)),
            *expected,
            "{config}"
        );
    }
    assert_eq!(configs.len(), 25);
}

#[test]
fn every_filter_equals_pillow() {
    let vectors = Tensors::read(&recorded("vectors.safetensors"));
    let mut compared = 0;
    for (name, expected) in &vectors.arrays {
        let Some(("resize", rest)) = name.split_once('.') else {
            continue;
        };
        let [image, code, size] = rest.splitn(3, '.').collect::<Vec<_>>().try_into().unwrap();
        let (height, width) = size.split_once('x').unwrap();
        let config = format!(
            r#"{{"image_processor_type": "ViTImageProcessorFast", "do_rescale": false, "do_normalize": false,
                "size": {{"height": {height}, "width": {width}}}, "resample": {code}}}"#
        );
        let directory = directory_with(&[("preprocessor_config.json", &config)]);
        let processor = ImageProcessor::open(directory.path()).unwrap().unwrap();
        let image = Image::from_array(&vectors.arrays[&format!("image.{image}")]).unwrap();
        let got = process(&processor, &[image]);
        let expected = Image::from_array(expected).unwrap();
        let planar = (0..3).flat_map(|channel| expected.pixels().iter().skip(channel).step_by(3));
        assert_eq!(
            got.as_floats().unwrap(),
            planar.map(|byte| f32::from(*byte)).collect::<Vec<_>>(),
            "{name}"
        );
        compared += 1;
    }
    assert_eq!(compared, 6 * 7 * 2);
}

#[test]
fn older_files_name_an_extractor_or_nothing() {
    let size = r#""size": 24, "crop_pct": 0.875, "resample": 3, "image_mean": [0.5, 0.5, 0.5]"#;
    let new = format!(r#"{{"image_processor_type": "ConvNextImageProcessor", {size}}}"#);
    let old = format!(r#"{{"feature_extractor_type": "ConvNextFeatureExtractor", {size}}}"#);
    let bare = format!("{{{size}}}");
    let nested = format!(r#"{{"image_processor": {new}, "processor_class": "SomeProcessor"}}"#);
    let model = ("config.json", r#"{"model_type": "resnet"}"#);
    let image = Image::new(
        30,
        20,
        (0..1800).map(|index| (index * 7 % 251) as u8).collect(),
    )
    .unwrap();
    let pixels = |files: &[(&str, &str)]| {
        let directory = directory_with(files);
        process(
            &ImageProcessor::open(directory.path()).unwrap().unwrap(),
            std::slice::from_ref(&image),
        )
    };
    let expected = pixels(&[("preprocessor_config.json", &new)]);
    assert_eq!(expected.shape(), [1, 3, 24, 24]);
    assert_eq!(pixels(&[("preprocessor_config.json", &old)]), expected);
    assert_eq!(
        pixels(&[("preprocessor_config.json", &bare), model]),
        expected
    );
    assert_eq!(pixels(&[("processor_config.json", &nested)]), expected);
}

#[test]
fn files_are_converted_as_pillow_does() {
    let encoded = |picture: image::DynamicImage| {
        let mut bytes = Cursor::new(Vec::new());
        picture
            .write_to(&mut bytes, image::ImageFormat::Png)
            .unwrap();
        Image::decode(bytes.get_ref())
    };
    let grey = image::GrayImage::from_raw(2, 1, vec![7, 200]).unwrap();
    assert_eq!(
        encoded(grey.into()).unwrap().pixels(),
        [7, 7, 7, 200, 200, 200]
    );
    let clear = image::RgbaImage::from_raw(1, 1, vec![10, 20, 30, 0]).unwrap();
    assert_eq!(encoded(clear.into()).unwrap().pixels(), [10, 20, 30]);
    let deep =
        image::ImageBuffer::<image::Rgb<u16>, _>::from_raw(1, 1, vec![0x12ff, 0x8000, 0xffff])
            .unwrap();
    assert_eq!(encoded(deep.into()).unwrap().pixels(), [0x12, 0x80, 0xff]);
    let deep_grey = image::ImageBuffer::<image::Luma<u16>, _>::from_raw(1, 1, vec![5]).unwrap();
    assert!(
        encoded(deep_grey.into())
            .unwrap_err()
            .to_string()
            .contains("16 bits")
    );
    assert!(Image::decode(b"no picture").is_err());
}

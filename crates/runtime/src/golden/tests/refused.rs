//! Goldens that are damaged, and goldens that no recorder writes.

use super::*;

#[test]
fn errors_name_the_missing_or_damaged_part() {
    let message = |tensors: &[(&str, &[f32])], metadata: &[(&str, &str)]| {
        read(tensors, metadata).unwrap_err().to_string()
    };
    assert!(message(&REQUIRED, &[]).contains("model_class"));
    assert!(message(&REQUIRED[..1], &[CLASS]).contains("output.*"));
    assert!(message(&REQUIRED[1..], &[CLASS]).contains("input.*"));
    assert!(message(&REQUIRED, &[CLASS, ("noise.f16", "{")]).contains("noise.f16"));
    assert!(message(&REQUIRED, &[CLASS, ("noise.f16", "{\"y\": [-1, 0]}")]).contains("-1"));
    assert!(message(&REQUIRED, &[CLASS, ("text", "no list")]).contains("text"));
    let directory = tempfile::tempdir().unwrap();
    assert!(matches!(
        Golden::read(directory.path()),
        Err(GoldenError::Missing { .. })
    ));
    std::fs::write(directory.path().join(FILE), b"nonsense").unwrap();
    assert!(matches!(
        Golden::read(directory.path()),
        Err(GoldenError::Format { .. })
    ));
}

/// Every device would agree with them.
#[test]
fn parts_that_nothing_could_be_compared_with_are_refused() {
    let message = |tensors: &[(&str, &[f32])]| match read(tensors, &[CLASS]) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    let with = |others: &[(&'static str, &'static [f32])]| [&REQUIRED[..], others].concat();
    let empty = message(&[REQUIRED[0], ("output.y", &[])]);
    assert!(empty.contains("has no `output.*` with elements"), "{empty}");
    let case = message(&with(&[
        ("case.1.input.x", &[1.0]),
        ("case.1.output.y", &[]),
    ]));
    assert!(case.contains("`case.1.output.*` with elements"), "{case}");
    assert_eq!(
        message(&with(&[("output.z", &[])])),
        "",
        "another has elements"
    );
    let router = message(&with(&[("router.3", &[1.0])]));
    assert!(
        router.contains("no `routing.3`, although it has `router.3`"),
        "{router}"
    );
    let routing = message(&with(&[("routing.3", &[1.0])]));
    assert!(
        routing.contains("no `router.3`, although it has `routing.3`"),
        "{routing}"
    );
    assert_eq!(
        message(&with(&[("router.3", &[1.0]), ("routing.3", &[1.0])])),
        ""
    );
}

#[test]
fn what_no_recorder_writes_is_refused() {
    let message = |tensors: &[(&str, &[f32])], metadata: &[(&str, &str)]| {
        let tensors = [&REQUIRED[..], tensors].concat();
        read(&tensors, &[&[CLASS][..], metadata].concat())
            .unwrap_err()
            .to_string()
    };
    let one: &[f32] = &[1.0];
    for name in [
        "something.else",
        "extra",
        "trace.depth.0",
        "case.x.input.y",
        "case.0.input.x",
        "case.1.router.0",
        "case.1.trace.embed",
        "case.1.tokens.start",
        "image.first",
        "graph.0",
    ] {
        let message = message(&[(name, one)], &[]);
        assert!(
            message.contains(&format!("`{name}` of ")) && message.contains("no such part"),
            "{message}"
        );
    }
    let name = format!("input.{}", "x".repeat(1_000_000));
    let long = message(&[(name.as_str(), one)], &[]);
    assert!(
        long.contains("its name has 1000006 bytes") && long.len() < 600,
        "{} bytes",
        long.len()
    );
    for (mask, expected) in [
        (&[1.0, 7.0][..], "element 1 is 7; a mask has 0 and 1"),
        (&[f32::NAN], "element 0 is NaN; a mask has 0 and 1"),
        (
            &[0.0, 0.0],
            "it hides every token; a mask shows at least one",
        ),
    ] {
        let message = message(&[("input.attention_mask", mask)], &[]);
        assert!(
            message.contains("`input.attention_mask` of ") && message.contains(expected),
            "{message}"
        );
    }
    for (key, value, expected) in [
        ("noise.f61", "{}", "`noise.f61` of "),
        (
            "noise.f16",
            r#"{"y": [0, 0], "z": [0, 0]}"#,
            "`z` is not a recorded tensor",
        ),
        (
            "noise.f16",
            r#"{"y": [0, 1e9]}"#,
            "expected two numbers from 0 to 1000",
        ),
    ] {
        let message = message(&[], &[(key, value)]);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn parts_that_no_recorder_writes_are_named() {
    let message = |name: &str, values: &[f32]| {
        let mut tensors = REQUIRED.to_vec();
        tensors.push((name, values));
        read(&tensors, &[CLASS]).unwrap_err().to_string()
    };
    for (name, expected) in [
        (
            "input.decoder_input_ids",
            "its shape is [1]; token ids are [rows, seq] with at least one column",
        ),
        ("tokens.start", "token ids are [rows, seq]"),
        (
            "trace.layer.18446744073709551615",
            "a golden has no such part",
        ),
        ("graph.0.edge_index", "`graph.0.num_nodes` of "),
        (
            "graph.3.num_nodes",
            "it is [], expected one number from 1 to 4096",
        ),
    ] {
        let message = message(name, &[1.0]);
        assert!(message.contains(expected), "{message}");
    }
}

#[cfg(unix)]
#[test]
fn a_golden_of_another_kind_of_file_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(FILE);
    let message = || Golden::read(directory.path()).unwrap_err().to_string();
    std::fs::File::create(&path)
        .and_then(|file| file.set_len(20_000_000_000))
        .unwrap();
    assert!(
        message().contains("golden.safetensors`: it has 20000000000 bytes, and at most"),
        "{}",
        message()
    );
    std::fs::remove_file(&path).unwrap();
    for (target, expected) in [
        ("nowhere", "it is a link to `nowhere`"),
        ("/dev/zero", "it is a device"),
    ] {
        std::os::unix::fs::symlink(target, &path).unwrap();
        assert!(message().contains(expected), "{}", message());
        std::fs::remove_file(&path).unwrap();
    }
    let header = br#"{"input.x":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}"#;
    std::fs::write(
        &path,
        [&(header.len() as u64).to_le_bytes(), &header[..], &[0; 8]].concat(),
    )
    .unwrap();
    assert!(
        message().contains("golden.safetensors` is damaged: tensor `input.x` has 8 bytes"),
        "{}",
        message()
    );
}

//! Errors of deep models, with and without the reference's own.

use super::*;

/// The sentence about states with these errors; `reference` is the reference's own error of each.
fn described(states: &[(String, f64)], reference: Option<f64>) -> String {
    let states: Vec<LayerError> = states
        .iter()
        .map(|(name, rel_l2)| LayerError {
            name: name.clone(),
            rel_l2: *rel_l2,
            reference,
        })
        .collect();
    ErrorsOverDepth::new(&states).map_or_else(String::new, |errors| errors.describe())
}

/// An exact embedding and layers whose errors are 7e-4, and from the layer `wrong` on `error`.
fn layers(count: usize, wrong: usize, error: f64) -> Vec<(String, f64)> {
    let error = |layer| if layer < wrong { 7e-4 } else { error };
    let embed = ("embed".to_owned(), 0.0);
    let layers = (0..count).map(|layer| (format!("layer.{layer}"), error(layer)));
    std::iter::once(embed).chain(layers).collect()
}

#[test]
fn the_first_layer_outside_the_usual_range_is_named() {
    assert_eq!(
        described(&layers(32, 17, 3.1e-2), Some(9e-4)),
        "errors rise at `layer.17` of 32 layers: 3.1e-2, 44 times `layer.16`; the reference's own error is 9.0e-4"
    );
    assert_eq!(
        described(&layers(32, 0, 3.1e-2), Some(9e-4)),
        "errors rise at `layer.0` of 32 layers: 3.1e-2; the reference's own error is 9.0e-4"
    );
    assert_eq!(
        described(&layers(32, 17, f64::MAX), Some(9e-4)),
        "errors rise at `layer.17` of 32 layers: no finite error"
    );
}

#[test]
fn errors_within_the_usual_range_do_not_rise() {
    assert_eq!(
        described(&layers(32, 17, 3.5e-3), Some(9e-4)),
        "errors do not rise over 32 layers: at most 3.9 times the reference's own"
    );
    // The median of the layers before is 3.9 times the reference's own, as with coarser arithmetic.
    assert!(described(&layers(32, 17, 2.6e-3), Some(1.8e-4)).starts_with("errors do not rise"));
    assert!(described(&layers(32, 17, 2.9e-3), Some(1.8e-4)).starts_with("errors rise"));
}

#[test]
fn without_the_own_error_of_the_reference_the_layers_before_are_the_range() {
    assert_eq!(
        described(&layers(8, 4, 8e-3), None),
        "errors rise at `layer.4` of 8 layers: 8.0e-3, 11 times `layer.3`"
    );
    assert_eq!(
        described(&layers(8, 4, 6e-3), None),
        "errors do not rise over 8 layers"
    );
    assert!(described(&layers(8, 4, f64::MAX), None).contains("no finite error"));
}

#[test]
fn each_stack_is_separate() {
    let stack = |prefix: &str, last| {
        let states = [("0", 1e-3), ("1", last)];
        states.map(|(layer, error)| (format!("{prefix}layer.{layer}"), error))
    };
    let states = [stack("encoder.", 1e-3), stack("decoder.", 1e-1)].concat();
    assert_eq!(
        described(&states, Some(1e-3)),
        "errors rise at `decoder.layer.1` of 2 layers: 1.0e-1, 100 times `decoder.layer.0`; the reference's own error is \
         1.0e-3"
    );
    assert_eq!(described(&[("embed".to_owned(), 1e-3)], Some(1e-3)), "");
}

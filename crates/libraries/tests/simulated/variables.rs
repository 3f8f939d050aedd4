//! Variables that tune AMD's libraries, in the versions of simulated ones.

use crate::installation::run_with;
use testgen_device::DeviceKind;
use testgen_libraries::VendorLibraries;

/// The beginning of the line with the versions of products.
const PRODUCTS: &str = "products: ";

/// The beginning of the line with the version of convolutions.
const CONVOLUTIONS: &str = "convolutions: ";

/// In the subprocess: the versions of the libraries.
pub(crate) fn print_versions() {
    let libraries = VendorLibraries::open(DeviceKind::Rocm, 0, None).expect("they open");
    let convolutions = libraries.convolutions().expect("it is installed");
    println!("\n{PRODUCTS}{}", libraries.products());
    println!("{CONVOLUTIONS}{convolutions}");
}

/// The versions of products and of convolutions of a process with these variables.
fn versions(variables: &[(&str, &str)]) -> [String; 2] {
    let output = run_with("variables all", "", variables);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    [PRODUCTS, CONVOLUTIONS].map(|beginning| {
        let line = text.lines().find_map(|line| line.strip_prefix(beginning));
        line.unwrap_or_else(|| panic!("no line: {text}")).to_owned()
    })
}

#[test]
fn versions_have_the_variables_that_tune_a_library() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("tuning.txt");
    let path = path.to_str().expect("is UTF-8");
    let variables = [
        ("HIPBLASLT_TUNING_OVERRIDE_FILE", path),
        ("MIOPEN_FIND_MODE", "FAST"),
        ("MIOPEN_LOG_LEVEL", "5"),
    ];
    let [products, convolutions] = versions(&variables);
    let plain = versions(&[]);
    assert_eq!(
        products,
        format!("{}, HIPBLASLT_TUNING_OVERRIDE_FILE=empty", plain[0])
    );
    assert_eq!(convolutions, format!("{}, MIOPEN_FIND_MODE=FAST", plain[1]));
    let tuned = |text: &str| {
        std::fs::write(path, text).expect("is writable");
        versions(&variables)
    };
    let [first, again, second] = ["index 1", "index 1", "index 2"].map(tuned);
    assert_eq!(first, again);
    assert_ne!(first[0], products);
    assert_ne!(first[0], second[0]);
    assert_eq!(first[1], second[1]);
    assert!(!first[0].contains(path), "{}", first[0]);
}

//! The page in headless Chromium, which prints the document after its script has run. Filters and
//! the open cell are in the address, so that no browser driver is needed.

use crate::{
    project::Project,
    seeded::{seed, seed_many},
};
use std::{env, path::Path, process::Command};

/// Set where a missing browser must fail the test instead of skipping it, as in CI.
const REQUIRE: &str = "TESTGEN_REQUIRE_BROWSER";

/// The document of an address after the script has run, or `None` without a browser, which is
/// printed.
pub(crate) fn document(page: &Path, address: &str) -> Option<String> {
    let browser = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| {
            env::split_paths(&env::var_os("PATH").unwrap_or_default())
                .any(|directory| directory.join(name).is_file())
        });
    let Some(browser) = browser else {
        assert!(
            env::var_os(REQUIRE).is_none(),
            "{REQUIRE} is set, and there is no Chromium in PATH"
        );
        eprintln!("skipped: no Chromium in PATH; `apt-get install chromium` has one");
        return None;
    };
    let profile = tempfile::tempdir().expect("the temporary directory can be written");
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}#{address}", page.display()))
        .output()
        .expect("the browser starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The seeded report as a page, with a base.
fn page(project: &Project) -> std::path::PathBuf {
    seed(project, "reports");
    project
        .run(&[
            "report",
            "reports",
            "--out",
            "report.html",
            "--base",
            "reports/cpu.jsonl",
        ])
        .expect_code(1);
    project.path("report.html")
}

/// The buttons of the matrix, by their labels.
fn labels(document: &str) -> Vec<&str> {
    let document = body(document);
    document
        .split("data-key=")
        .skip(1)
        .filter_map(|button| button.split("aria-label=\"").nth(1)?.split('"').next())
        .collect()
}

#[track_caller]
fn assert_has(document: &str, expected: &[&str]) {
    for text in expected {
        assert!(
            document.contains(text),
            "`{text}` is missing in\n{}",
            body(document)
        );
    }
}

/// The part of the document after the style and before the data.
fn body(document: &str) -> &str {
    let start = document.find("<body").unwrap_or(0);
    &document[start
        ..document
            .find("<script type")
            .unwrap_or(document.len())
            .max(start)]
}

#[test]
fn the_page_shows_every_status() {
    let project = Project::empty();
    let Some(document) = document(&page(&project), "") else {
        return;
    };
    let expected = [
        "llama, cpu: A host processor, f32: pass 1.00e-4 \u{d7}10",
        "llama, cuda: A CUDA device, f32: fail 0.6 \u{d7}0.00167",
        "bert, cpu: A host processor, f32: pass 1.00e-4 \u{d7}10",
        "bert, cuda: A CUDA device, f32: pass 1.00e-4 \u{d7}10",
        "bert, rocm: nothing ran, f32: fallback ",
        "bert, rocm: gfx1100 (hip-sim) (SIMULATED), f32: simulated 1.00e-4 \u{d7}10",
        "mocked, cuda: A CUDA device, f32: mock ",
        "nan_model, cpu: A host processor, f16: fail NaN or infinity in 2 elements",
    ];
    let mut found = labels(&document);
    let mut expected = expected.to_vec();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected, "{}", body(&document));
    // Every status has its own class, sign and word.
    assert_has(
        &document,
        &[
            "s fail",
            "s mock",
            "s fallback",
            "s simulated",
            "s pass",
            "\u{2717}",
            "\u{2205}",
            "\u{21b7}",
            "\u{2248}",
        ],
    );
    assert_has(
        &document,
        &[
            "data-ready=",
            "FAILED",
            "sm_90",
            "580.1",
            "Differences to the base",
        ],
    );
}

/// Keys of a user who moves, opens a cell, closes it and starts a search.
const KEYS: &str = "<script>
const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
document.querySelector('#matrix [tabindex=\"0\"]').focus();
press('ArrowDown'); press('End');
const there = document.activeElement.dataset.key;
document.activeElement.click();
const opened = document.querySelector('#detail-title') !== null && location.hash.includes('open=');
press('Escape');
const closed = document.querySelector('#detail').hidden;
press('/');
document.body.dataset.keys = [there, opened, closed, document.activeElement.id].join(' ');
</script></body>";

#[test]
fn the_page_can_be_used_with_the_keyboard() {
    let project = Project::empty();
    let text = std::fs::read_to_string(page(&project))
        .expect("the page is written")
        .replace("</body>", KEYS);
    let Some(document) = document(&project.write("keys.html", text), "") else {
        return;
    };
    assert_has(&document, &["data-keys=\"bert|3|f32 true true q\""]);
}

#[test]
fn filters_select_cells() {
    let project = Project::empty();
    let page = page(&project);
    let Some(failing) = document(&page, "status=fail") else {
        return;
    };
    assert_eq!(labels(&failing).len(), 2, "{}", body(&failing));
    let count =
        |address: &str| labels(&document(&page, address).expect("there is a browser")).len();
    assert_eq!(count("q=nan"), 1);
    assert_eq!(count("q=diverges"), 1, "reasons are searched as well");
    assert_eq!(count("device=cuda"), 3);
    assert_eq!(count("device=rocm&precision=f32&status=simulated"), 1);
    assert_eq!(count("precision=bf16"), 0);
}

#[test]
fn a_failing_cell_shows_its_first_diverging_layer_and_worst_elements() {
    let project = Project::empty();
    let page = page(&project);
    let Some(wrong_layer) = document(&page, "open=llama|1|f32") else {
        return;
    };
    assert_has(
        body(&wrong_layer),
        &[
            "First diverging layer: <strong>layer.1</strong>",
            "[0, 1, 7]",
            "0.25",
            "-0.75",
        ],
    );
    assert_has(
        body(&wrong_layer),
        &[
            "<svg",
            "layer.1: error 0.5, allowed 0.001, the reference's own 9.00e-6",
            "dashed is the reference's own error",
            "<path class=\"reference\"",
            "Layers: errors rise at `layer.1` of 3 layers: 5.0e-1, 50000 times `layer.0`; the reference's own error is 9.0e-6",
            "class=\"outside\"",
        ],
    );
    let open = |address: &str| document(&page, address).expect("there is a browser");
    let nan = open("open=nan_model|0|f16");
    assert_has(
        body(&nan),
        &[
            "NaN or infinity in 2 elements",
            "[0, 3]",
            "<td class=\"number\">NaN or infinity</td>",
        ],
    );
    let mock = open("open=mocked|1|f32");
    assert_has(
        body(&mock),
        &[
            "no model could be loaded",
            "&lt;script&gt;alert('weights')&lt;/script&gt;",
        ],
    );
    let simulated = open("open=bert|3|f32");
    assert_has(body(&simulated), &["nothing here was computed on hardware"]);
    let fallback = open("open=bert|2|f32");
    assert_has(
        body(&fallback),
        &["another device was used", "fell back to cpu"],
    );
}

/// Clicks on the button of an architecture, and what follows.
const UNFOLD: &str = "<script>{
const rows = () => document.querySelectorAll('#matrix tbody tr').length;
const before = rows();
document.querySelector('[data-unfold=encoder_only]').click();
const unfolded = [rows(), location.hash, document.activeElement.dataset.unfold].join(' ');
document.querySelector('#matrix td button').focus();
document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true, cancelable: true }));
const next = document.activeElement.dataset.key;
document.querySelector('[data-unfold=encoder_only]').click();
document.body.dataset.unfolds = [before, unfolded, next, rows(), location.hash].join(' ');
}</script></body>";

#[test]
fn of_many_models_the_page_shows_those_that_did_not_simply_pass() {
    let project = Project::empty();
    seed_many(&project, "reports", 600);
    project
        .run(&["report", "reports", "--out", "report.html"])
        .expect_code(1);
    let page = project.path("report.html");
    let Some(document) = document(&page, "") else {
        return;
    };
    let expected = [
        "llama_0007, cpu: A host processor, f32: fail 0.5 \u{d7}0.002; other checks: pass 1",
        "llama_0007, cpu@torch: A host processor, f32: pass 1.00e-4 \u{d7}10; other checks: pass 1",
        "llama_0007, cuda: A CUDA device, f32: pass 1.00e-4 \u{d7}10; other checks: pass 1",
        "bert_0009, cpu: A host processor, f32: pass 1.00e-4 \u{d7}10; other checks: pass 1",
        "bert_0009, cpu@torch: A host processor, f32: pass 1.00e-4 \u{d7}10; other checks: pass 1",
        "bert_0009, cuda: A CUDA device, f32: pass 1.00e-4 \u{d7}10; other checks: fail 1 of 1",
    ];
    assert_eq!(labels(&document), expected, "{}", body(&document));
    assert_has(
        body(&document),
        &[
            "1800 of 1800 cells, 600 of 600 models",
            "300 models",
            "299 more",
            "</span> fail</span> 1</span>",
        ],
    );
    let count =
        |address: &str| labels(&self::document(&page, address).expect("there is a browser")).len();
    assert_eq!(count("unfold=encoder_only"), 3 + 3 * 300);
    assert_eq!(count("q=bert_012"), 10 * 3, "few models are not folded");
    assert_eq!(
        count("status=fail"),
        2,
        "the cells with a failure, of numbers or of another check"
    );
    let text = std::fs::read_to_string(&page)
        .expect("the page is written")
        .replace("</body>", UNFOLD);
    let document =
        self::document(&project.write("unfold.html", text), "").expect("there is a browser");
    let expected = "4 303 #unfold=encoder_only encoder_only bert_0000|0|f32 4 ";
    assert_has(&document, &[&format!("data-unfolds=\"{expected}\"")]);
}

#[test]
fn a_cell_shows_its_numbers_apart_from_its_other_checks() {
    let project = Project::empty();
    seed_many(&project, "reports", 20);
    project
        .run(&["report", "reports", "--out", "report.html"])
        .expect_code(1);
    let Some(document) = document(&project.path("report.html"), "open=bert_0009|2|f32") else {
        return;
    };
    assert_eq!(labels(&document).len(), 60, "few models are not folded");
    assert_has(
        body(&document),
        &[
            "Numbers: <span class=\"s fail\"> 1 <span",
            "Other checks: <span class=\"s fail\"> 1 <span",
        ],
    );
    assert_has(
        body(&document),
        &[
            "Numbers: <span class=\"mark-pass\"",
            "Other checks: <span class=\"mark-fail\"",
            ": 1 of 1.",
        ],
    );
    let (numbers, others) = body(&document)
        .split_once("Other checks</h3>")
        .expect("the cell has other checks");
    assert_has(
        numbers,
        &[
            "Checks of numbers</h3>",
            ">output_golden</th>",
            "4096 bytes remain",
        ],
    );
    assert_has(others, &[">memory_released</th>"]);
    assert!(
        !numbers.contains(">memory_released</th>") && !others.contains(">output_golden</th>"),
        "{}",
        body(&document)
    );
}

//! Every answer is that of the formatter, and nearly every item of the suite has one.

use super::{FIELDS, LISTED, digest, layout, static_item};
use crate::{
    generate::{Harness, Layout},
    settings::Settings,
    spec::load_all,
    template::{Templates, format::parsed_layout},
};
use std::{collections::BTreeSet, fs, path::Path};

/// The distinct items of the harnesses of this repository, as they were rendered, without the empty lines around them.
fn items() -> BTreeSet<String> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let specs = repository.join("model_specs");
    let settings = Settings {
        specs: specs.clone(),
        out: repository.join("generated"),
        templates: None,
        runtime: None,
        engines: Vec::new(),
    };
    let layout = Layout::new(&settings).expect("the directories exist");
    let templates = Templates::load(None).expect("the built-in templates are valid");
    for loaded in load_all(&specs).expect("the specs are valid") {
        Harness::render(&loaded, &layout, &templates).expect("the templates render");
    }
    templates.formatted_chunks().iter().map(|chunk| chunk.trim_matches('\n').to_owned()).collect()
}

#[test]
fn every_answer_is_that_of_the_formatter() {
    let items = items();
    let answered = items.iter().filter(|item| layout(item).is_some()).count();
    for item in &items {
        assert!(layout(item).is_none_or(|text| Some(text) == parsed_layout(item)), "{item}");
    }
    // The others: functions of tasks with long names, which formatting breaks, and specs with tolerances or skips. The shapes of
    // operators are nested lists, which are broken by their width: parsing them takes as long as measuring them would.
    let expected = items.iter().filter(|item| !item.contains("OperatorShapes {")).count();
    assert!(answered * 10 > expected * 8, "{answered} of {expected} items are not parsed");
}

#[test]
fn the_listed_items_are_those_that_formatting_does_not_change() {
    let unchanged = |item: &&String| parsed_layout(item) == Some(format!("{item}\n"));
    let items = items();
    let stable = items.iter().filter(|item| !item.contains("static ")).filter(unchanged);
    let expected: BTreeSet<String> = stable.map(|item| digest(item)).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/template/settled_items.txt");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let text: String = expected.iter().map(|digest| format!("{digest}\n")).collect();
        return fs::write(path, text).expect("the list can be written");
    }
    let listed: BTreeSet<String> = LISTED.iter().map(|digest| (*digest).to_owned()).collect();
    assert!(listed == expected, "`UPDATE_DOCS=1 cargo test -p testgen --lib settled` writes the list");
}

#[test]
fn static_items_of_every_width_are_laid_out_as_by_the_formatter() {
    let mut answered = 0;
    for length in 0..100 {
        let text = "x".repeat(length);
        let paths = vec!["A::B"; length / 4].join(", ");
        for value in
            [format!("\"{text}\""), format!("Some(\"{text}\")"), format!("&[{paths}]"), format!("A{text}::B{text}")]
        {
            for (field, inner) in [("name", "path"), ("precisions", "hub")] {
                let item = format!(
                    "/// Doc {text}.\n\n/// More.\npub static S{text}: T = T {{\n    {field}: {value},\n\n    source: U {{\n        \
                     {inner}: {value},\n        request,\n    }},\n}};"
                );
                let Some(known) = static_item(&item) else { continue };
                answered += 1;
                assert_eq!(Some(known), parsed_layout(&item), "{item}");
            }
        }
    }
    assert!(answered > 200, "{answered}");
}

#[test]
fn what_could_be_laid_out_otherwise_is_parsed() {
    let good = "pub static A: B = B {\n    name: \"a name that is long enough\",\n    hub: None,\n};";
    assert_eq!(static_item(good), Some(format!("{good}\n")));
    let others = [
        good.replace("a name that is long enough", "short"),
        good.replace("None", "&[A, B,]"),
        good.replace("None", "f()"),
        good.replace("None", "None "),
        good.replace("a name", "\\u{0}"),
        good.replace("a name", "a\"b"),
        good.replace("a name", "é"),
        good.replace("hub", "match"),
        good.replace("    hub", "  hub"),
        good.replace("None", "S { path: A }"),
        good.replace("None,", "S {\n        path: A,\n    },"),
        good.replace("};", "};\nfn f() {}"),
        good.replace("pub static", "/// A \npub static"),
        good.replace("pub static", "#[test]\npub static"),
    ];
    for other in others {
        assert_eq!(static_item(&other), None, "{other}");
    }
    assert!(FIELDS.is_sorted());
}

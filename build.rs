//! Lists the files below `templates/` for `src/template.rs`, so that a new template needs no
//! second mention.

use std::{env, error::Error, fmt::Write, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("templates");
    let mut names = Vec::new();
    collect(&root, "", &mut names)?;
    names.sort();
    let mut list = String::from("&[\n");
    for name in names {
        // No absolute path: checkouts that share a target directory share this file.
        let path = format!("/templates/{name}");
        writeln!(
            list,
            "    ({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?}))),"
        )?;
    }
    list.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("templates.rs"), list)?;
    println!("cargo::rerun-if-changed=templates");
    Ok(())
}

fn collect(directory: &Path, prefix: &str, names: &mut Vec<String>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry
            .file_name()
            .into_string()
            .map_err(|name| format!("{name:?} is not UTF-8"))?;
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{prefix}{name}/"), names)?;
        } else if name.ends_with(".tera") {
            names.push(format!("{prefix}{name}"));
        }
    }
    Ok(())
}

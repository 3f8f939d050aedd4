//! `testgen show completions`: a script for every shell.

use crate::project::Project;

#[test]
fn every_shell_gets_a_script() {
    let project = Project::empty();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let outcome = project.run(&["show", "completions", shell]).expect_code(0);
        for word in ["generate", "show", "--dry-run"] {
            assert!(
                outcome.stdout.contains(word.trim_start_matches('-')),
                "{word} is not completed in {shell}"
            );
        }
    }
    project.run(&["show", "completions", "tcsh"]).expect_code(2);
    project.run(&["show", "completions"]).expect_code(2);
}

#[test]
fn bash_reads_its_script() {
    let project = Project::empty();
    let script = project
        .run(&["show", "completions", "bash"])
        .expect_code(0)
        .stdout;
    project.write("completions.bash", script);
    let mut bash = std::process::Command::new("bash");
    bash.args(["-n", "completions.bash"])
        .current_dir(project.path(""));
    project.finish(&mut bash).expect_code(0);
}

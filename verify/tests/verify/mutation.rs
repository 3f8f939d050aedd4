//! The mutation proof: no broken harness is accepted.

mod flow;
mod request;
mod surroundings;
mod text;
mod tree;
mod trick;

use super::{
    good_harness,
    mutator::{self, Mutant},
    proof,
};
use std::collections::BTreeMap;
use syn::File;
use testgen_verify::{Expectation, HarnessSource, verify_all};

#[test]
fn no_broken_harness_is_accepted() {
    let (mut made, mut accepted) = (BTreeMap::<&str, usize>::new(), Vec::new());
    for expectation in good_harness::models() {
        let text = good_harness::harness(&expectation);
        let file = syn::parse_file(&text).expect("the base parses");
        let mutants = mutants(&file, &text, &expectation);
        let sources = mutants.iter().map(|mutant| HarnessSource {
            path: good_harness::PATH,
            text: &mutant.text,
        });
        let asked: Vec<_> = sources.map(|source| (source, Some(&expectation))).collect();
        for (mutant, findings) in mutants.iter().zip(verify_all(&asked)) {
            *made.entry(mutant.kind).or_default() += 1;
            if findings.is_empty() {
                accepted.push(format!(
                    "{}: {}\n{}",
                    expectation.name, mutant.kind, mutant.text
                ));
            }
        }
    }
    let total: usize = made.values().sum();
    println!(
        "{total} broken harnesses of {} kinds, {} accepted: {made:#?}",
        made.len(),
        accepted.len()
    );
    assert!(
        accepted.is_empty(),
        "{} accepted\n{}",
        accepted.len(),
        accepted.join("\n----\n")
    );
    proof::record("Broken harnesses", &made, accepted.len());
    assert!(
        made.len() >= 20
            && (total >= 500 || mutator::is_reduced())
            && made.values().all(|&count| count > 0)
    );
}

fn mutants(file: &File, text: &str, expectation: &Expectation) -> Vec<Mutant> {
    let groups = [
        tree::bodies(file),
        tree::moved(file),
        tree::shadows(file),
        flow::flows(file),
        request::requests(file),
        text::words(file, text),
        text::outside(file, text),
        trick::tricks(text),
        surroundings::surroundings(text),
    ];
    let mut all: Vec<Mutant> = groups.into_iter().flatten().collect();
    all.extend(text::skips(text, expectation));
    mutator::sample(all)
}

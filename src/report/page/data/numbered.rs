//! Each string of the page once, with a number.

use std::collections::HashMap;

/// A list without duplicates, with the index of each item.
#[derive(Debug)]
pub(super) struct Numbered<T> {
    pub(super) list: Vec<T>,
    numbers: HashMap<T, usize>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            numbers: HashMap::new(),
        }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Numbered<T> {
    pub(super) fn number(&mut self, item: T) -> usize {
        if let Some(number) = self.numbers.get(&item) {
            return *number;
        }
        self.list.push(item.clone());
        self.numbers.insert(item, self.list.len() - 1);
        self.list.len() - 1
    }
}

//! Distinct and grouped items, in the order of their first occurrence.

/// Each item once.
pub fn distinct<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut out = Vec::new();
    for item in all {
        if !out.contains(&item) {
            out.push(item);
        }
    }
    out
}

/// The items of each key.
pub fn grouped<K: PartialEq, T>(all: impl IntoIterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut out: Vec<(K, Vec<T>)> = Vec::new();
    for (key, item) in all {
        match out.iter_mut().find(|(known, _)| *known == key) {
            Some((_, items)) => items.push(item),
            None => out.push((key, vec![item])),
        }
    }
    out
}

//! Cycles among the top modules of a crate: sets of modules that all depend on each other.

use std::collections::{BTreeMap, BTreeSet};

use super::source::Source;

/// Which modules a module uses.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// The largest cycle of each crate that has one, by the name of the crate.
pub(super) fn largest(sources: &[Source]) -> BTreeMap<String, Vec<String>> {
    let mut graphs = BTreeMap::<String, Graph>::new();
    for source in sources {
        let Some(top) = source.module.first() else { continue };
        let uses = graphs.entry(source.crate_name.clone()).or_default().entry(top.clone()).or_default();
        uses.extend(source.uses.iter().filter_map(|path| path.first()).filter(|used| *used != top).cloned());
    }
    let largest = graphs.into_iter().map(|(name, graph)| (name, largest_of(&graph)));
    largest.filter(|(_, cycle)| cycle.len() > 1).collect()
}

fn largest_of(graph: &Graph) -> Vec<String> {
    let reached: BTreeMap<&String, BTreeSet<String>> =
        graph.keys().map(|module| (module, reached_from(graph, module))).collect();
    let cycle = |module: &String| -> Vec<String> {
        let back = |other: &&String| reached[module].contains(*other) && reached[other].contains(module);
        graph.keys().filter(back).cloned().collect()
    };
    graph.keys().map(cycle).max_by_key(Vec::len).unwrap_or_default()
}

/// Every module that can be reached from one by one step or more.
fn reached_from(graph: &Graph, start: &String) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut waiting = vec![start];
    while let Some(module) = waiting.pop() {
        for used in graph.get(module).into_iter().flatten().filter(|used| graph.contains_key(*used)) {
            if reached.insert(used.clone()) {
                waiting.push(used);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(edges: &[(&str, &str)], expected: &[&str]) {
        let mut graph = Graph::new();
        for (from, to) in edges {
            graph.entry((*from).to_owned()).or_default().insert((*to).to_owned());
            graph.entry((*to).to_owned()).or_default();
        }
        assert_eq!(largest_of(&graph), expected);
    }

    #[test]
    fn the_largest_cycle_is_found() {
        check(&[("a", "b"), ("b", "c")], &[]);
        check(&[("a", "b"), ("b", "a"), ("c", "d"), ("d", "e"), ("e", "c"), ("a", "c")], &["c", "d", "e"]);
    }
}

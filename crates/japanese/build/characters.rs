//! `char.def`: how unknown words are formed from characters of a class.

use std::collections::HashMap;

/// The class of every character of the basic plane.
pub(crate) struct Characters {
    /// By character: an index into `distinct`.
    pub(crate) classes: Vec<u8>,
    /// The class without a character of its own, `DEFAULT`, comes first.
    pub(crate) distinct: Vec<Class>,
}

/// One class, or a union of classes whose first one decides.
#[derive(Clone, PartialEq)]
pub(crate) struct Class {
    pub(crate) name: String,
    /// A bit for each class that the character belongs to.
    pub(crate) kinds: u32,
    pub(crate) invoke: bool,
    pub(crate) group: bool,
    pub(crate) length: u8,
}

/// Reads the definition.
pub(crate) fn build(definition: &str) -> Characters {
    let mut named: HashMap<String, Class> = HashMap::new();
    let mut ranges = Vec::new();
    for line in definition.lines() {
        let fields: Vec<&str> = line.split('#').next().unwrap().split_whitespace().collect();
        match fields.as_slice() {
            [] => {}
            [range, classes @ ..] if range.starts_with("0x") => {
                ranges.push((range_of(range), classes.to_vec()));
            }
            [name, invoke, group, length] => {
                let (kinds, length) = (1 << named.len(), length.parse().unwrap());
                let (invoke, group, name) = (*invoke == "1", *group == "1", (*name).to_owned());
                named.insert(name.clone(), Class { name, kinds, invoke, group, length });
            }
            _ => panic!("`char.def` has a strange line: {line}"),
        }
    }
    let mut distinct = vec![named["DEFAULT"].clone()];
    let mut classes = vec![0; 1 << 16];
    for ((first, last), names) in ranges {
        let class = union(&named, &names);
        let at = distinct.iter().position(|other| *other == class).unwrap_or_else(|| {
            distinct.push(class);
            distinct.len() - 1
        });
        classes[first..=last].fill(u8::try_from(at).unwrap());
    }
    Characters { classes, distinct }
}

fn range_of(text: &str) -> (usize, usize) {
    let number = |text: &str| usize::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap();
    match text.split_once("..") {
        Some((first, last)) => (number(first), number(last)),
        None => (number(text), number(text)),
    }
}

fn union(named: &HashMap<String, Class>, names: &[&str]) -> Class {
    let kinds = names.iter().fold(0, |kinds, name| kinds | named[*name].kinds);
    Class { kinds, ..named[names[0]].clone() }
}

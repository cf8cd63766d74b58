//! Names that rows refer to by number.

use std::collections::HashMap;
use std::sync::Arc;

/// Names that rows refer to, such as those of archive files. Each has a number while a process runs.
#[derive(Clone, Debug, Default)]
pub struct Names {
    names: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
}

impl Names {
    /// The number of a name; a new one if it has none.
    ///
    /// # Panics
    /// When there are more than `u32::MAX` names.
    pub fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = u32::try_from(self.names.len()).expect("there are fewer names than that");
        let name: Arc<str> = Arc::from(name);
        self.names.push(Arc::clone(&name));
        self.numbers.insert(name, number);
        number
    }
    /// The name of a number that [`Names::number`] gave.
    #[must_use]
    pub fn name(&self, number: u32) -> &Arc<str> {
        &self.names[number as usize]
    }
    /// All of them, by number.
    #[must_use]
    pub fn names(&self) -> &[Arc<str>] {
        &self.names
    }
}

//! The current time of a data directory, reported if it is not that of this machine.

use super::Context;
use base::Timestamp;
use node::WebKind;

impl Context {
    /// The current time of the data directory, from which ages are counted.
    pub(crate) fn tell_present(&self) -> anyhow::Result<Timestamp> {
        self.tell_simulated()?;
        Ok(self.node.present()?)
    }

    /// Reports that times are those of the simulated web if the directory contains it.
    pub(crate) fn tell_simulated(&self) -> anyhow::Result<()> {
        if self.node.web()? == WebKind::Simulated {
            let present = self.node.present()?;
            self.output.note(format!("times are those of the simulated web, where it is now {present}"));
        }
        Ok(())
    }
}

//! The present of a data directory, said when it is not that of this machine.

use super::Context;
use base::Timestamp;
use node::WebKind;

impl Context {
    /// The present of the data directory, from which ages count.
    pub(crate) fn tell_present(&self) -> anyhow::Result<Timestamp> {
        self.tell_simulated()?;
        Ok(self.node.present()?)
    }

    /// Says that times are those of the simulated web if the directory holds that.
    pub(crate) fn tell_simulated(&self) -> anyhow::Result<()> {
        if self.node.web()? == WebKind::Simulated {
            let present = self.node.present()?;
            self.output.note(format!("times are those of the simulated web, where it is now {present}"));
        }
        Ok(())
    }
}

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

    /// Reports that times are not those of this machine if the directory has a time of its own.
    pub(crate) fn tell_simulated(&self) -> anyhow::Result<()> {
        let whose = match self.node.web()? {
            WebKind::Public => return Ok(()),
            WebKind::Simulated => "the simulated web",
            WebKind::Accelerated => "the accelerated crawl",
        };
        let present = self.node.present()?;
        self.output.note(format!("times are those of {whose}, where it is now {present}"));
        Ok(())
    }
}

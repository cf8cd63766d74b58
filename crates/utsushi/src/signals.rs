//! Ctrl-C and SIGTERM: the first asks the command to stop cleanly, the second ends it immediately.
//!
//! Ending immediately is safe: acknowledged data is synced, and the next start repairs the rest (M1).

use crate::exit::Exit;
use crate::output::Output;
use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// Tells a command to stop. Copies receive the same signal.
#[derive(Clone, Debug)]
pub(crate) struct Stop(watch::Receiver<bool>);

impl Stop {
    /// Returns once the command should stop.
    pub(crate) async fn wait(&self) {
        // The sender lives as long as the runtime; without it no signal can arrive any more.
        let mut asked = self.0.clone();
        if asked.wait_for(|asked| *asked).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Stop {
    /// Whether the command should stop.
    pub(crate) fn is_asked(&self) -> bool {
        *self.0.borrow()
    }
    /// An error if the command should stop, for commands without partial results.
    pub(crate) fn check(&self) -> Result<(), Stopped> {
        if self.is_asked() { Err(Stopped) } else { Ok(()) }
    }
}

/// A command was stopped before it was done.
#[derive(Debug, thiserror::Error)]
#[error("stopped before the end")]
pub(crate) struct Stopped;

/// Starts to listen. Until this is called both signals end the program by default.
pub(crate) fn listen(output: &Output) -> io::Result<Stop> {
    let (interrupt, terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let (sender, receiver) = watch::channel(false);
    tokio::spawn(hear(interrupt, terminate, sender, output.clone()));
    Ok(Stop(receiver))
}

async fn hear(mut interrupt: Signal, mut terminate: Signal, sender: watch::Sender<bool>, output: Output) {
    either(&mut interrupt, &mut terminate).await;
    output.note("stopping; press Ctrl-C again to stop immediately");
    sender.send_replace(true);
    either(&mut interrupt, &mut terminate).await;
    std::process::exit(Exit::CouldNot.code().into());
}

async fn either(interrupt: &mut Signal, terminate: &mut Signal) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

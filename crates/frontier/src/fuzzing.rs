//! Gives the fuzz targets access to the private codecs of stored states.

use crate::server::StoredServer;
use crate::state::State;
use crate::trap::Shapes;

/// Reads `bytes` as the state of a page.
///
/// # Panics
/// When what was read is not read again as it is written.
pub fn read_page(bytes: &[u8]) {
    let Some(state) = State::read(bytes) else { return };
    let write = |state: &State| written(|bytes| state.write(bytes));
    let again = State::read(&write(&state)).expect("a state that was written is read");
    assert_eq!(write(&again), write(&state));
    let _ = (state.history(), state.is_retried(), state.first_seen());
}

/// Reads `bytes` as the stored state of a server.
///
/// # Panics
/// When what was read is not read again as it is written.
pub fn read_server(bytes: &[u8]) {
    let Some(kept) = StoredServer::read(bytes) else { return };
    let write = |kept: &StoredServer| written(|bytes| kept.write(bytes));
    let again = StoredServer::read(&write(&kept)).expect("a state that was written is read");
    assert_eq!(write(&again), write(&kept));
}

/// Reads `bytes` as the shapes of a server's URLs.
///
/// # Panics
/// When what was read is not read again as it is written.
pub fn read_shapes(bytes: &[u8]) {
    let write = |shapes: &Shapes| written(|bytes| shapes.write(bytes));
    let shapes = Shapes::read(bytes);
    assert_eq!(write(&Shapes::read(&write(&shapes))), write(&shapes));
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes);
    bytes
}

//! The guard as clients and servers see it, on loopback or in a network of its own.

#![expect(
    clippy::unwrap_used,
    reason = "clippy knows test functions by their mark; here the functions they call are tests too"
)]

mod client;
mod fails_closed;
mod limits;
mod misuse;
mod observed;
mod place;
mod restart;
mod tunnels;

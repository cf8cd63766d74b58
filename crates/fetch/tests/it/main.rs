//! The door against real servers on loopback, and the robots rules against the known facts.

#![expect(
    clippy::unwrap_used,
    reason = "clippy knows test functions by their mark; here the functions they call are tests too"
)]

mod corpus;
mod dns;
mod forbidden;
mod hostile;
mod odd;
mod proxy;
mod registry;
mod reuse;
mod robots;
mod server;
mod store;
mod time;
mod tls;

//! The program as its users meet it: run as a process, judged by exit code, output and what it leaves on disk.

#![expect(
    clippy::unwrap_used,
    reason = "clippy knows test functions by their mark; here the functions they call are tests too"
)]

mod accelerate;
mod addresses;
mod beside;
mod config;
mod crawl;
mod damage;
mod data_directory;
mod demo;
mod describing;
mod failing;
mod fetch;
mod figures;
mod get;
mod guard;
mod held_back;
mod history;
mod import;
mod killed_crawl;
mod made;
mod obvious;
mod program;
mod readers;
mod scan;
mod sim_serve;
mod site;
mod snapshot;
mod streams;
mod takedown;
mod told;
mod verify;

//! `utsushi scan` as its users meet it, and as a document meets it that means harm.
//!
//! Programs are shell scripts, so that nothing is needed that a test machine may not have; where a shell cannot do harm
//! enough, this very test program is the analysis ([`sandbox`]), or a program in Python ([`rights`]).

mod changed;
mod closed;
mod damage;
mod killed;
mod memory;
mod poison;
mod refused;
mod results;
mod rig;
mod rights;
mod sandbox;
mod stopped;
mod takedown;

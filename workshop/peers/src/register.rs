//! Keys by whether they are known: each is offered, and the answer is whether it is new.

use anyhow::{Result, ensure};
use serde_json::json;
use workload::Offers;

use crate::RegisterArgs;
use crate::confined::{self, Meter};
use crate::store::{Offer, Register};

/// Measures in a process of its own, prints the result and removes the register.
pub(crate) fn run(args: &RegisterArgs) -> Result<()> {
    let common = &args.common;
    confined::make_empty(&common.directory)?;
    let result = confined::measure("register-here", &common.limits(), &common.directory);
    confined::remove(&common.directory)?;
    println!("{}", result?);
    Ok(())
}

/// Measures in this process. Every answer is compared with what it must be.
pub(crate) fn run_here(args: &RegisterArgs) -> Result<()> {
    let common = &args.common;
    let offers = Offers::new(common.seed);
    let mut register = common.system.open_register(&common.directory, common.buffer_bytes, args.keys)?;
    let meter = Meter::begin()?;
    let (mut done, mut known) = (0, 0);
    while done < args.keys && meter.seconds() < f64::from(common.seconds) {
        let end = args.keys.min(done.saturating_add(u32::try_from(common.commit)?));
        known += batch(register.as_mut(), offers, done..end)?;
        if end / 1_000_000 > done / 1_000_000 {
            eprintln!("peers: {}: {end} keys, {:.0} s", common.system.name(), meter.seconds());
        }
        done = end;
    }
    register.finish()?;

    let mut result = json!({
        "system": common.system.name(),
        "buffer_bytes": common.buffer_bytes,
        "keys": args.keys,
        "new": done - known,
        "known": known,
        "complete": done == args.keys,
        "commit_records": common.commit,
        "durable": true,
        "verified": true,
    });
    meter.end(done, &mut result)?;
    println!("{result}");
    Ok(())
}

/// Offers one batch; how many of it were known.
fn batch(register: &mut dyn Register, offers: Offers, range: std::ops::Range<u32>) -> Result<u32> {
    let mut batch: Vec<Offer> = range.clone().map(|offer| (offers.key(offer), offer)).collect();
    batch.sort_unstable();
    // The first of equal keys is the one that was offered first; the others are known whatever the register says.
    batch.dedup_by_key(|(key, _)| *key);
    let mut new = Vec::with_capacity(batch.len());
    register.offer(&batch, &mut new)?;
    ensure!(new.len() == batch.len(), "not every key was answered");
    let wrong = batch.iter().zip(&new).find(|((_, offer), new)| offers.known(*offer) == **new);
    ensure!(wrong.is_none(), "a wrong answer for offer {:?}", wrong.map(|((_, offer), _)| offer));
    let added = u32::try_from(new.iter().filter(|new| **new).count())?;
    Ok(u32::try_from(range.len())? - added)
}

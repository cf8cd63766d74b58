//! From a name to its addresses: both kinds at once, along its aliases.

use super::message::{ALIASES_MAX, Kind, Reply};
use super::name::Name;
use super::servers::Servers;
use super::settings::Families;
use std::net::IpAddr;
use std::pin::pin;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// An answer is used this long at least, whatever it says: who flips faster is not followed (H3, D6).
const LIFETIME_MIN: Duration = Duration::from_secs(60);
/// An answer is used this long at most.
const LIFETIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// That there is no such name is believed this long at most: new servers are to be found the same day.
const NOTHING_LIFETIME_MAX: Duration = Duration::from_secs(60 * 60);
/// How long a failure of the name servers is remembered: it may be over soon, and must not be asked about ever again
/// until then.
const FAILURE_LIFETIME: Duration = Duration::from_secs(30);
/// How long the other kind of address is waited for once one kind settled the matter: some servers never answer when
/// asked for IPv6.
const OTHER_KIND_WAIT: Duration = Duration::from_secs(2);
const _: () = assert!(LIFETIME_MIN.as_secs() < NOTHING_LIFETIME_MAX.as_secs());
const _: () = assert!(NOTHING_LIFETIME_MAX.as_secs() < LIFETIME_MAX.as_secs());

/// What the name servers know of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// Addresses, never none, best first.
    Addresses(Vec<IpAddr>),
    NoSuchName,
    /// They did not say; what they did instead.
    Failure(String),
}

/// Looks a name up. The duration is how long the finding holds.
pub(super) async fn find(
    servers: &Servers,
    name: &Name,
    families: Families,
    ends: Instant,
) -> (Finding, Duration) {
    let (first, second) = families.kinds();
    let Some(second) = second else {
        return combine([follow(servers, name, first, ends).await]);
    };
    let mut one = pin!(follow(servers, name, first, ends));
    let mut two = pin!(follow(servers, name, second, ends));
    let both = tokio::select! {
        reply = &mut one => { let other = other_kind(&reply, two).await; [reply, other] }
        reply = &mut two => { let other = other_kind(&reply, one).await; [other, reply] }
    };
    combine(both)
}

type Followed = Result<Reply, String>;

async fn other_kind(reply: &Followed, other: impl Future<Output = Followed>) -> Followed {
    match reply {
        Ok(Reply::Addresses { .. } | Reply::Nothing { exists: false, .. }) => {
            let late = || Err("the other kind of address came too late".to_owned());
            timeout(OTHER_KIND_WAIT, other).await.unwrap_or_else(|_| late())
        }
        _ => other.await,
    }
}

/// Asks for a name, and again for what it is an alias of until that is no alias.
async fn follow(servers: &Servers, name: &Name, kind: Kind, ends: Instant) -> Followed {
    let mut name = name.clone();
    let mut links_before = 0;
    let mut seconds_before = u32::MAX;
    while links_before <= ALIASES_MAX {
        match servers.ask(&name, kind, ends).await? {
            Reply::Addresses { addresses, seconds } => {
                return Ok(Reply::Addresses { addresses, seconds: seconds.min(seconds_before) });
            }
            nothing @ Reply::Nothing { .. } => return Ok(nothing),
            Reply::Alias { to, links, seconds } => {
                links_before += links;
                seconds_before = seconds_before.min(seconds);
                let target = Name::from_wire(&to).filter(|target| !target.is_never_asked());
                let Some(target) = target else { return Ok(Reply::Nothing { exists: true, seconds }) };
                name = target;
            }
        }
    }
    Err("the aliases of the name lead too far or in circles".to_owned())
}

/// Makes one finding of the answers, in their order. Addresses win over their absence, absence over failure if the
/// name itself is said to be absent.
fn combine(answers: impl IntoIterator<Item = Followed>) -> (Finding, Duration) {
    let mut found = Vec::new();
    let (mut seconds_min, mut nothing_seconds) = (u32::MAX, u32::MAX);
    let (mut is_absent, mut failures) = (false, Vec::new());
    for answer in answers {
        match answer {
            Ok(Reply::Addresses { addresses, seconds }) => {
                found.extend(addresses);
                seconds_min = seconds_min.min(seconds);
            }
            Ok(Reply::Nothing { exists, seconds }) => {
                is_absent |= !exists;
                nothing_seconds = nothing_seconds.min(seconds);
            }
            Ok(Reply::Alias { .. }) => {}
            Err(failure) => failures.push(failure),
        }
    }
    if !found.is_empty() {
        // What failed is asked for again soon.
        let longest = if failures.is_empty() { LIFETIME_MAX } else { LIFETIME_MIN };
        return (Finding::Addresses(found), lifetime(seconds_min, longest));
    }
    if failures.is_empty() || is_absent {
        return (Finding::NoSuchName, lifetime(nothing_seconds, NOTHING_LIFETIME_MAX));
    }
    failures.dedup();
    (Finding::Failure(failures.join("; ")), FAILURE_LIFETIME)
}

fn lifetime(seconds: u32, longest: Duration) -> Duration {
    Duration::from_secs(seconds.into()).clamp(LIFETIME_MIN, longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(address: &str, seconds: u32) -> Followed {
        Ok(Reply::Addresses { addresses: vec![address.parse().unwrap()], seconds })
    }
    fn nothing(exists: bool, seconds: u32) -> Followed {
        Ok(Reply::Nothing { exists, seconds })
    }
    fn failed(what: &str) -> Followed {
        Err(what.to_owned())
    }

    #[track_caller]
    fn check(answers: [Followed; 2], expected: &str, seconds: u64) {
        let (finding, lifetime) = combine(answers);
        let text = match finding {
            Finding::Addresses(addresses) => format!("{addresses:?}"),
            Finding::NoSuchName => "none".to_owned(),
            Finding::Failure(what) => what,
        };
        assert_eq!((text.as_str(), lifetime.as_secs()), (expected, seconds));
    }

    #[test]
    fn two_answers_make_one_finding() {
        check([found("192.0.2.1", 300), found("::1", 200)], "[192.0.2.1, ::1]", 200);
        check([found("192.0.2.1", 300), nothing(true, 9)], "[192.0.2.1]", 300);
        check([found("192.0.2.1", 300), nothing(false, 9)], "[192.0.2.1]", 300);
        check([found("192.0.2.1", 300), failed("x")], "[192.0.2.1]", 60);
        check([nothing(true, 100), found("::1", 300)], "[::1]", 300);
        check([nothing(true, 100), nothing(true, 200)], "none", 100);
        check([nothing(false, 100), failed("x")], "none", 100);
        check([nothing(true, 100), failed("x")], "x", 30);
        check([failed("x"), failed("x")], "x", 30);
        check([failed("x"), failed("y")], "x; y", 30);
    }

    #[test]
    fn lifetimes_have_bounds() {
        check([found("192.0.2.1", 0), nothing(true, 0)], "[192.0.2.1]", 60);
        check([found("192.0.2.1", u32::MAX), nothing(true, 0)], "[192.0.2.1]", 86_400);
        check([nothing(true, 0), nothing(true, 0)], "none", 60);
        check([nothing(true, u32::MAX), nothing(true, u32::MAX)], "none", 3_600);
    }
}

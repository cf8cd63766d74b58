//! From a name to its addresses: both families at once, following aliases.

use super::message::{ALIASES_MAX, Kind, Reply};
use super::name::Name;
use super::servers::Servers;
use super::settings::Families;
use std::net::IpAddr;
use std::pin::pin;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// The minimum lifetime of an answer, whatever it says: faster changes are not followed (H3, D6).
const LIFETIME_MIN: Duration = Duration::from_secs(60);
/// The maximum lifetime of an answer.
const LIFETIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// The maximum lifetime of the absence of a name: new servers should be found the same day.
const NOTHING_LIFETIME_MAX: Duration = Duration::from_secs(60 * 60);
/// How long a failure of the name servers is cached: it may be over soon, but must not be retried on every
/// visit.
const FAILURE_LIFETIME: Duration = Duration::from_secs(30);
/// How long to wait for the other family once one has a result: some servers never answer queries for
/// IPv6.
const OTHER_KIND_WAIT: Duration = Duration::from_secs(2);
const _: () = assert!(LIFETIME_MIN.as_secs() < NOTHING_LIFETIME_MAX.as_secs());
const _: () = assert!(NOTHING_LIFETIME_MAX.as_secs() < LIFETIME_MAX.as_secs());

/// What the name servers say about a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// Addresses, at least one, best first.
    Addresses(Vec<IpAddr>),
    NoSuchName,
    /// They did not answer; what happened instead.
    Failure(String),
}

/// Resolves a name. The duration is the lifetime of the result.
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

/// Resolves a name, following aliases.
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

/// Combines the answers, in their order. Addresses win over absence, and absence over failure if the
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
        // Failures are retried soon.
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

//! Who may send a request, and when: the thinking part, without I/O and without a clock.
//!
//! A *party* is an address or a server. A request concerns two of them, and both must be free: no request to
//! them is unanswered, and the delay has passed since the last byte from them. Waiting requests are served in
//! the order in which they came.
//!
//! This is a rule, not a measurement: the delay is counted from what the guard itself saw, on the
//! monotonic clock (M6). A party that was never heard of counts as heard of when the guard was started, so that after
//! a restart everyone waits one full pause (H13).
//!
//! **Invariant:** between two requests to one party lies an answer, or the end of the tunnel of the first, and then
//! at least the pause. No party gets more requests a day than its cap, whatever the wall clock does: days only go forward.
//!
//! **Invariant:** what is kept is bounded: when there is no room for another party, the request is refused.

mod party;

pub(crate) use party::{Answer, Party, Target};

use crate::day::Day;
use crate::settings::TrafficLimits;
use party::State;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// A moment on the monotonic clock: the time since the guard was started.
pub(crate) type Moment = Duration;

/// The number of a tunnel, from 1.
pub(crate) type TunnelNumber = u64;

/// The present, as it is handed in.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Now {
    /// On the monotonic clock.
    pub(crate) moment: Moment,
    /// By the calendar.
    pub(crate) day: Day,
    /// Until the day is over.
    pub(crate) day_left: Duration,
}

/// Who may send when.
#[derive(Debug)]
pub(crate) struct Gate {
    limits: TrafficLimits,
    day: Day,
    bytes_today: u64,
    parties: HashMap<Party, State>,
    wishes: BTreeMap<WishNumber, Wish>,
    last_wish: u64,
}

/// A request that waits for its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WishNumber(u64);

#[derive(Debug)]
struct Wish {
    tunnel: TunnelNumber,
    target: Target,
    entered: Moment,
    deadline: Moment,
}

/// The decision on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The request may leave, after it was held up for so long.
    Go { waited: Duration },
    /// Not yet; to be asked again at this moment, or when something has changed.
    Wait { until: Moment },
}

/// Why a request may not leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// It would have to wait longer than anyone is made to.
    #[error("too soon after the last request")]
    TooSoon { retry_after: Duration },
    /// A daily cap is reached.
    #[error("the cap of {what} a day is reached")]
    Cap { what: &'static str, retry_after: Duration },
    /// There is no room to remember another party.
    #[error("there is no room to remember another server or address")]
    Full,
}

/// Why a tunnel must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Overrun {
    /// A daily cap on bytes is reached.
    #[error("the cap of {0} a day is reached")]
    Cap(&'static str),
    /// The server spoke after the turn had gone to another tunnel.
    #[error("the server was still sending when another request had its turn")]
    OutOfTurn,
}

const SERVER_REQUESTS: &str = "requests to one server";
const ADDRESS_REQUESTS: &str = "requests to one address";
const ADDRESS_BYTES: &str = "bytes of one address";
const ALL_BYTES: &str = "bytes in all";

impl Gate {
    /// A gate through which nothing has gone, at the beginning of `day`.
    pub(crate) fn new(limits: TrafficLimits, day: Day) -> Self {
        let (parties, wishes) = (HashMap::new(), BTreeMap::new());
        Self { limits, day, bytes_today: 0, parties, wishes, last_wish: 0 }
    }

    /// The day that is counted; it only goes forward.
    pub(crate) fn day(&self) -> Day {
        self.day
    }

    /// Counts what went through earlier on this day.
    pub(crate) fn restore(&mut self, target: &Target, requests: u64, bytes: u64) {
        self.bytes_today = self.bytes_today.saturating_add(bytes);
        for party in target.parties() {
            self.parties.entry(party).or_default().today.add(requests, bytes);
        }
    }

    /// Notes that a request waits for its turn, unless it would wait too long or may not leave today.
    pub(crate) fn enter(
        &mut self,
        tunnel: TunnelNumber,
        target: &Target,
        now: Now,
    ) -> Result<WishNumber, Refusal> {
        self.turn_to(now);
        self.check_caps(target, now)?;
        self.check_room(target)?;
        let wait = self.estimate(tunnel, target, now.moment);
        if wait > self.limits.wait_max {
            return Err(Refusal::TooSoon { retry_after: wait });
        }
        self.last_wish += 1;
        let number = WishNumber(self.last_wish);
        for party in target.parties() {
            self.parties.entry(party).or_default().enter(number, tunnel);
        }
        let (entered, deadline) = (now.moment, now.moment + self.limits.wait_max);
        self.wishes.insert(number, Wish { tunnel, target: target.clone(), entered, deadline });
        Ok(number)
    }

    /// Whether a request may go now. Once passed or refused, it no longer waits.
    pub(crate) fn try_pass(&mut self, number: WishNumber, now: Now) -> Result<Turn, Refusal> {
        self.turn_to(now);
        let wish = self.wishes.get(&number).expect("a wish is asked about until it is answered");
        let (tunnel, target, deadline) = (wish.tunnel, wish.target.clone(), wish.deadline);
        if let Err(refusal) = self.check_caps(&target, now) {
            self.leave(number);
            return Err(refusal);
        }
        match self.ready_at(number, tunnel, &target) {
            Some(ready) if ready <= now.moment => Ok(self.pass(number, now)),
            _ if deadline <= now.moment => {
                self.leave(number);
                Err(Refusal::TooSoon { retry_after: self.estimate(tunnel, &target, now.moment) })
            }
            ready => Ok(Turn::Wait { until: ready.unwrap_or(deadline).min(deadline) }),
        }
    }

    /// A wish is given up.
    pub(crate) fn leave(&mut self, number: WishNumber) {
        let Some(wish) = self.wishes.remove(&number) else { return };
        for party in wish.target.parties() {
            let Some(state) = self.parties.get_mut(&party) else { continue };
            state.waiting.remove(&number);
            if state.is_blank() && state.quiet_since.is_zero() {
                self.parties.remove(&party);
            }
        }
    }

    /// This many bytes came from the server through a tunnel; they may be part of an answer.
    pub(crate) fn heard(
        &mut self,
        tunnel: TunnelNumber,
        target: &Target,
        bytes: u64,
        answer: Answer,
        now: Now,
    ) -> Result<(), Overrun> {
        let mut in_turn = true;
        for party in target.parties() {
            in_turn &= self.parties.entry(party).or_default().heard(tunnel, answer, now.moment);
        }
        self.carried(target, bytes, now)?;
        if in_turn { Ok(()) } else { Err(Overrun::OutOfTurn) }
    }

    /// This many bytes went through a tunnel.
    pub(crate) fn carried(&mut self, target: &Target, bytes: u64, now: Now) -> Result<(), Overrun> {
        self.turn_to(now);
        self.bytes_today = self.bytes_today.saturating_add(bytes);
        for party in target.parties() {
            self.parties.entry(party).or_default().today.add(0, bytes);
        }
        self.check_bytes(target).map_err(Overrun::Cap)
    }

    /// A tunnel is closed: whatever it asked is over.
    pub(crate) fn ended(&mut self, tunnel: TunnelNumber, target: &Target, now: Now) {
        for party in target.parties() {
            if let Some(state) = self.parties.get_mut(&party) {
                state.ended(tunnel, now.moment);
            }
        }
    }

    /// How many bytes went through today.
    pub(crate) fn bytes_today(&self) -> u64 {
        self.bytes_today
    }
    /// How many servers and addresses are remembered.
    pub(crate) fn parties(&self) -> usize {
        self.parties.len()
    }
    /// How many requests wait.
    pub(crate) fn waiting(&self) -> usize {
        self.wishes.len()
    }
    /// Servers and addresses that reached their daily cap, at most `count` of them.
    pub(crate) fn blocked(&self, most: usize) -> Vec<String> {
        let blocked = self.parties.iter().filter(|(party, state)| self.cap_of(party, state).is_some());
        let mut names: Vec<String> = blocked.map(|(party, _)| party.to_string()).take(most).collect();
        names.sort();
        names
    }

    fn pass(&mut self, number: WishNumber, now: Now) -> Turn {
        let wish = self.wishes.remove(&number).expect("it was just looked at");
        for party in wish.target.parties() {
            self.parties.entry(party).or_default().pass(number, wish.tunnel);
        }
        Turn::Go { waited: now.moment.saturating_sub(wish.entered) }
    }

    /// From when on a wish may pass; nothing while it is not the first, or an answer is awaited.
    fn ready_at(&self, number: WishNumber, tunnel: TunnelNumber, target: &Target) -> Option<Moment> {
        let mut ready = Moment::ZERO;
        for party in target.parties() {
            let state = self.parties.get(&party)?;
            if state.waiting.first() != Some(&number) {
                return None;
            }
            ready = ready.max(state.free_at(tunnel, &self.limits)?);
        }
        Some(ready)
    }

    /// How long another request would wait at least, if every one before it is answered at once.
    fn estimate(&self, tunnel: TunnelNumber, target: &Target, now: Moment) -> Duration {
        let pause = self.limits.pause;
        let of_party = |party: Party| {
            let state = self.parties.get(&party);
            let free_at = state.map_or(Some(pause), |state| state.free_at(tunnel, &self.limits));
            let free = free_at.map_or(pause, |free_at| free_at.saturating_sub(now));
            let before = state.map_or(0, |state| u32::try_from(state.waiting.len()).unwrap_or(u32::MAX));
            free.saturating_add(pause.saturating_mul(before))
        };
        target.parties().map(of_party).into_iter().max().unwrap_or_default()
    }

    fn check_caps(&self, target: &Target, now: Now) -> Result<(), Refusal> {
        let of_party = |party: &Party| self.parties.get(party).and_then(|state| self.cap_of(party, state));
        let reached = target.parties().iter().find_map(of_party);
        let reached = reached.or_else(|| self.check_bytes(target).err());
        reached.map_or(Ok(()), |what| Err(Refusal::Cap { what, retry_after: now.day_left }))
    }

    /// The cap that a party has reached.
    fn cap_of(&self, party: &Party, state: &State) -> Option<&'static str> {
        let TrafficLimits {
            server_requests_per_day, address_requests_per_day, address_bytes_per_day, ..
        } = self.limits;
        match party {
            Party::Server(_) if state.today.requests >= server_requests_per_day => Some(SERVER_REQUESTS),
            Party::Address(_) if state.today.requests >= address_requests_per_day => Some(ADDRESS_REQUESTS),
            Party::Address(_) if state.today.bytes >= address_bytes_per_day => Some(ADDRESS_BYTES),
            _ => None,
        }
    }

    fn check_bytes(&self, target: &Target) -> Result<(), &'static str> {
        let [address, _] = target.parties();
        let bytes = self.parties.get(&address).map_or(0, |state| state.today.bytes);
        if bytes >= self.limits.address_bytes_per_day {
            return Err(ADDRESS_BYTES);
        }
        if self.bytes_today >= self.limits.bytes_per_day { Err(ALL_BYTES) } else { Ok(()) }
    }

    fn check_room(&self, target: &Target) -> Result<(), Refusal> {
        let new = target.parties().iter().filter(|party| !self.parties.contains_key(party)).count();
        if self.parties.len() + new > self.limits.parties_max { Err(Refusal::Full) } else { Ok(()) }
    }

    /// Begins a new day: the counts start at nothing, and parties of which nothing else is known are forgotten.
    fn turn_to(&mut self, now: Now) {
        if now.day <= self.day {
            return;
        }
        (self.day, self.bytes_today) = (now.day, 0);
        let pause = self.limits.pause;
        self.parties.retain(|_, state| {
            state.today = party::Today::default();
            !state.is_blank() || state.quiet_since + pause > now.moment
        });
    }
}

#[cfg(test)]
mod tests;

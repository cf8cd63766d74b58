use super::*;
use base::{Chance, ServerName};
use std::net::{IpAddr, Ipv4Addr};

const PAUSE: Duration = Duration::from_secs(10);
const WAIT_MAX: Duration = Duration::from_secs(30);

fn limits() -> TrafficLimits {
    TrafficLimits { pause: PAUSE, wait_max: WAIT_MAX, ..TrafficLimits::default() }
}

fn target(address: u8, server: &str) -> Target {
    Target::new(IpAddr::V4(Ipv4Addr::new(11, 0, 0, address)), ServerName::parse(server).unwrap())
}

fn at(seconds: u64) -> Now {
    Now { moment: Duration::from_secs(seconds), day: Day::default(), day_left: Duration::from_secs(3_600) }
}

fn gate(limits: TrafficLimits) -> Gate {
    Gate::new(limits, Day::default())
}

/// A request that goes at once.
#[track_caller]
fn go(gate: &mut Gate, tunnel: u64, target: &Target, now: Now) {
    let wish = gate.enter(tunnel, target, now).unwrap();
    assert!(matches!(gate.try_pass(wish, now), Ok(Turn::Go { .. })), "{now:?}");
}

/// A request that must wait until this second.
#[track_caller]
fn waits(gate: &mut Gate, tunnel: u64, target: &Target, now: Now, until: u64) -> WishNumber {
    let wish = gate.enter(tunnel, target, now).unwrap();
    assert_eq!(gate.try_pass(wish, now), Ok(Turn::Wait { until: Duration::from_secs(until) }));
    wish
}

fn answer(gate: &mut Gate, tunnel: u64, target: &Target, now: Now) {
    gate.heard(tunnel, target, 100, Answer::Yes, now).unwrap();
}

#[test]
fn survives_h13_after_a_start_everyone_waits_one_full_pause() {
    let mut gate = gate(limits());
    let wish = waits(&mut gate, 1, &target(1, "a"), at(3), 10);
    assert_eq!(gate.try_pass(wish, at(9)), Ok(Turn::Wait { until: PAUSE }));
    assert_eq!(gate.try_pass(wish, at(10)), Ok(Turn::Go { waited: Duration::from_secs(7) }));
}

#[test]
fn the_pause_counts_from_the_last_byte_of_the_server() {
    let (mut gate, a) = (gate(limits()), target(1, "a"));
    go(&mut gate, 1, &a, at(100));
    answer(&mut gate, 1, &a, at(103));
    gate.heard(1, &a, 100, Answer::No, at(105)).unwrap();
    let wish = waits(&mut gate, 1, &a, at(106), 115);
    gate.heard(1, &a, 100, Answer::No, at(112)).unwrap();
    assert_eq!(gate.try_pass(wish, at(115)), Ok(Turn::Wait { until: Duration::from_secs(122) }));
    assert!(matches!(gate.try_pass(wish, at(122)), Ok(Turn::Go { .. })));
}

#[test]
fn a_request_without_an_answer_holds_up_everyone_until_its_tunnel_ends() {
    let (mut gate, a) = (gate(limits()), target(1, "a"));
    go(&mut gate, 1, &a, at(100));
    // Bytes before the request, a handshake, are not an answer.
    gate.heard(1, &a, 100, Answer::No, at(101)).unwrap();
    for (tunnel, other) in [(2, target(1, "b")), (3, target(2, "a"))] {
        let wish = waits(&mut gate, tunnel, &other, at(120), 150);
        gate.leave(wish);
    }
    gate.ended(1, &a, at(130));
    waits(&mut gate, 2, &target(1, "b"), at(130), 140);
}

#[test]
fn a_doubtful_answer_is_given_time_until_its_own_tunnel_goes_on() {
    let (mut gate, a, b) = (gate(limits()), target(1, "a"), target(1, "b"));
    go(&mut gate, 1, &a, at(100));
    gate.heard(1, &a, 100, Answer::Doubtful, at(101)).unwrap();
    let other = waits(&mut gate, 2, &b, at(105), 131);
    let own = gate.enter(1, &a, at(107)).unwrap();
    assert_eq!(gate.try_pass(other, at(107)), Ok(Turn::Wait { until: Duration::from_secs(111) }));
    assert!(matches!(gate.try_pass(other, at(111)), Ok(Turn::Go { .. })), "first come, first served");
    answer(&mut gate, 2, &b, at(112));
    assert!(matches!(gate.try_pass(own, at(122)), Ok(Turn::Go { .. })));
    gate.heard(1, &a, 100, Answer::Doubtful, at(123)).unwrap();
    gate.heard(1, &a, 100, Answer::Yes, at(124)).unwrap();
    waits(&mut gate, 2, &b, at(124), 134);
}

#[test]
fn servers_at_one_address_and_addresses_of_one_server_share_a_pause() {
    let mut gate = gate(limits());
    go(&mut gate, 1, &target(1, "a"), at(100));
    answer(&mut gate, 1, &target(1, "a"), at(100));
    waits(&mut gate, 2, &target(1, "b"), at(100), 110);
    waits(&mut gate, 3, &target(2, "a"), at(100), 110);
    go(&mut gate, 4, &target(3, "c"), at(100));
}

#[test]
fn an_address_is_one_whatever_its_clothes() {
    let mut gate = gate(limits());
    let mapped = Target::new("::ffff:11.0.0.1".parse().unwrap(), ServerName::parse("b").unwrap());
    go(&mut gate, 1, &target(1, "a"), at(100));
    answer(&mut gate, 1, &target(1, "a"), at(100));
    waits(&mut gate, 2, &mapped, at(100), 110);
}

#[test]
fn those_who_wait_are_served_in_the_order_they_came() {
    let (mut gate, a) = (gate(limits()), target(1, "a"));
    go(&mut gate, 1, &a, at(100));
    answer(&mut gate, 1, &a, at(100));
    let first = waits(&mut gate, 2, &a, at(101), 110);
    let second = gate.enter(3, &a, at(102)).unwrap();
    assert_eq!(gate.try_pass(second, at(110)), Ok(Turn::Wait { until: Duration::from_secs(132) }));
    assert!(matches!(gate.try_pass(first, at(110)), Ok(Turn::Go { .. })));
    answer(&mut gate, 2, &a, at(111));
    assert!(matches!(gate.try_pass(second, at(121)), Ok(Turn::Go { .. })));
}

#[test]
fn who_would_wait_too_long_is_refused_at_once_and_told_when_to_come() {
    let (mut gate, a) = (gate(limits()), target(1, "a"));
    go(&mut gate, 1, &a, at(100));
    answer(&mut gate, 1, &a, at(100));
    for tunnel in 2..5 {
        gate.enter(tunnel, &a, at(100)).unwrap();
    }
    let retry_after = Duration::from_secs(40);
    assert_eq!(gate.enter(5, &a, at(100)), Err(Refusal::TooSoon { retry_after }));
    go(&mut gate, 6, &target(2, "b"), at(100));
}

#[test]
fn who_has_waited_the_longest_time_there_is_is_refused() {
    let (mut gate, a) = (gate(limits()), target(1, "a"));
    go(&mut gate, 1, &a, at(100));
    let wish = waits(&mut gate, 2, &a, at(100), 130);
    assert_eq!(gate.try_pass(wish, at(130)), Err(Refusal::TooSoon { retry_after: PAUSE }));
    assert_eq!(gate.waiting(), 0);
}

#[test]
fn a_server_that_speaks_when_another_has_its_turn_is_cut() {
    let (mut gate, a, b) = (gate(limits()), target(1, "a"), target(1, "b"));
    go(&mut gate, 1, &a, at(100));
    answer(&mut gate, 1, &a, at(100));
    go(&mut gate, 2, &b, at(110));
    assert_eq!(gate.heard(1, &a, 1, Answer::No, at(115)), Err(Overrun::OutOfTurn));
    answer(&mut gate, 2, &b, at(116));
    waits(&mut gate, 3, &a, at(116), 126);
}

#[test]
fn caps_hold_for_the_day_and_a_new_day_begins_at_nothing() {
    let few = TrafficLimits { server_requests_per_day: 2, address_requests_per_day: 3, ..limits() };
    let (mut gate, mut second) = (gate(few), 100);
    let mut ask = |gate: &mut Gate, target: &Target, day: Day| {
        second += 10;
        let now = Now { day, ..at(second) };
        gate.enter(second, target, now).map(|wish| {
            assert!(matches!(gate.try_pass(wish, now), Ok(Turn::Go { .. })));
            gate.ended(second, target, now);
        })
    };
    let cap = |what| Err(Refusal::Cap { what, retry_after: Duration::from_secs(3_600) });
    let today = Day::default();
    for expected in [Ok(()), Ok(()), cap(SERVER_REQUESTS)] {
        assert_eq!(ask(&mut gate, &target(1, "a"), today), expected);
    }
    for expected in [Ok(()), cap(ADDRESS_REQUESTS)] {
        assert_eq!(ask(&mut gate, &target(1, "b"), today), expected);
    }
    assert_eq!(gate.blocked(9), ["11.0.0.1", "a"]);
    let tomorrow = Day::parse("1970-01-02").unwrap();
    assert_eq!(ask(&mut gate, &target(1, "a"), tomorrow), Ok(()));
    // A wall clock that jumps back does not start the next day twice (M6).
    assert_eq!(ask(&mut gate, &target(1, "a"), today), Ok(()));
    assert_eq!(ask(&mut gate, &target(1, "a"), tomorrow), cap(SERVER_REQUESTS));
    assert_eq!(gate.day(), tomorrow);
}

#[test]
fn a_new_day_keeps_the_pause() {
    let (mut gate, a) = (gate(limits()), target(1, "a"));
    go(&mut gate, 1, &a, at(100));
    answer(&mut gate, 1, &a, at(100));
    let tomorrow = Now { day: Day::parse("1970-01-02").unwrap(), ..at(101) };
    let wish = waits(&mut gate, 2, &a, tomorrow, 110);
    gate.leave(wish);
    waits(&mut gate, 3, &a, tomorrow, 110);
}

#[test]
fn bytes_have_caps_too() {
    let few = TrafficLimits { address_bytes_per_day: 150, bytes_per_day: 220, ..limits() };
    let mut gate = gate(few);
    go(&mut gate, 1, &target(1, "a"), at(100));
    answer(&mut gate, 1, &target(1, "a"), at(101));
    assert_eq!(gate.heard(1, &target(1, "a"), 100, Answer::No, at(102)), Err(Overrun::Cap(ADDRESS_BYTES)));
    assert!(matches!(gate.enter(2, &target(1, "b"), at(200)), Err(Refusal::Cap { what: ADDRESS_BYTES, .. })));
    go(&mut gate, 3, &target(2, "c"), at(200));
    assert_eq!(gate.carried(&target(2, "c"), 20, at(200)), Err(Overrun::Cap(ALL_BYTES)));
    assert!(matches!(gate.enter(4, &target(3, "d"), at(300)), Err(Refusal::Cap { what: ALL_BYTES, .. })));
}

#[test]
fn what_went_before_a_restart_counts() {
    let mut gate = gate(TrafficLimits { server_requests_per_day: 5, ..limits() });
    gate.restore(&target(1, "a"), 4, 1_000);
    assert_eq!(gate.bytes_today(), 1_000);
    let wish = waits(&mut gate, 1, &target(1, "a"), at(0), 10);
    assert!(matches!(gate.try_pass(wish, at(10)), Ok(Turn::Go { .. })));
    gate.ended(1, &target(1, "a"), at(10));
    assert!(matches!(gate.enter(2, &target(1, "a"), at(20)), Err(Refusal::Cap { .. })));
}

#[test]
fn a_full_table_refuses_whom_it_does_not_know() {
    let mut gate = gate(TrafficLimits { parties_max: 3, ..limits() });
    go(&mut gate, 1, &target(1, "a"), at(100));
    for unknown in [target(2, "b"), target(3, "c")] {
        assert_eq!(gate.enter(2, &unknown, at(100)), Err(Refusal::Full));
    }
    let wish = gate.enter(2, &target(1, "b"), at(100)).unwrap();
    assert_eq!(gate.parties(), 3);
    gate.leave(wish);
    assert_eq!(gate.parties(), 2, "who was not asked is not remembered");
}

/// What the servers would have noted, by party: the last request, whether it was answered, and when it was quiet.
#[derive(Default)]
struct Seen {
    passed: BTreeMap<String, (u64, bool, Moment)>,
    counts: BTreeMap<(String, Day), u64>,
}

impl Seen {
    /// A request reaches a party: was it polite?
    fn request(&mut self, party: &str, tunnel: u64, now: Now, cap: u64) {
        let quiet = match self.passed.get(party) {
            None => Moment::ZERO,
            Some((_, over, quiet)) => {
                assert!(over, "{party} was asked while it was still being asked");
                *quiet
            }
        };
        assert!(now.moment >= quiet + PAUSE, "{party} was asked {:?} after it was quiet", now.moment - quiet);
        self.passed.insert(party.to_owned(), (tunnel, false, now.moment));
        let count = self.counts.entry((party.to_owned(), now.day)).or_default();
        *count += 1;
        assert!(*count <= cap, "{party} was asked {count} times on {}", now.day);
    }
    /// A party was heard of through a tunnel, or the tunnel of its last request has ended.
    fn quiet(&mut self, party: &str, tunnel: u64, heard: bool, now: Moment) {
        if let Some(last) = self.passed.get_mut(party).filter(|last| heard || last.0 == tunnel) {
            last.1 |= last.0 == tunnel;
            last.2 = last.2.max(now);
        }
    }
}

/// A tunnel of the play.
struct Player {
    target: Target,
    wish: Option<WishNumber>,
    asked: bool,
}

/// Many impolite clients, compared with a plain record of what each server and address would have seen.
#[test]
fn model_nobody_is_ever_asked_too_soon() {
    let number =
        |name: &str, otherwise: u64| std::env::var(name).map_or(otherwise, |value| value.parse().unwrap());
    let (rounds, seed) = (number("UTSUSHI_TORTURE_COUNT", 30_000), number("UTSUSHI_TORTURE_SEED", 1));
    let mut chance = Chance::new(seed);
    let few = TrafficLimits {
        server_requests_per_day: 40,
        address_requests_per_day: 60,
        parties_max: 8,
        ..limits()
    };
    let (mut gate, mut seen, mut now) = (gate(few), Seen::default(), at(0));
    let mut tunnels: BTreeMap<u64, Player> = BTreeMap::new();
    let (mut passed, mut refused, mut last, mut days) = (0, 0, 0, 0_i64);
    for _ in 0..rounds {
        now.moment += Duration::from_millis(chance.index(900) as u64);
        if chance.index(1_000) == 0 {
            // The wall clock advances by a day, or jumps back by some.
            days = if chance.index(10) == 0 { (days - 3).max(0) } else { days + 1 };
            now.day = Day::of(base::Timestamp::from_seconds(days * 86_400).unwrap());
        }
        if tunnels.len() < 12 {
            last += 1;
            let target =
                target(u8::try_from(chance.index(3)).unwrap(), ["a", "b", "c", "d", "e"][chance.index(5)]);
            tunnels.insert(last, Player { target, wish: None, asked: false });
        }
        let number = *tunnels.keys().nth(chance.index(tunnels.len())).unwrap();
        let player = tunnels.get_mut(&number).unwrap();
        let names = player.target.parties().map(|party| party.to_string());
        match (chance.index(10), player.wish) {
            (0, wish) => {
                if let Some(wish) = wish {
                    gate.leave(wish);
                }
                gate.ended(number, &player.target, now);
                names.iter().for_each(|party| seen.quiet(party, number, false, now.moment));
                tunnels.remove(&number);
            }
            (1..=4, None) if player.asked => {
                // Late words of a server end its tunnel.
                if gate.heard(number, &player.target, 10, Answer::Yes, now).is_err() {
                    tunnels.remove(&number);
                    gate.ended(number, &target_of(&names), now);
                }
                names.iter().for_each(|party| seen.quiet(party, number, true, now.moment));
            }
            (_, None) => match gate.enter(number, &player.target, now) {
                Ok(wish) => player.wish = Some(wish),
                Err(_) => refused += 1,
            },
            (_, Some(wish)) => match gate.try_pass(wish, now) {
                Ok(Turn::Wait { until }) => assert!(until > now.moment),
                Ok(Turn::Go { .. }) => {
                    (player.wish, player.asked) = (None, true);
                    passed += 1;
                    let counted = Now { day: gate.day(), ..now };
                    seen.request(&names[0], number, counted, 60);
                    seen.request(&names[1], number, counted, 40);
                }
                Err(_) => {
                    player.wish = None;
                    refused += 1;
                }
            },
        }
        assert!(gate.parties() <= 8 && gate.waiting() <= tunnels.len());
    }
    assert!(passed > rounds / 150 && refused > 0, "{passed} passed, {refused} refused");
    println!("model: {passed} passed, {refused} refused");
}

fn target_of([address, server]: &[String; 2]) -> Target {
    Target::new(address.parse().unwrap(), ServerName::parse(server).unwrap())
}

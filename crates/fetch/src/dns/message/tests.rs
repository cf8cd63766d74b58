use super::*;
use base::Chance;

const WWW: &[u8] = b"\x03www\x07example\x02jp\0";

fn query(kind: Kind) -> Query {
    Query { id: 0x1234, name: WWW.to_vec(), kind, extended: true }
}

/// A message in parts: a head with these flags and counts, the question, and what follows.
fn message(flags: u16, counts: [u16; 3], rest: &[&[u8]]) -> Vec<u8> {
    let head = [0x1234, flags, 1, counts[0], counts[1], counts[2]];
    let mut bytes: Vec<u8> = head.into_iter().flat_map(u16::to_be_bytes).collect();
    bytes.extend(WWW);
    bytes.extend([0, 1, 0, 1]);
    rest.iter().for_each(|part| bytes.extend_from_slice(part));
    bytes
}

/// A record of the asked name, by a pointer.
fn record(kind: u8, seconds: u32, data: &[u8]) -> Vec<u8> {
    record_of(&[0xc0, 12], kind, seconds, data)
}

fn record_of(owner: &[u8], kind: u8, seconds: u32, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap().to_be_bytes();
    [owner, &[0, kind, 0, 1], &seconds.to_be_bytes(), &length, data].concat()
}

fn start(seconds: u32, minimum: u32) -> Vec<u8> {
    let data = [&b"\x02ns\xc0\x10\x01h\xc0\x10"[..], &[0; 16], &minimum.to_be_bytes()].concat();
    record_of(&[0xc0, 16], 6, seconds, &data)
}

fn found(addresses: &[&str], seconds: u32) -> Message {
    let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
    Message::Reply(Reply::Addresses { addresses, seconds })
}

const ANSWER: u16 = 0x8180;
const IS_BROKEN: Message = Message::Broken("it ends in the middle of a record");

#[track_caller]
fn check(counts: [u16; 3], rest: &[&[u8]], expected: &Message) {
    assert_eq!(read(&message(ANSWER, counts, rest), &query(Kind::A)), *expected);
}

#[test]
fn a_question_has_these_bytes() {
    let bytes = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\x01\x03www\x07example\x02jp\0\0\x1c\0\x01\0\0\x29\x04\xd0\0\0\0\0\0\0";
    assert_eq!(query(Kind::Aaaa).encode(), bytes);
    let plain = Query { extended: false, ..query(Kind::A) }.encode();
    assert_eq!(plain, b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x03www\x07example\x02jp\0\0\x01\0\x01");
}

#[test]
fn addresses_are_read_each_once_with_the_shortest_lifetime() {
    let (one, two) = (record(1, 300, &[192, 0, 2, 1]), record(1, 60, &[192, 0, 2, 2]));
    check([1, 0, 0], &[&one], &found(&["192.0.2.1"], 300));
    check([3, 0, 0], &[&one, &two, &one], &found(&["192.0.2.1", "192.0.2.2"], 60));
    // A lifetime with its first bit set is none.
    check([1, 0, 0], &[&record(1, u32::MAX, &[192, 0, 2, 1])], &found(&["192.0.2.1"], 0));
    // Unknown records and those of the other kind are passed over.
    let (text, aaaa) = (record(16, 1, b"\x03abc"), record(28, 1, &[1; 16]));
    check([3, 0, 0], &[&text, &aaaa, &one], &found(&["192.0.2.1"], 300));
}

#[test]
fn aliases_are_followed_in_any_order() {
    let alias = record(5, 100, b"\x01a\xc0\x10");
    let address = record_of(b"\x01A\x07EXAMPLE\x02jp\0", 1, 200, &[192, 0, 2, 1]);
    check([2, 0, 0], &[&alias, &address], &found(&["192.0.2.1"], 100));
    check([2, 0, 0], &[&address, &alias], &found(&["192.0.2.1"], 100));
    // Where the alias leads is not said: it has to be asked for.
    let to = b"\x01a\x07example\x02jp\0".to_vec();
    check([1, 0, 0], &[&alias], &Message::Reply(Reply::Alias { to, links: 1, seconds: 100 }));
    // Someone vouches for it having none.
    let none = Message::Reply(Reply::Nothing { exists: true, seconds: 90 });
    check([1, 1, 0], &[&alias, &start(90, 3_600)], &none);
    let circle = record(5, 100, b"\xc0\x0c");
    check([1, 0, 0], &[&circle], &Message::Broken("its aliases lead too far or in circles"));
}

#[test]
fn a_chain_of_eight_aliases_is_followed_and_one_of_nine_is_not() {
    let chain = |links: u8| -> Vec<Vec<u8>> {
        let name =
            |place: u8| if place == 0 { WWW.to_vec() } else { vec![1, b'a' + place, 2, b'j', b'p', 0] };
        let mut records: Vec<_> = (0..links).map(|at| record_of(&name(at), 5, 9, &name(at + 1))).collect();
        records.push(record_of(&name(links), 1, 9, &[192, 0, 2, 1]));
        records
    };
    let check = |links: u8, expected: &Message| {
        let records = chain(links);
        let parts: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
        check([u16::from(links) + 1, 0, 0], &parts, expected);
    };
    check(8, &found(&["192.0.2.1"], 9));
    check(9, &Message::Broken("its aliases lead too far or in circles"));
}

#[test]
fn only_the_name_that_was_asked_for_is_believed() {
    let other = record_of(b"\x04bank\x02jp\0", 1, 300, &[203, 0, 113, 9]);
    check([1, 0, 0], &[&other], &Message::Reply(Reply::Nothing { exists: true, seconds: 0 }));
    let mine = record(1, 300, &[192, 0, 2, 1]);
    check([2, 0, 0], &[&other, &mine], &found(&["192.0.2.1"], 300));
    // Nor records in another section, or of another class.
    check([0, 0, 1], &[&mine], &Message::Reply(Reply::Nothing { exists: true, seconds: 0 }));
    let mut chaos = mine.clone();
    chaos[5] = 3;
    check([1, 0, 0], &[&chaos], &Message::Reply(Reply::Nothing { exists: true, seconds: 0 }));
}

#[test]
fn nothing_is_told_from_a_refusal() {
    check([0, 1, 0], &[&start(900, 300)], &Message::Reply(Reply::Nothing { exists: true, seconds: 300 }));
    let no_name = message(0x8183, [0, 1, 0], &[&start(100, 300)]);
    let expected = Message::Reply(Reply::Nothing { exists: false, seconds: 100 });
    assert_eq!(read(&no_name, &query(Kind::A)), expected);
    for code in [1, 2, 4, 5, 15] {
        let refusal = message(0x8180 | u16::from(code), [0, 0, 0], &[]);
        assert_eq!(read(&refusal, &query(Kind::A)), Message::Refusal(code));
    }
    assert_eq!(read(&message(0x8380, [0, 0, 0], &[]), &query(Kind::A)), Message::Truncated);
    let referral = record_of(b"\x02jp\0", 2, 60, b"\x01a\x02jp\0");
    let expected = Message::Broken("it only names other servers: it looks nothing up for others");
    check([0, 1, 0], &[&referral], &expected);
}

/// Each of these differs in one thing from an answer that is accepted.
#[test]
fn survives_h27_answers_to_questions_that_nobody_asked() {
    let good = message(ANSWER, [1, 0, 0], &[&record(1, 300, &[192, 0, 2, 1])]);
    assert_eq!(read(&good, &query(Kind::A)), found(&["192.0.2.1"], 300));
    let with = |place: usize, byte: u8| {
        let mut bytes = good.clone();
        assert_ne!(bytes[place], byte);
        bytes[place] = byte;
        read(&bytes, &query(Kind::A))
    };
    assert_eq!(with(0, 0x13), Message::Stray, "another id");
    assert_eq!(with(2, 0x01), Message::Stray, "a question");
    assert_eq!(with(2, 0x91), Message::Stray, "another operation");
    assert_eq!(with(5, 0), Message::Stray, "no question echoed");
    assert_eq!(with(5, 2), Message::Stray, "two questions echoed");
    assert_eq!(with(13, b'x'), Message::Stray, "another name");
    assert_eq!(with(13, b'W'), Message::OtherCase, "another case");
    assert_eq!(with(29, 28), Message::Stray, "another kind");
    assert_eq!(with(31, 3), Message::Stray, "another class");
    assert_eq!(read(&good, &query(Kind::Aaaa)), Message::Stray);
    assert_eq!(read(&[], &query(Kind::A)), Message::Stray);
}

#[test]
fn survives_h27_records_that_are_not_what_they_say() {
    check([1, 0, 0], &[&record(1, 1, &[1, 2, 3])], &IS_BROKEN);
    check([1, 0, 0], &[&record(1, 1, &[1, 2, 3, 4, 5])], &IS_BROKEN);
    check([1, 0, 0], &[&record(28, 1, &[1; 4])], &IS_BROKEN);
    check([2, 0, 0], &[&record(1, 1, &[1, 2, 3, 4])], &IS_BROKEN);
    check([1, 0, 0], &[&record(5, 1, b"\x09short")], &IS_BROKEN);
    check([0, 1, 0], &[&record(6, 1, b"\0\0\0\0")], &IS_BROKEN);
    // Pointers: to themselves, forwards, to each other, into nothing; labels of a kind that does not exist.
    let here = u8::try_from(message(ANSWER, [0; 3], &[]).len()).unwrap();
    for owner in [[0xc0, here], [0xc0, here + 2], [0xff, 0xff], [0x40, 0], [0x80, 0]] {
        check([1, 0, 0], &[&record_of(&owner, 1, 1, &[1, 2, 3, 4])], &IS_BROKEN);
    }
    // The name of the first is the second's, which is the first's.
    let knot = record_of(&[0xc0, 12], 5, 1, &[0xc0, here + 12]);
    check([1, 0, 0], &[&knot], &IS_BROKEN);
}

/// A name of pointers to pointers, each to an earlier one, down to a name that does end; and a name that is too long.
/// The controls: a ladder of a few rungs is climbed, and a name that is long enough is read.
#[test]
fn survives_h27_names_that_hardly_end() {
    let nothing = Message::Reply(Reply::Nothing { exists: true, seconds: 0 });
    // A record begins at 32 with a name that ends at once; the ladder is its data, at 44, behind a nought.
    let ladder: Vec<u8> = (0..8_000_u16).flat_map(|rung| (0xc000 + 32 + 2 * rung).to_be_bytes()).collect();
    let text = record_of(&[0], 16, 1, &[&[0][..], &ladder].concat());
    // From each rung to the sixth below, and from the lowest to the name.
    let climb = |rung: u16| record_of(&(0xc000 + 44 + 2 * rung).to_be_bytes(), 1, 1, &[1, 2, 3, 4]);
    check([2, 0, 0], &[&text, &climb(6 * 14)], &nothing);
    check([2, 0, 0], &[&text, &climb(6 * 1_333)], &IS_BROKEN);
    let long = |labels: usize| [[&b"\x3f"[..], &[b'a'; 63]].concat().repeat(labels), vec![0xc0, 12]].concat();
    check([1, 0, 0], &[&record_of(&long(3), 1, 1, &[1, 2, 3, 4])], &nothing);
    check([1, 0, 0], &[&record_of(&long(4), 1, 1, &[1, 2, 3, 4])], &IS_BROKEN);
}

#[test]
fn survives_h27_more_records_than_anyone_has() {
    let many: Vec<Vec<u8>> = (0..4_000_u16)
        .map(|at| {
            let [high, low] = at.to_be_bytes();
            record(1, 300, &[10, 0, high, low])
        })
        .collect();
    let parts: Vec<&[u8]> = many.iter().map(Vec::as_slice).collect();
    let message = read(&message(ANSWER, [10_000, 9, 9], &parts), &query(Kind::A));
    let Message::Reply(Reply::Addresses { addresses, .. }) = message else { panic!("{message:?}") };
    assert_eq!(addresses.len(), ADDRESSES_MAX);
}

/// Good messages with bytes changed, cut, doubled and swapped: every one is read, none invents an address.
#[test]
fn survives_h27_messages_that_were_tampered_with() {
    let alias = record(5, 100, b"\x01a\xc0\x10");
    let address = record_of(b"\x01a\xc0\x10", 1, 200, &[192, 0, 2, 1]);
    let good = [
        message(ANSWER, [2, 1, 0], &[&alias, &address, &start(60, 60)]),
        message(0x8183, [0, 1, 0], &[&start(60, 60)]),
        message(ANSWER, [3, 0, 1], &[&address, &alias, &record(28, 1, &[1; 16]), &alias]),
    ];
    let mut chance = Chance::new(27);
    let (mut replies, mut broken) = (0, 0);
    for _ in 0..200_000 {
        let mut bytes = chance.pick(&good).clone();
        for _ in 0..=chance.below(4) {
            mutate(&mut bytes, &mut chance);
        }
        match read(&bytes, &query(Kind::A)) {
            Message::Reply(Reply::Addresses { addresses, .. }) => {
                replies += 1;
                assert!((1..=ADDRESSES_MAX).contains(&addresses.len()));
            }
            Message::Reply(Reply::Alias { to, links, .. }) => {
                assert!(to.len() <= 255 && (1..=ALIASES_MAX).contains(&links));
            }
            Message::Broken(_) => broken += 1,
            _ => {}
        }
    }
    assert!(replies > 10_000 && broken > 10_000, "{replies} replies, {broken} broken");
}

fn mutate(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let place = chance.index(bytes.len());
    match chance.below(8) {
        0 => bytes.truncate(place.max(1)),
        1 => bytes.insert(place, byte(chance)),
        2 => drop(bytes.remove(place.min(bytes.len() - 1))),
        3 => bytes.extend_from_within(place..),
        4 => bytes[place] = 0xc0,
        5 => bytes[place] ^= 1 << chance.below(8),
        _ => bytes[place] = byte(chance),
    }
    if bytes.is_empty() {
        bytes.push(0);
    }
}

fn byte(chance: &mut Chance) -> u8 {
    u8::try_from(chance.below(256)).unwrap()
}

#[test]
fn survives_h27_bytes_at_random() {
    let mut chance = Chance::new(28);
    for _ in 0..50_000 {
        let mut bytes: Vec<u8> = (0..chance.below(300)).map(|_| byte(&mut chance)).collect();
        // Without these nearly all would be strangers.
        let good = message(ANSWER, [1, 1, 1], &[]);
        let known = chance.index(good.len());
        bytes.splice(..known.min(bytes.len()), good[..known].iter().copied());
        read(&bytes, &query(Kind::A));
    }
}

#[test]
fn the_case_of_letters_carries_random_bits() {
    let name = Name::parse("www.example.jp").unwrap();
    assert_eq!(mix_case(&name, &[0; 32]), WWW);
    assert_eq!(mix_case(&name, &[0xff; 32]), b"\x03WWW\x07EXAMPLE\x02JP\0");
    assert_eq!(mix_case(&name, &[0b0000_0110]), b"\x03WWw\x07example\x02jp\0");
}

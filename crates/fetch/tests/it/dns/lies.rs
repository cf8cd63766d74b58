//! Servers, and strangers in their stead, that say what is not so (H3, H27).

use super::name_server::{A, Act, Asked, NameServer, address_of, alias_of, record};
use super::{addresses, dns, failure, hasty, look_up, settings};
use base::door::Cause;
use fetch::Dns;
use fetch::dns::Settings;
use std::collections::HashSet;
use std::time::Duration;

/// An answer that leads where the liar wants.
fn lie(asked: &Asked) -> Vec<u8> {
    asked.address(86_400, "203.0.113.66")
}

/// The truth.
fn truth(asked: &Asked) -> Vec<u8> {
    asked.address(300, "192.0.2.1")
}

fn changed(mut bytes: Vec<u8>, place: usize) -> Vec<u8> {
    bytes[place] ^= 0x21;
    bytes
}

/// A server that sends `lies` before every answer.
async fn behind(lies: impl Fn(&Asked) -> Vec<Act> + Send + Sync + 'static) -> NameServer {
    NameServer::start(move |asked| {
        let mut acts = lies(asked);
        acts.push(Act::Wait(Duration::from_millis(50)));
        acts.push(Act::Send(truth(asked)));
        acts
    })
    .await
}

/// The control: the same lie with nothing changed is an answer like any other, so what follows shows the checks.
#[tokio::test]
async fn an_answer_that_fits_the_question_is_taken() {
    let server = behind(|asked| vec![Act::Send(lie(asked))]).await;
    assert_eq!(addresses(&dns(&server), "www.example.jp").await, ["203.0.113.66"]);
}

#[tokio::test]
async fn survives_h27_answers_with_another_id_question_or_shape() {
    for (what, place) in
        [("id", 0), ("id", 1), ("answer bit", 2), ("questions", 5), ("name", 14), ("kind", 29)]
    {
        let server = behind(move |asked| {
            let mut bytes = lie(asked);
            if place == 2 {
                bytes[2] &= 0x7f;
            } else {
                bytes = changed(bytes, place);
            }
            vec![Act::Send(bytes)]
        })
        .await;
        let dns = dns(&server);
        assert_eq!(addresses(&dns, "www.example.jp").await, ["192.0.2.1"], "{what}");
        assert_eq!(dns.stats().strays, 2, "the lies did arrive: {what}");
        assert_eq!(server.count(), 2, "the truth was waited for: {what}");
    }
}

#[tokio::test]
async fn survives_h27_answers_from_another_port() {
    let server = behind(|asked| vec![Act::SendFromElsewhere(lie(asked))]).await;
    assert_eq!(addresses(&dns(&server), "www.example.jp").await, ["192.0.2.1"]);
    // Nor does it help when the truth never comes.
    let server = NameServer::start(|asked| vec![Act::SendFromElsewhere(lie(asked))]).await;
    let what = failure(&Dns::new(hasty(&[&server])), "www.example.jp").await;
    assert_eq!(what, format!("name server `{}` does not answer", server.address));
}

/// An attacker who guesses sends many answers. The query is then sent over TCP, where guessing does not help.
#[tokio::test]
async fn survives_h27_a_flood_of_guesses() {
    let server = NameServer::start(|asked| {
        if asked.over_tcp {
            return vec![Act::Send(truth(asked))];
        }
        let guess = |id: u16| {
            let mut bytes = lie(asked);
            bytes[..2].copy_from_slice(&id.to_be_bytes());
            bytes
        };
        let right = u16::from_be_bytes([asked.bytes[0], asked.bytes[1]]);
        let mut acts: Vec<Act> = (1..=100).map(|step| Act::Send(guess(right.wrapping_add(step)))).collect();
        // The last guess is right, but the query has moved on.
        acts.push(Act::Send(guess(right)));
        acts
    })
    .await;
    let dns = dns(&server);
    assert_eq!(addresses(&dns, "www.example.jp").await, ["192.0.2.1"]);
    assert!(dns.stats().strays >= 64, "{:?}", dns.stats());
    assert!(server.asked().iter().any(|asked| asked.over_tcp));
}

/// Ids, ports and the case of letters differ each time, and are not sequential.
#[tokio::test]
async fn nobody_can_know_the_next_question() {
    let server = NameServer::replies(truth).await;
    let dns = dns(&server);
    for host in 0..100 {
        addresses(&dns, &format!("a{host}.long-enough.example.jp")).await;
    }
    let asked = server.asked();
    assert_eq!(asked.len(), 200);
    let ids: Vec<u16> =
        asked.iter().map(|asked| u16::from_be_bytes([asked.bytes[0], asked.bytes[1]])).collect();
    let ports: Vec<u16> = asked.iter().map(|asked| asked.from.port()).collect();
    for numbers in [&ids, &ports] {
        let steps = numbers.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) < 16).count();
        let different = numbers.iter().collect::<HashSet<_>>().len();
        assert!(different > 180 && steps < 20, "{different} different, {steps} small steps: {numbers:?}");
    }
    let tails: HashSet<&[u8]> = asked.iter().map(|asked| &asked.written()[asked.name.len() - 23..]).collect();
    assert!(tails.len() > 180, "{} ways to write it", tails.len());
}

/// Such servers exist. They cost a try each time until they are known; then they cost nothing.
#[tokio::test]
async fn a_server_that_loses_the_case_of_letters_is_asked_in_lower_case() {
    let server = NameServer::replies(|asked| {
        let mut bytes = truth(asked);
        bytes[12..12 + asked.name.len() + 2].make_ascii_lowercase();
        bytes
    })
    .await;
    let is_lower = |asked: &Asked| !asked.written().iter().any(u8::is_ascii_uppercase);
    // Patient enough to be sure that a lost answer was not merely late.
    let dns = Dns::new(Settings { try_time: Duration::from_secs(1), ..settings(&[&server]) });
    for host in 0..4 {
        assert_eq!(addresses(&dns, &format!("a{host}.example.jp")).await, ["192.0.2.1"]);
    }
    assert!(!is_lower(&server.asked()[0]) && dns.stats().strays >= 3, "{:?}", dns.stats());
    let before = server.count();
    assert_eq!(addresses(&dns, "known.example.jp").await, ["192.0.2.1"]);
    let asked = server.asked();
    assert_eq!(asked.len(), before + 2, "one question of each kind");
    assert!(asked[before..].iter().all(is_lower));
}

/// An answer in other letters is not taken while the true one may still come.
#[tokio::test]
async fn survives_h27_answers_in_other_letters() {
    let server = behind(|asked| {
        let mut bytes = lie(asked);
        for byte in &mut bytes[12..12 + asked.name.len() + 2] {
            *byte = if byte.is_ascii_alphabetic() { *byte ^ 0x20 } else { *byte };
        }
        vec![Act::Send(bytes)]
    })
    .await;
    let dns = dns(&server);
    assert_eq!(addresses(&dns, "www.example.jp").await, ["192.0.2.1"]);
    assert_eq!((server.count(), dns.stats().strays), (2, 2));
}

/// An answer's records about other names are not cached.
#[tokio::test]
async fn survives_h3_answers_about_other_names() {
    let server = NameServer::replies(|asked| match asked.name.as_str() {
        "evil.example.net" => {
            let bank = address_of("bank.example.jp", 86_400, "203.0.113.66");
            let mine = address_of("evil.example.net", 300, "192.0.2.6");
            let alias = alias_of("bank.example.jp", 86_400, "evil.example.net");
            let records = [bank.clone(), alias, mine, bank.clone(), bank];
            if asked.kind == A { asked.message(0x8180, [3, 1, 1], &records) } else { asked.nothing(60) }
        }
        _ => truth(asked),
    })
    .await;
    let dns = dns(&server);
    assert_eq!(addresses(&dns, "evil.example.net").await, ["192.0.2.6"]);
    assert_eq!(dns.stats().cached, 1);
    assert_eq!(addresses(&dns, "bank.example.jp").await, ["192.0.2.1"]);
    assert_eq!(server.count_below("bank.example.jp"), 2, "it was asked for");
}

/// Records that cannot be read, by hand: each server is passed over for the next.
#[tokio::test]
async fn survives_h27_answers_that_cannot_be_read() {
    type Broken = fn(&Asked) -> Vec<u8>;
    let broken: [(&str, Broken); 6] = [
        ("a name that points to itself", |asked| {
            let here = u8::try_from(asked.answer(&[]).len()).unwrap();
            asked.answer(&[record(&[0xc0, here], A, 60, &[203, 0, 113, 66])])
        }),
        ("names that point to each other", |asked| {
            let here = u8::try_from(asked.answer(&[]).len()).unwrap();
            asked.answer(&[record(&[0xc0, here + 2, 0xc0, here], A, 60, &[203, 0, 113, 66])])
        }),
        ("a name that points behind the end", |asked| {
            asked.answer(&[record(&[0xff, 0xff], A, 60, &[203, 0, 113, 66])])
        }),
        ("an address of three bytes", |asked| asked.answer(&[record(&[0xc0, 12], A, 60, &[203, 0, 113])])),
        ("records that are missing", |asked| asked.message(0x8180, [7, 0, 0], &[])),
        ("only other servers", |asked| {
            asked.message(0x8100, [0, 1, 0], &[record(&[0], 2, 60, &super::name_server::name("a.example"))])
        }),
    ];
    for (what, reply) in broken {
        let server = NameServer::replies(reply).await;
        let failure = failure(&Dns::new(settings(&[&server])), "www.example.jp").await;
        assert!(failure.contains("cannot be used"), "{what}: {failure}");
        let good = NameServer::replies(truth).await;
        let dns = Dns::new(settings(&[&server, &good]));
        assert_eq!(addresses(&dns, "www.example.jp").await, ["192.0.2.1"], "{what}");
    }
}

#[tokio::test]
async fn survives_h27_ten_thousand_records() {
    let server = NameServer::replies(|asked| {
        if !asked.over_tcp {
            return asked.message(0x8380, [0; 3], &[]);
        }
        // As many as fit into the longest message there is; the head claims the rest.
        let records: Vec<Vec<u8>> = (0..4_000_u16)
            .map(|at| record(&[0xc0, 12], A, 300, &[10, 0, at.to_be_bytes()[0], at.to_be_bytes()[1]]))
            .collect();
        asked.message(0x8180, [10_000, 10_000, 10_000], &records)
    })
    .await;
    let answer = look_up(&dns(&server), "www.example.jp").await.unwrap();
    assert_eq!(answer.addresses.len(), 16);
}

#[tokio::test]
async fn a_server_that_says_no_such_name_with_addresses_has_none() {
    let server = NameServer::replies(|asked| {
        asked.message(0x8183, [1, 0, 0], &[address_of(&asked.name, 300, "203.0.113.66")])
    })
    .await;
    assert_eq!(look_up(&dns(&server), "www.example.jp").await, Err(Cause::NoSuchName));
}

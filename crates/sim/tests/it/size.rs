//! How much a web weighs.

use crate::asking::web;
use sim::Web;

#[test]
fn a_million_pages_need_memory_for_their_servers_only() {
    let web = web(1_000_000, 10_000);
    assert_eq!(web.pages(), 1_000_000);
    let bytes = web.memory_bytes();
    assert!(bytes < 200_000, "{bytes}");
    assert!(size_of::<Web>() < 1_000);
}

#[test]
fn every_server_has_a_home_and_a_few_have_most() {
    for (pages, servers) in [(1, 1), (7, 3), (5_000, 150), (100, 100), (50, 100), (1_000_000, 10_000)] {
        let web = web(pages, servers);
        assert_eq!(web.pages(), pages.max(u64::from(servers)));
        let counts: Vec<u64> = (0..servers).map(|server| web.server_pages(server)).collect();
        assert_eq!(counts.iter().sum::<u64>(), web.pages());
        assert!(counts.iter().all(|count| *count >= 1));
    }
    let web = web(1_000_000, 10_000);
    let largest: u64 = (0..100).map(|server| web.server_pages(server)).sum();
    assert!((200_000..400_000).contains(&largest), "the largest hundredth has {largest}");
}

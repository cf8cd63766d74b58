//! Registrable domains as the Public Suffix List's own tests expect them.

use base::server::registrable_domain_of_text;

#[test]
fn registrable_domains_are_those_of_the_list() {
    let Some(suite) = crate::suite("test_psl.txt") else { return };
    let mut count = 0;
    for (host, domain) in suite.lines().filter_map(checked_pair) {
        let found = host.and_then(registrable_domain_of_text);
        assert_eq!(found, domain.map(ascii), "{host:?}");
        count += 1;
    }
    assert!(count > 70, "only {count} lines were understood");
}

/// The arguments of `checkPublicSuffix('host', 'domain');`, either of which may be `null`.
fn checked_pair(line: &str) -> Option<(Option<&str>, Option<&str>)> {
    let arguments = line.strip_prefix("checkPublicSuffix(")?.strip_suffix(");")?;
    let (host, domain) = arguments.split_once(", ")?;
    Some((unquoted(host), unquoted(domain)))
}

fn unquoted(argument: &str) -> Option<&str> {
    argument.strip_prefix('\'')?.strip_suffix('\'')
}

/// The list writes domains in their own script; we keep them as they are looked up.
fn ascii(domain: &str) -> String {
    url::Host::parse(domain).unwrap().to_string()
}

//! Which URLs are worth a visit at all (H10): the shapes that traps have are refused before anyone is asked.

use base::PageUrl;
use base::limits::{URL_PARAMETERS_MAX, URL_SEGMENT_REPEATS_MAX, URL_SEGMENTS_MAX};
use std::collections::HashMap;

/// Why a URL is not visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unfit {
    /// Its path is too deep.
    Deep,
    /// One segment stands in it again and again.
    Echo,
    /// It has too many parameters.
    Parameters,
}

/// Whether the URL has a shape worth visiting.
pub fn fit(url: &PageUrl) -> Result<(), Unfit> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut segments = 0;
    for segment in url.path().split('/').filter(|segment| !segment.is_empty()) {
        segments += 1;
        let count = counts.entry(segment).or_default();
        *count += 1;
        if *count > URL_SEGMENT_REPEATS_MAX {
            return Err(Unfit::Echo);
        }
    }
    if segments > URL_SEGMENTS_MAX {
        return Err(Unfit::Deep);
    }
    let parameters = url.as_url().query().map_or(0, |query| query.split('&').count());
    if parameters > URL_PARAMETERS_MAX { Err(Unfit::Parameters) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(target: &str, expected: Result<(), Unfit>) {
        let url = PageUrl::parse(&format!("http://a.example{target}")).unwrap();
        assert_eq!(fit(&url), expected);
    }

    #[test]
    fn traps_are_known_by_their_shape() {
        check("/a/b/a/c?x=1", Ok(()));
        check("/a/b/a/b/a/", Err(Unfit::Echo));
        check(&(0..21).map(|n| format!("/{n}")).collect::<String>(), Err(Unfit::Deep));
        check(&format!("/?{}", vec!["a=1"; 31].join("&")), Err(Unfit::Parameters));
        check(&format!("/?{}", vec!["a=1"; 30].join("&")), Ok(()));
    }
}

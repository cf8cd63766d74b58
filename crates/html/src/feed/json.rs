//! JSON Feed.

use super::{Announced, Feed};
use crate::{ENTRIES_MAX, date};
use base::PageUrl;
use serde_json::Value;

/// Reads a JSON Feed; `None` if the text is not one.
pub(super) fn read(url: &PageUrl, text: &str) -> Option<Feed> {
    // The parser refuses to go deeper than 128 levels, so nesting is bounded (H9).
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    let version = value.get("version")?.as_str()?;
    let items = value.get("items")?.as_array()?;
    let target = |value: &Value, name: &str| url.join(value.get(name)?.as_str()?).ok();
    let hub = value.get("hubs").and_then(|hubs| target(hubs.get(0)?, "url"));
    version.contains("jsonfeed.org").then(|| Feed {
        entries: items.iter().filter_map(|item| announced(url, item)).take(ENTRIES_MAX).collect(),
        hub,
        next: target(&value, "next_url"),
    })
}

fn announced(url: &PageUrl, item: &Value) -> Option<Announced> {
    let text = |name: &str| item.get(name).and_then(Value::as_str);
    let target = text("url").and_then(|target| url.join(target).ok());
    let target = target.or_else(|| PageUrl::parse(text("id")?).ok())?;
    let published =
        ["date_published", "date_modified"].iter().filter_map(|name| date::read(text(name)?)).max();
    Some(Announced { url: target, published })
}

//! The history of a page: from the schedule and from the archive (O2, D17).

use crate::config::product_token;
use crate::control::ControlRequest;
use crate::error::Error;
use crate::node::Node;
use crate::steering::Steering;
use crate::views::ExplainView;
use base::PageUrl;
use robots::Need;

impl Node {
    /// Explains a page. The schedule is asked first; takedowns and archived robots files are added here.
    pub async fn explain(&self, steering: &Steering, url: &str) -> Result<ExplainView, Error> {
        let request = ControlRequest::Explain { url: url.to_owned() };
        let mut life = steering.ask_for::<ExplainView>(request).await?.pop().unwrap_or_default();
        if let Some(taken_down) = self.takedown_of(&life.page.key) {
            "taken down".clone_into(&mut life.page.state);
            life.page.reason = taken_down;
            (life.page.next_due, life.page.limited_by, life.queued_for) = (None, None, None);
            return Ok(life);
        }
        if life.page.state == "unknown"
            && !life.page.reason.contains("would not be visited")
            && let Some(line) = self.forbidden_by(&life.page.url)
        {
            let why = "it is not known, and would not be visited: the robots file of its server says";
            life.page.reason = format!("{why} `{line}`");
        }
        Ok(life)
    }

    /// When and why a page was taken down, if it was.
    fn takedown_of(&self, key: &str) -> Option<String> {
        let (key, (_, reader)) = (archive::Key::from_stored(key), self.reader().ok()?);
        let mut takedowns = reader.takedowns().ok()?.into_iter().rev();
        let found = takedowns.find(|takedown| takedown.target.holds(&key))?;
        let because =
            if found.reason.is_empty() { String::new() } else { format!(", because {}", found.reason) };
        Some(format!(
            "it was taken down at {} with {}{because}; it will not be visited or imported again",
            found.at, found.target
        ))
    }

    /// The line that forbids a page in the robots file as it was last archived. The schedule remembers only recent ones.
    fn forbidden_by(&self, url: &str) -> Option<String> {
        let (url, (_, reader)) = (PageUrl::parse(url).ok()?, self.reader().ok()?);
        let home = robots::home(&url.origin())?;
        let agent = product_token(&self.config.fetch.agent);
        let known = ::crawl::recall_robots(&reader, agent, [home]).ok()?;
        let (_, standing) = known.into_iter().next()?;
        let Need::Known(rules) = standing.needs(self.present().ok()?) else { return None };
        let verdict = rules.judge(url.target());
        if verdict.allowed {
            return None;
        }
        Some(verdict.line.map(|line| line.text.clone()).unwrap_or_default())
    }
}

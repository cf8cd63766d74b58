//! Converts requests to orders to a crawl, and its answers to objects.

use super::control::{ControlAnswer, ControlRequest, PageToAdd};
use super::views::{ExplainView, FailedPage, FiguresView, ScheduleView, ServerView};
use base::PageUrl;
use crawl::{Added, Directive, Order};
use frontier::{Role, Selection};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

/// The maximum number of orders that wait for a crawl.
pub(crate) const ORDERS_MAX: usize = 64;

/// Sends a request as orders to the crawl that receives `orders`.
pub(crate) async fn answer(orders: mpsc::Sender<Order>, request: ControlRequest) -> ControlAnswer {
    match request {
        ControlRequest::Add { pages } => {
            let pages = pages.iter().map(added).collect::<Result<Vec<Added>, String>>()?;
            let (count, add) = (pages.len(), |answer| Order::Add(pages, answer));
            let new = give(&orders, add).await?;
            Ok(vec![json!({ "added": count, "new": new })])
        }
        ControlRequest::Direct { what, pages } => {
            let directive = Directive::named(&what).ok_or_else(|| format!("`{what}` is not a directive"))?;
            let read =
                |text: &String| Selection::read(text).ok_or_else(|| format!("`{text}` selects no page"));
            let pages = pages.iter().map(read).collect::<Result<Vec<Selection>, String>>()?;
            let count = give(&orders, |answer| Order::Direct(directive, pages, answer)).await?;
            Ok(vec![json!({ "pages": count })])
        }
        ControlRequest::Pause {} => {
            give(&orders, |answer| Order::Pause(true, answer)).await?;
            Ok(vec![json!({ "paused": true })])
        }
        ControlRequest::Resume {} => {
            give(&orders, |answer| Order::Pause(false, answer)).await?;
            Ok(vec![json!({ "paused": false })])
        }
        ControlRequest::Explain { url } => {
            let page = PageUrl::parse(&url).map_err(|error| error.to_string())?;
            let told = give(&orders, |answer| Order::Explain(Box::new(page), answer)).await?;
            objects([ExplainView::from(told)])
        }
        ControlRequest::Servers { overloaded, held_back, name, limit } => {
            let told = give(&orders, Order::Servers).await?;
            let is_meant = |name: &String, server: &ServerView| {
                server.server == *name || server.alias_of.as_ref() == Some(name)
            };
            let chosen = told.into_iter().map(ServerView::from).filter(|server| {
                name.as_ref().is_none_or(|name| is_meant(name, server))
                    && (!overloaded || server.overloaded)
                    && (!held_back || !server.held_back.is_empty())
            });
            objects(chosen.take(limit))
        }
        ControlRequest::Status {} => objects([ScheduleView::from(give(&orders, Order::Overview).await?)]),
        ControlRequest::Failing { limit } => {
            let told = give(&orders, |answer| Order::Failing(limit, answer)).await?;
            objects(told.into_iter().map(FailedPage::from))
        }
        ControlRequest::Takedown { .. } | ControlRequest::Import { .. } => {
            Err("only a running crawl can do this".to_owned())
        }
        ControlRequest::Stages {} => Err("the schedule knows nothing of stages".to_owned()),
        ControlRequest::Figures {} => objects([FiguresView::from(give(&orders, Order::Figures).await?)]),
    }
}

/// Gives an order and waits for the answer.
async fn give<T>(
    orders: &mpsc::Sender<Order>,
    order: impl FnOnce(oneshot::Sender<T>) -> Order,
) -> Result<T, String> {
    let ending = || "the crawl is ending".to_owned();
    let (sender, answer) = oneshot::channel();
    orders.send(order(sender)).await.map_err(|_| ending())?;
    answer.await.map_err(|_| ending())
}

fn added(addition: &PageToAdd) -> Result<Added, String> {
    let url = PageUrl::parse(&addition.url).map_err(|error| error.to_string())?;
    let role = Role::named(&addition.role).ok_or_else(|| format!("`{}` is not a role", addition.role))?;
    Ok(Added { url, role, priority: addition.priority })
}

pub(crate) fn objects<T: Serialize>(told: impl IntoIterator<Item = T>) -> ControlAnswer {
    let object = |told| serde_json::to_value(told).map_err(|error| error.to_string());
    told.into_iter().map(object).collect::<Result<Vec<Value>, String>>()
}

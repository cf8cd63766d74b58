//! The status of the guard as JSON.

use super::{Shared, millis};
use crate::settings::TrafficLimits;
use serde_json::{Value, json};

/// How many blocked servers and addresses the status names.
const BLOCKED_SHOWN_MAX: usize = 100;

impl Shared {
    /// How the guard is.
    pub(crate) fn status(&self) -> Value {
        let desk = self.desk();
        let (counts, limits) = (desk.counts, self.settings.limits);
        let opened: Vec<String> = self.settings.addresses.opened.iter().map(ToString::to_string).collect();
        json!({
            "writable": desk.is_writable,
            "day": desk.gate.day().to_string(),
            "uptime_s": self.started.elapsed().as_secs(),
            "tunnels_open": counts.tunnels_open,
            "waiting": desk.gate.waiting(),
            "passed": counts.passed,
            "delayed": counts.delayed,
            "refused": counts.refused,
            "bytes_today": desk.gate.bytes_today(),
            "parties": desk.gate.parties(),
            "blocked": desk.gate.blocked(BLOCKED_SHOWN_MAX),
            "limits": shown(&limits, &opened),
        })
    }
}

fn shown(limits: &TrafficLimits, opened: &[String]) -> Value {
    json!({
        "pause_ms": millis(limits.pause),
        "wait_max_ms": millis(limits.wait_max),
        "server_requests_per_day": limits.server_requests_per_day,
        "address_requests_per_day": limits.address_requests_per_day,
        "address_bytes_per_day": limits.address_bytes_per_day,
        "bytes_per_day": limits.bytes_per_day,
        "clients_max": limits.clients_max,
        "tunnel_bytes_max": limits.tunnel_bytes_max,
        "tunnel_time_max_s": limits.tunnel_time_max.as_secs(),
        "tunnel_idle_max_s": limits.tunnel_idle_max.as_secs(),
        "opened": opened,
    })
}

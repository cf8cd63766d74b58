//! The limits of one exchange: those of [`base::limits`], unless a test scales them down.

use base::limits;
use std::time::Duration;

/// The maximum number of idle connections: a quarter of the descriptors a process has by default.
const POOL_CONNECTIONS_MAX: usize = 256;
/// How long an idle connection is kept: longer than the usual delay between two requests to one server.
const POOL_IDLE_TIME_MAX: Duration = Duration::from_secs(30);
const _: () = assert!(limits::SERVER_PAUSE_DEFAULT.as_seconds() < POOL_IDLE_TIME_MAX.as_secs());

/// The limits of time and size of an exchange (H6, H7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangeLimits {
    /// Time to connect.
    pub connect_time_max: Duration,
    /// Time for the TLS handshake.
    pub tls_time_max: Duration,
    /// Time from the request to the first byte of the response.
    pub first_byte_time_max: Duration,
    /// Time without any byte.
    pub idle_time_max: Duration,
    /// Time of the whole exchange.
    pub visit_time_max: Duration,
    /// How long a response may be slower than `bytes_per_second_min`.
    pub slow_grace: Duration,
    /// The minimum average rate of a response since its first byte.
    pub bytes_per_second_min: u64,
    /// The maximum length of a head, and of a trailer section.
    pub head_bytes_max: usize,
    /// The maximum number of fields in a head.
    pub head_fields_max: usize,
    /// The maximum number of interim responses before the final one.
    pub interim_answers_max: usize,
    /// The maximum number of bytes kept of a body.
    pub body_bytes_max: usize,
    /// The maximum number of bytes of one body in memory.
    pub body_memory_each_max: usize,
    /// The maximum memory of all bodies in flight.
    pub body_memory_bytes_max: usize,
    /// The maximum disk space of all bodies in flight.
    pub body_disk_bytes_max: usize,
    /// How long a proxy may delay a request.
    pub proxy_time_max: Duration,
    /// The maximum number of idle connections.
    pub pool_connections_max: usize,
    /// How long an idle connection is kept.
    pub pool_idle_time_max: Duration,
}

impl Default for ExchangeLimits {
    fn default() -> Self {
        Self {
            connect_time_max: limits::CONNECT_TIME_MAX,
            tls_time_max: limits::TLS_TIME_MAX,
            first_byte_time_max: limits::FIRST_BYTE_TIME_MAX,
            idle_time_max: limits::IDLE_TIME_MAX,
            visit_time_max: limits::VISIT_TIME_MAX,
            slow_grace: limits::SLOW_GRACE,
            bytes_per_second_min: limits::BYTES_PER_SECOND_MIN,
            head_bytes_max: limits::HEAD_BYTES_MAX,
            head_fields_max: limits::HEAD_FIELDS_MAX,
            interim_answers_max: limits::INTERIM_ANSWERS_MAX,
            body_bytes_max: limits::BODY_BYTES_MAX,
            body_memory_each_max: limits::BODY_MEMORY_EACH_MAX,
            body_memory_bytes_max: limits::BODY_MEMORY_BYTES_MAX,
            body_disk_bytes_max: limits::BODY_DISK_BYTES_MAX,
            proxy_time_max: limits::PROXY_TIME_MAX,
            pool_connections_max: POOL_CONNECTIONS_MAX,
            pool_idle_time_max: POOL_IDLE_TIME_MAX,
        }
    }
}

//! A program for `utsushi scan`: the title of each document, with its URL.
//!
//! ```sh
//! cargo build --release -p scan --example titles
//! utsushi scan --at now -- target/release/examples/titles
//! ```

fn main() -> std::io::Result<()> {
    scan::protocol::serve(std::io::stdin(), std::io::stdout(), |head, body| {
        let title = html::title(None, None, body);
        serde_json::json!({ "url": head.get("url"), "title": title }).to_string()
    })
}

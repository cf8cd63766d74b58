//! What operators and other processes of this machine write: settings, and the control socket.

use crate::texts;
use node::fuzzing;

/// Reads a configuration file.
pub(crate) fn settings(data: &[u8]) {
    fuzzing::read_settings(&String::from_utf8_lossy(data));
}
pub(crate) fn settings_seeds() -> Vec<Vec<u8>> {
    let mut seeds = texts(&[
        "",
        "[crawl]\npause = \"20s\"\nscope = \"domain\"\nevery = \"7d\"\nrequisites = false\npolicy = \"co-change/root\"\n",
        "crawl.pause = \"10s\"\nfetch.contact = \"https://example.net/bot\"\nfetch.allow_addresses = [\"10.0.0.0/8\"]\n",
        "[fetch]\nproxy = \"http://127.0.0.1:3128\"\nagent = \"utsushi/1.0\"\n[filter]\nlanguages = [\"ja\", \"en\"]\n",
        "[crawl]\nrules = [\"-prefix http://a.example/private\", \"+server b.example\"]\nagreed = [{ server = \"a.example\", pause = \"1s\" }]\n",
        "[store]\nlog_bytes = \"64 MiB\"\n[archive]\nfile_bytes_max = \"1 GB\"\ncompression = \"zstd\"\n",
        "[crawl]\npuase = 1\n",
        "a = [[[[{b = 1}]]]]\n",
    ]);
    seeds.push(fuzzing::default_settings().as_bytes().to_vec());
    seeds
}

/// Reads a request to the control socket.
pub(crate) fn control_request(data: &[u8]) {
    fuzzing::read_request(data);
}
pub(crate) fn control_request_seeds() -> Vec<Vec<u8>> {
    texts(&[
        r#"{"do":"add","pages":[{"url":"http://a.example/","role":"page","priority":-1}]}"#,
        r#"{"do":"direct","what":"visit","pages":["prefix https://a.example/x","server b.example","url http://c.example/"]}"#,
        r#"{"do":"pause"}"#,
        r#"{"do":"explain","url":"http://a.example/\u001b"}"#,
        r#"{"do":"servers","limit":40,"overloaded":true,"held_back":false,"name":"a.example"}"#,
        r#"{"do":"takedown","target":"url http://a.example/?a b","reason":"asked for"}"#,
        r#"{"do":"takedown","target":"prefix a.example/%7","reason":""}"#,
        r#"{"do":"import","files":["/a.warc.gz"]}"#,
        r#"{"do":"stages"}"#,
        r#"{"do":"status","more":1}"#,
    ])
}

/// Reads an answer of the control socket.
pub(crate) fn control_answer(data: &[u8]) {
    fuzzing::read_answer(&String::from_utf8_lossy(data));
}
pub(crate) fn control_answer_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "{\"end\":\"done\"}\n",
        "{\"added\":1,\"new\":1}\n{\"end\":\"done\"}\n",
        "{\"end\":\"could not\",\"why\":\"it is tired\"}\n",
        "{\"end\":\"could not\",\"why\":\"the request is not valid: unknown variant `stages`\"}\n",
        "{\"pages\":1}\n",
        "[1,\n{\"end\":\"done\"}\n",
        "{\"end\":\"done\"}",
    ])
}

"""The Python peers of `bench warc`: `warc_peers.py TASK SYSTEM FORMAT FILE [PAGES]`, one object as result."""

import json
import struct
import sys
import time
from io import BytesIO


def read_fastwarc(path, form):
    """Every record with its head parsed; content is decompressed and counted, never made a Python object.

    Given a path it reads the file itself, in Rust; records are used again in place, which is its fastest way.
    """
    from fastwarc.warc import ArchiveIterator

    records = content = 0
    for record in ArchiveIterator(path, parse_http=False, inplace=True, buffer_size=1 << 20):
        records += 1
        content += record.consume()
    return records, content


def read_warcio(path, form):
    """Every record with its head parsed; content is read as bytes."""
    from warcio.archiveiterator import ArchiveIterator

    assert form == "gzip", "warcio reads no zstd"
    records = content = 0
    with open(path, "rb") as stream:
        for record in ArchiveIterator(stream, no_record_parse=True):
            records += 1
            content += len(record.raw_stream.read())
    return records, content


def pages(path):
    with open(path, "rb", 1 << 20) as file:
        while length := file.read(4):
            url = file.read(struct.unpack("<I", length)[0])
            head = file.read(struct.unpack("<I", file.read(4))[0])
            body = file.read(struct.unpack("<I", file.read(4))[0])
            yield url.decode(), head, body


def write_warcio(path, form, pages_path):
    """Every page as a response with the digests of block and payload."""
    from warcio.statusandheaders import StatusAndHeadersParser
    from warcio.warcwriter import WARCWriter

    assert form == "gzip", "warcio writes no zstd"
    parser = StatusAndHeadersParser(["HTTP/1.0", "HTTP/1.1"])
    records = 0
    with open(path, "wb", 1 << 20) as file:
        writer = WARCWriter(file, gzip=True, warc_version="WARC/1.1")
        for url, head, body in pages(pages_path):
            head = parser.parse(BytesIO(head))
            record = writer.create_warc_record(url, "response", payload=BytesIO(body), length=len(body),
                                               http_headers=head)
            writer.write_record(record)
            records += 1
    return records, 0


TASKS = {("read", "fastwarc-python"): read_fastwarc, ("read", "warcio"): read_warcio, ("write", "warcio"): write_warcio}
task, system, form, *paths = sys.argv[1:]
run = TASKS[task, system]
# What is imported is not measured.
import fastwarc.warc, warcio.archiveiterator, warcio.warcwriter

before = time.process_time()
records, content = run(paths[0], form, *paths[1:])
cpu = time.process_time() - before
print(json.dumps({"records": records, "content_bytes": content, "cpu_seconds": cpu}))

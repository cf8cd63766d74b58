"""Functions over pages, in two ways: `peers.py FUNCTION` for a scan, `peers.py FUNCTION FILE…` over WARC files by FastWARC."""

import json
import re
import sys

TITLE = re.compile(rb"<title[^>]*>(.*?)</title>", re.S | re.I)
TAG = re.compile(rb"<[^>]*>")
WORD = re.compile(r"\w+")


def searched_titles(body):
    """What a search of the bytes finds first, whatever it stands in, read as UTF-8."""
    found = TITLE.search(body)
    return found and found[1].decode("utf-8", "replace")


def titles():
    """The title that a browser would show: the encoding found, the page parsed. The way of FastWARC's own library."""
    from resiliparse.parse.encoding import detect_encoding
    from resiliparse.parse.html import HTMLTree

    return lambda body: HTMLTree.parse_from_bytes(body, detect_encoding(body)).title


def words(body):
    return len(set(WORD.findall(TAG.sub(b" ", body).decode("utf-8", "replace").lower())))


def scan(function):
    given, say = sys.stdin.buffer, sys.stdout
    while line := given.readline():
        say.write(json.dumps(function(given.read(json.loads(line)["length"]))) + "\n")
        say.flush()


def files(function, paths):
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    for path in paths:
        for record in ArchiveIterator(path, record_types=WarcRecordType.response, parse_http=True):
            result = function(record.reader.read())
            sys.stdout.write(json.dumps({"url": record.headers["WARC-Target-URI"], "result": result}) + "\n")


name, *paths = sys.argv[1:]
function = {"titles": titles, "searched titles": lambda: searched_titles, "words": lambda: words}[name]()
files(function, paths) if paths else scan(function)

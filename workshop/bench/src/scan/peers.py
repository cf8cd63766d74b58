"""Functions over pages, in two ways: `peers.py FUNCTION` for a scan, `peers.py FUNCTION FILE…` over WARC files by FastWARC."""

import json
import re
import sys

TITLE = re.compile(rb"<title[^>]*>(.*?)</title>", re.S | re.I)
TAG = re.compile(rb"<[^>]*>")
WORD = re.compile(r"\w+")


def titles(body):
    found = TITLE.search(body)
    return found and found[1].decode("utf-8", "replace")


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
function = {"titles": titles, "words": words}[name]
files(function, paths) if paths else scan(function)

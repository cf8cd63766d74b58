"""Lists the pages that can be reached on one server: `walker.py START_URL`.

A plain walk that shares no code with the crawler under test: the standard library's `html.parser` and `urllib.parse`.
It follows `a`, `area`, `frame`, `iframe`, `meta refresh`, and those `link` elements that lead from page to page.
It prints the target (path and query) of every URL that answered 200, one a line. Redirects on the same server are
followed; links marked `nofollow` are not.
"""

import http.client
import multiprocessing
import re
import sys
from html.parser import HTMLParser
from urllib.parse import quote, urldefrag, urljoin, urlsplit

REDIRECTS_MAX = 10
# `link` elements with one of these relations lead to another page.
PAGE_RELATIONS = {
    "alternate", "appendix", "author", "begin", "bookmark", "canonical", "chapter", "contents", "copyright", "end",
    "first", "glossary", "help", "home", "index", "last", "license", "next", "prev", "previous", "section", "start",
    "subsection", "toc", "top", "up",
}
# Whatever else they say, those with one of these name what a page shows.
SHOWN_RELATIONS = {"icon", "stylesheet"}
# Characters of a URL that stay as they are; everything else is escaped.
SAFE = "%/:=&?~#+!$,;'@()*[]|"
connection = None


def join(base, reference):
    """Like `urljoin`, which drops empty segments of a path: `a//b` is not `a/b`."""
    parts = urlsplit(reference)
    if parts.scheme or parts.netloc or "//" not in parts.path:
        return urljoin(base, reference)
    start = urlsplit(base)
    path = parts.path if parts.path.startswith("/") else start.path.rsplit("/", 1)[0] + "/" + parts.path
    segments = []
    for segment in path.split("/")[1:]:
        if segment == "..":
            segments = segments[:-1]
        elif segment != ".":
            segments.append(segment)
    return start._replace(path="/" + "/".join(segments), query=parts.query, fragment=parts.fragment).geturl()


class Links(HTMLParser):
    """Gathers the references on a page to other pages."""

    def __init__(self):
        super().__init__()
        self.base = None
        self.found = []
        self.follows = True

    def handle_starttag(self, tag, attributes):
        values = {name: value or "" for name, value in attributes}
        relations = set(values.get("rel", "").lower().split())
        if tag in ("a", "area") and "nofollow" not in relations:
            self.found.append(values.get("href"))
        elif tag in ("frame", "iframe"):
            self.found.append(values.get("src"))
        elif tag == "link" and relations & PAGE_RELATIONS and not relations & SHOWN_RELATIONS:
            self.found.append(values.get("href"))
        elif tag == "base" and self.base is None:
            self.base = values.get("href")
        elif tag == "meta":
            self.meta(values)

    def meta(self, values):
        content = values.get("content", "")
        if values.get("name", "").lower() == "robots" and re.search(r"nofollow|none", content, re.I):
            self.follows = False
        elif values.get("http-equiv", "").lower() == "refresh":
            target = re.match(r"[^;,]*[;,]\s*url\s*=\s*['\"]?([^'\"]*)", content, re.I)
            self.found.append(target and target.group(1))


def absolute(base, reference):
    """The URL of a reference without its fragment, escaped the way a client sends it; nothing if it is none."""
    reference = re.sub(r"[\t\r\n]", "", reference or "").strip()
    if not reference:
        return None
    try:
        url = urlsplit(urldefrag(join(base, reference)).url)
    except ValueError:
        return None
    path = quote(url.path or "/", safe=SAFE)
    return url._replace(path=path, query=quote(url.query, safe=SAFE)).geturl()


def get(url):
    """Status, media type with its charset, target of a redirect, and body."""
    global connection
    parts = urlsplit(url)
    target = parts.path + ("?" + parts.query if parts.query else "")
    for attempt in range(3):
        try:
            if connection is None:
                connection = http.client.HTTPConnection(parts.netloc, timeout=60)
            connection.request("GET", target, headers={"User-Agent": "coverage-walker"})
            answer = connection.getresponse()
            return answer.status, answer.getheader("Content-Type", ""), answer.getheader("Location"), answer.read()
        except (http.client.HTTPException, OSError):
            connection = None
            if attempt == 2:
                raise


def text_of(media_type, body):
    """The text of a page: its charset is in the header or in its first bytes, otherwise UTF-8."""
    named = re.search(r"charset=[\"']?([\w-]+)", media_type) or re.search(
        r"charset=[\"']?([\w-]+)", body[:2048].decode("latin-1"))
    try:
        return body.decode(named.group(1) if named else "utf-8", "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


def visit(url):
    """Visits a URL: what it was, where a redirect leads, whether it answered 200, and the links on it."""
    status, media_type, location, body = get(url)
    if status in (301, 302, 303, 307, 308):
        return url, absolute(url, location), False, []
    if status != 200 or "html" not in media_type.lower():
        return url, None, status == 200, []
    links = Links()
    links.feed(text_of(media_type, body))
    links.close()
    base = absolute(url, links.base) or url
    found = {absolute(base, reference) for reference in links.found} if links.follows else set()
    return url, None, True, sorted(link for link in found if link)


def walk(start):
    """The URLs that answered 200, as far as links and redirects on the server of `start` lead."""
    server = urlsplit(start)[:2]
    hops, waiting, reached = {start: 0}, [start], []
    with multiprocessing.Pool() as pool:
        while waiting:
            answers = pool.imap_unordered(visit, waiting, chunksize=4)
            following = []
            for url, redirect, is_page, links in answers:
                if is_page:
                    reached.append(url)
                count = hops[url] + 1 if redirect else 0
                for link in [redirect] if redirect else links:
                    if link not in hops and urlsplit(link)[:2] == server and count <= REDIRECTS_MAX:
                        hops[link] = count
                        following.append(link)
            waiting = following
    return reached


if __name__ == "__main__":
    for page in sorted(walk(sys.argv[1])):
        parts = urlsplit(page)
        print(parts.path + ("?" + parts.query if parts.query else ""))

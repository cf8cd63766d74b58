"""Scrapy as its documentation has it, with warcio behind it: every answer becomes a response and a request record.

scrapy.py URL DIRECTORY
"""

import io
import sys
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

URL, DIRECTORY = sys.argv[1:]


def pairs(headers):
    return [(k.decode("latin-1"), v.decode("latin-1")) for k, vs in headers.items() for v in vs]


class Walk(scrapy.Spider):
    name = "walk"
    start_urls = [URL]
    handle_httpstatus_all = True
    links = LinkExtractor(allow=r"(/|\.html)$", allow_domains=[urlsplit(URL).netloc])

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.file = open(f"{DIRECTORY}/pages.warc.gz", "wb")
        self.writer = WARCWriter(self.file, gzip=True)

    def closed(self, reason):
        self.file.close()

    def parse(self, response):
        self.keep(response)
        if response.status == 200 and isinstance(response, scrapy.http.HtmlResponse):
            for link in self.links.extract_links(response):
                yield response.follow(link)

    def keep(self, response):
        head = StatusAndHeaders(f"{response.status} Answer", pairs(response.headers), protocol="HTTP/1.1")
        answer = self.writer.create_warc_record(
            response.url, "response", payload=io.BytesIO(response.body), http_headers=head
        )
        line = f"GET {urlsplit(response.url).path or '/'} HTTP/1.1"
        head = StatusAndHeaders(line, pairs(response.request.headers), is_http_request=True)
        request = self.writer.create_warc_record(response.url, "request", http_headers=head)
        self.writer.write_request_response_pair(request, answer)


process = CrawlerProcess(
    settings={
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
        "COOKIES_ENABLED": False,
        "ROBOTSTXT_OBEY": True,
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS": 32,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 32,
    }
)
process.crawl(Walk)
process.start()

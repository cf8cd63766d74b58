"""Servers that watch how they are asked, with nothing of the guard's in common: Python's sockets and ssl.

    observer.py PAUSE_SECONDS CERTIFICATE KEY ADDRESS...

Each address answers http and https on a port of its own; the first line of output says which. The name of a server is
the Host of the request. At the end of standard input it prints what it saw and ends.

A request arrives when the kernel receives it (SO_TIMESTAMPNS), however late this program gets to read it. It ends just
before its answer is handed to the kernel. Both are told on the monotonic clock. Requests to one server, and to one
address, are violations when they overlap, or when less than the pause lies between them; a millisecond is allowed for.
"""

import heapq
import json
import selectors
import socket
import ssl
import struct
import sys
import time

TOLERANCE = 0.001
SO_TIMESTAMPNS = 35
BODY_BYTES = [0, 40, 300, 700, 1500, 4000]
# How long a server thinks before it answers; some take longer than the pause.
THINKING = [0.0, 0.0, 0.002, 0.0, 0.004, 0.0, 0.0, 0.0, 0.0, 0.05, 0.0]
FINAL = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"


def wall_minus_monotonic():
    """How the two clocks differ, read between two looks at one of them so that no break of ours gets in between."""
    while True:
        before, wall, after = time.monotonic(), time.time(), time.monotonic()
        if after - before < 0.00005:
            return wall - (before + after) / 2


class Observer:
    def __init__(self, context):
        self.context = context
        self.selector = selectors.DefaultSelector()
        self.later = []  # (when, number, call)
        self.requests = []
        self.connections = self.unstamped = 0
        self.lags = []

    def listen(self, address, scheme):
        listener = socket.create_server((address, 0), backlog=1024)
        listener.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        listener.setblocking(False)
        self.selector.register(listener, selectors.EVENT_READ, lambda: self.accept(listener, address, scheme))
        return listener.getsockname()[1]

    def accept(self, listener, address, scheme):
        try:
            stream, _ = listener.accept()
        except BlockingIOError:
            return
        stream.setblocking(False)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connections += 1
        connection = Connection(self, stream, address, scheme)
        self.selector.register(stream, selectors.EVENT_READ, connection.read)

    def call_later(self, seconds, call):
        heapq.heappush(self.later, (time.monotonic() + seconds, len(self.requests), call))

    def run(self):
        ended = []
        self.selector.register(sys.stdin, selectors.EVENT_READ, lambda: ended.append(sys.stdin.read()))
        while not ended:
            wait = max(0.0, self.later[0][0] - time.monotonic()) if self.later else None
            for key, _ in self.selector.select(wait):
                key.data()
            while self.later and self.later[0][0] <= time.monotonic():
                heapq.heappop(self.later)[2]()


class Connection:
    def __init__(self, observer, stream, address, scheme):
        self.observer, self.stream, self.address, self.scheme = observer, stream, address, scheme
        self.number = observer.connections
        self.input = b""
        self.tls = None
        if scheme == "https":
            self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            self.tls = observer.context.wrap_bio(self.incoming, self.outgoing, server_side=True)
            self.is_greeting = True

    def read(self):
        try:
            data, ancillary, _, _ = self.stream.recvmsg(65536, 64)
        except BlockingIOError:
            return
        except OSError:
            data, ancillary = b"", []
        arrival = self.arrival(ancillary)
        try:
            plain = self.decrypt(data) if self.tls and data else data
        except ssl.SSLError:
            data = b""
        self.flush()
        if not data:
            return self.close()
        self.observer.unstamped += not ancillary
        self.input += plain
        self.answer_all(arrival)

    def arrival(self, ancillary):
        now = time.monotonic()
        for _, kind, value in ancillary:
            if kind == SO_TIMESTAMPNS:
                seconds, nanoseconds = struct.unpack("qq", value[:16])
                arrival = seconds + nanoseconds / 1e9 - wall_minus_monotonic()
                self.observer.lags.append(now - arrival)
                return arrival
        return now

    def decrypt(self, data):
        self.incoming.write(data)
        plain = b""
        try:
            if self.is_greeting:
                self.tls.do_handshake()
                self.is_greeting = False
            while True:
                piece = self.tls.read(65536)
                if not piece:
                    return plain
                plain += piece
        except ssl.SSLWantReadError:
            return plain

    def flush(self):
        if self.tls and self.outgoing.pending:
            self.send(self.outgoing.read())

    def send(self, data):
        try:
            self.stream.sendall(data)
        except OSError:
            pass

    def close(self):
        if self.stream.fileno() >= 0:
            self.observer.selector.unregister(self.stream)
            self.stream.close()

    def answer_all(self, arrival):
        while b"\r\n\r\n" in self.input:
            head, self.input = self.input.split(b"\r\n\r\n", 1)
            fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
            number = len(self.observer.requests)
            server = fields.get(b"host", b"?").decode("latin-1")
            note = [server, self.address, self.scheme, arrival, None, self.number]
            self.observer.requests.append(note)
            body = b"x" * BODY_BYTES[number % len(BODY_BYTES)]
            thinking = THINKING[number % len(THINKING)]
            if thinking:
                self.observer.call_later(thinking, lambda note=note, body=body: self.answer(note, body))
            else:
                self.answer(note, body)

    def answer(self, note, body):
        data = FINAL % len(body) + body
        if self.tls:
            self.tls.write(data)
            data = self.outgoing.read()
        note[4] = time.monotonic()
        self.send(data)


def judge(requests, pause, by):
    """Counts the requests to each server, or to each address, that came too soon."""
    seen, examples = {}, []
    overlaps, too_soon, smallest = 0, 0, None
    for note in sorted(requests, key=lambda note: note[3]):
        note = note[:4] + [note[4] or time.monotonic()] + note[5:]
        before = seen.get(note[by])
        if before is not None:
            gap = note[3] - before[4]
            smallest = gap if smallest is None else min(smallest, gap)
            overlaps += gap < 0
            too_soon += 0 <= gap < pause - TOLERANCE
            if gap < pause - TOLERANCE and len(examples) < 3:
                examples.append([shown(before), shown(note)])
        if before is None or note[4] >= before[4]:
            seen[note[by]] = note
    milliseconds = None if smallest is None else round(smallest * 1000, 3)
    counts = {"overlaps": overlaps, "too_soon": too_soon, "smallest_gap_ms": milliseconds}
    return {"parties": len(seen), **counts, "examples": examples}


def shown(note):
    """A request as one can look it up in a log: its times on the wall clock."""
    server, address, scheme, arrival, end, connection = note
    wall = lambda moment: round(wall_minus_monotonic() + moment, 6)
    return f"{scheme}://{server} at {address}, connection {connection}, {wall(arrival)} to {wall(end)}"


def report(observer, pause):
    requests = observer.requests
    kept = {"http": {}, "https": {}}
    for note in requests:
        kept[note[2]][note[5]] = kept[note[2]].get(note[5], 0) + 1
    lags = sorted(observer.lags) or [0.0]
    return {
        "requests": len(requests),
        "https": sum(note[2] == "https" for note in requests),
        "connections": observer.connections,
        "most_on_one_connection": {scheme: max(counts.values(), default=0) for scheme, counts in kept.items()},
        "by_server": judge(requests, pause, 0),
        "by_address": judge(requests, pause, 1),
        "read_late_ms": {"p50": round(lags[len(lags) // 2] * 1000, 3), "max": round(lags[-1] * 1000, 3)},
        "unstamped": observer.unstamped,
    }


def main():
    pause, certificate, key, addresses = float(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    observer = Observer(context)
    places = [{"address": a, "http": observer.listen(a, "http"), "https": observer.listen(a, "https")} for a in addresses]
    print(json.dumps(places), flush=True)
    observer.run()
    print(json.dumps(report(observer, pause)), flush=True)


main()

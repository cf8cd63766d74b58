import json, re, sys

given = sys.stdin.buffer
while line := given.readline():
    head = json.loads(line)
    body = given.read(head["length"])
    title = re.search(rb"<title[^>]*>(.*?)</title>", body, re.S | re.I)
    print(json.dumps(title and title[1].decode("utf-8", "replace")), flush=True)

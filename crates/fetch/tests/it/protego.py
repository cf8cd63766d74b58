"""Answers what Protego makes of a robots file: one JSON question a line in, one JSON answer a line out."""
import json
import sys

from protego import Protego


def deciding(rules, agent, url):
    """The name of the group that counts, and the rule of it that decides."""
    from protego._utils import _quote_path

    group = rules._get_matching_rule_set(agent)
    if group is None:
        return None
    path = _quote_path(url)
    for rule in group._rules:
        if rule.value.match(path):
            return [group.user_agent, rule.field, rule.value._pattern]
    return [group.user_agent, None, None]


for line in sys.stdin:
    question = json.loads(line)
    rules = Protego.parse(question["text"])
    url = lambda target: "http://h.example" + target
    if question["explain"]:
        answer = [deciding(rules, agent, url(target)) for agent, target in question["asks"]]
    else:
        answer = "".join("01"[rules.can_fetch(url(target), agent)] for agent, target in question["asks"])
    print(json.dumps(answer), flush=True)

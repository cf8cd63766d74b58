"""Reads annotations with `rhoknp` and prints the heads of every sentence, so that they can be compared."""

import sys

from rhoknp import Document

text = sys.stdin.read()
for block in text.split("EOS\n"):
    if not block:
        continue
    document = Document.from_knp(block + "EOS\n")
    (sentence,) = document.sentences
    heads = " ".join(str(phrase.parent_index) + phrase.dep_type.value for phrase in sentence.phrases)
    words = "".join(morpheme.text for morpheme in sentence.morphemes)
    contents = sum(len(phrase.base_phrases) for phrase in sentence.phrases)
    assert all(phrase.parent_index < contents for phrase in sentence.base_phrases)
    print(heads, contents, words, sep="\t")

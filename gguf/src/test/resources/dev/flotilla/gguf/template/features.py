"""Holds features.json against Python's own Jinja, set up as the transformers library does it.

    features.py            compares, and exits with 1 where a rendering differs
    features.py --write    renders all anew into the file

features.json: "variables" are those of every template, and each feature may have more. A feature
has the "text" that it renders, or the name of the exception that it ends with as "error".
"""

import datetime
import json
import pathlib
import sys

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.nodes import CallBlock
from jinja2.sandbox import ImmutableSandboxedEnvironment

FILE = pathlib.Path(__file__).with_name("features.json")
NOW = datetime.datetime(2026, 1, 2, 15, 4, 5)


class Generation(Extension):
    """The block whose text is passed through."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return CallBlock(self.call_method("passed"), [], [], body).set_lineno(line)

    def passed(self, caller):
        return caller()


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def environment():
    made = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols]
    )
    made.filters["tojson"] = to_json
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = NOW.strftime
    return made


def rendered(template, variables):
    try:
        return {"text": environment().from_string(template).render(**variables)}
    except Exception as e:  # whatever it is, it is what the feature ends with
        return {"error": type(e).__name__}


def main():
    data = json.loads(FILE.read_text())
    different = 0
    for feature in data["features"]:
        variables = data["variables"] | feature.get("variables", {})
        now = rendered(feature["template"], variables)
        before = {key: feature[key] for key in ("text", "error") if key in feature}
        if now != before:
            different += 1
            print(f"{feature['template']!r}: {before} in the file, {now} in Python")
            for key in before:
                del feature[key]
            feature |= now
    if "--write" in sys.argv:
        lines = ",\n".join(json.dumps(f, ensure_ascii=False) for f in data["features"])
        head = json.dumps(data["variables"], ensure_ascii=False)
        FILE.write_text(f'{{"variables": {head},\n"features": [\n{lines}\n]}}\n')
    elif different:
        sys.exit(1)


main()

#!/usr/bin/env python3
"""Renders the template corpus with transformers' own Jinja environment and stores the results.

Usage: tools/make_template_goldens.py [--models FOLDER]
Needs: pip install jinja2 transformers gguf numpy (Python 3.11 or later).

Reads   tests/data/templates/families/*.jinja, conversations.json, snippets.txt, context.json
Writes  tests/data/templates/goldens.json       families x conversations, snippets, generated expressions
        tests/data/templates/model_goldens.json the templates inside GGUF files of --models (only results are stored)
A result is {"text": ...}, {"raise": ...} (raise_exception's words) or {"error": ...} (any other failure of Python).
"""

import argparse
import copy
import json
import pathlib
import random
from datetime import datetime

import jinja2
from transformers.utils import chat_template_utils as utils

ROOT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "templates"
NOW = datetime(2026, 2, 3, 14, 5, 9)


class Raised(Exception):
    """What raise_exception throws here, so that it can be told from other errors."""


def raise_exception(message):
    raise Raised(message)


def compile_template(source, optimized=True):
    template = utils._compile_jinja_template(source)
    if not optimized:
        template = template.environment.overlay(optimized=False).from_string(source)
    template.globals["strftime_now"] = NOW.strftime
    template.globals["raise_exception"] = raise_exception
    return template


def render(source, variables, optimized=True):
    try:
        return {"text": compile_template(source, optimized).render(**copy.deepcopy(variables))}
    except Raised as failure:
        return {"raise": str(failure)}
    except Exception as failure:  # noqa: BLE001, every failure is a result
        return {"error": f"{type(failure).__name__}: {failure}"}


def conversation_variables(conversation):
    chat = utils._alias_reasoning_fields(copy.deepcopy(conversation["messages"]))
    variables = {
        "messages": chat,
        "tools": conversation.get("tools"),
        "documents": None,
        "add_generation_prompt": conversation["add_generation_prompt"],
        "bos_token": "<s>",
        "eos_token": "</s>",
    }
    variables.update(conversation.get("variables", {}))
    return variables


class ExpressionMaker:
    """Random expressions over the variables of context.json."""

    NAMES = ["n", "z", "f", "s", "t", "u", "l", "m", "d", "e", "b", "nothing", "missing"]
    FILTERS = ["upper", "lower", "title", "capitalize", "trim", "length", "first", "last", "list", "string", "int",
               "float", "abs", "reverse|list", "sort", "unique|list", "join(',')", "join", "tojson", "default('x')",
               "default(7, true)", "replace('a', 'bb')", "indent(2)", "round(1)", "round", "max", "min", "sum", "items|list",
               "dictsort", "map('string')|list", "select|list", "reject('none')|list", "batch(2)|list", "slice(2)|list",
               "truncate(5, true, '..', 0)", "center(9)", "wordcount", "tojson(indent=1)", "tojson(sort_keys=true)",
               "map('upper')|join('-')", "select('string')|list", "count"]
    TESTS = ["defined", "none", "string", "number", "integer", "float", "mapping", "sequence", "iterable", "boolean",
             "odd", "even", "divisibleby 3", "in [1, 'a', none]", "eq 1", "ne 'a'", "lt 3", "ge 2", "sameas none", "upper",
             "lower", "callable", "true", "false", "undefined"]
    METHODS = ["upper()", "strip()", "split()", "split('a')", "split(',', 1)", "rsplit(' ', 1)", "startswith('a')",
               "endswith(('x', 'b'))", "replace('a', '')", "title()", "capitalize()", "lstrip('a')", "find('b')", "count('a')",
               "items()|list", "keys()|list", "values()|list", "get('k')", "get('nope', 3)", "index(1)", "splitlines()",
               "rstrip('b ')", "partition('b')", "zfill(6)", "isdigit()", "format(1, x=2)", "join(['p', 'q'])", "k", "swapcase()"]
    LITERALS = ["0", "1", "2", "-3", "7", "2.5", "-0.0", "1e20", "''", "'a'", "'b c'", "'Ünïcode ß'", '"it\'s"', "[]",
                "[3, 1, 2]", "(1,)", "(1, 'x')", "{'k': 1}", "{}", "true", "false", "none", "'%s-%d'", "[[1], ['a']]", "'a,b,,c'"]
    BINARY = ["+", "-", "*", "/", "//", "%", "~", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or"]

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def make(self, depth):
        pick = self.rng.random()
        if depth == 0 or pick < 0.12:
            return self.rng.choice(self.NAMES if self.rng.random() < 0.6 else self.LITERALS)
        sub = lambda: self.make(depth - 1)  # noqa: E731
        if pick < 0.40:
            return f"({sub()} {self.rng.choice(self.BINARY)} {sub()})"
        if pick < 0.60:
            return f"({sub()})|{self.rng.choice(self.FILTERS)}"
        if pick < 0.70:
            negation = "not " if self.rng.random() < 0.3 else ""
            return f"(({sub()}) is {negation}{self.rng.choice(self.TESTS)})"
        if pick < 0.80:
            return f"({sub()}).{self.rng.choice(self.METHODS)}"
        if pick < 0.88:
            bounds = [self.rng.choice(["", "0", "1", "2", "-1", "-2", "9", "-9"]) for _ in range(2)]
            step = self.rng.choice(["", "", ":2", ":-1", ":-2"])
            return f"({sub()})[{bounds[0]}:{bounds[1]}{step}]"
        if pick < 0.93:
            return f"({sub()})[{self.rng.choice(['0', '1', '-1', '5', chr(39) + 'k' + chr(39), 'n'])}]"
        if pick < 0.97:
            return f"({sub()} if {sub()} else {sub()})"
        return f"(not {sub()})"


def is_stable(result):
    """Texts with memory addresses cannot be compared."""
    return " at 0x" not in result.get("text", "")


def expressions(context, count):
    made = []
    seen = set()
    maker = ExpressionMaker(20260203)
    while len(made) < count:
        expression = maker.make(maker.rng.randint(1, 4))
        source = "{{ " + expression + " }}"
        result = render(source, context)
        # Folding of constants changes what a few senseless expressions do, such as a slice of a literal number.
        # An assignment is never folded without the optimizer.
        if result != render("{% set x = " + expression + " %}{{ x }}", context, optimized=False):
            continue
        # Failures are kept in proportion: most random expressions are type errors.
        if source in seen or not is_stable(result) or ("error" in result and maker.rng.random() < 0.75):
            continue
        seen.add(source)
        made.append({"source": source, "error": True} if "error" in result else {"source": source, **result})
    return made


def model_template(path):
    from gguf import GGUFReader

    field = GGUFReader(str(path)).get_field("tokenizer.chat_template")
    return None if field is None else field.contents()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=pathlib.Path, help="folder of GGUF files; without it model_goldens.json is kept")
    options = parser.parse_args()
    conversations = json.loads((ROOT / "conversations.json").read_text())
    empty = {"messages": [], "add_generation_prompt": True}
    context = {**conversation_variables(empty), **json.loads((ROOT / "context.json").read_text())}
    families = {}
    for path in sorted((ROOT / "families").glob("*.jinja")):
        source = path.read_text()
        families[path.stem] = {c["name"]: render(source, conversation_variables(c)) for c in conversations}
    snippets = (ROOT / "snippets.txt").read_text().split("\n%%\n")
    goldens = {
        "families": families,
        "snippets": [{"source": s, **render(s, context)} for s in snippets],
        "expressions": expressions(context, 2500),
    }
    (ROOT / "goldens.json").write_text(json.dumps(goldens, ensure_ascii=False, indent=0) + "\n")
    if options.models:
        results = {}
        for path in sorted(options.models.glob("*.gguf")):
            source = model_template(path)
            if source is not None:
                results[path.name] = {c["name"]: render(source, conversation_variables(c)) for c in conversations}
        (ROOT / "model_goldens.json").write_text(json.dumps(results, ensure_ascii=False, indent=0) + "\n")


if __name__ == "__main__":
    main()

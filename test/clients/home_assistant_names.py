"""Lists the names that a template may use with Home Assistant's own code: {"filter": [...], "test", "function", "method", "tag"}.

Methods are those of the classes of a template's values, what they call on the class itself among them.
"""

import asyncio
from datetime import datetime, timedelta
import json
import sys
import tempfile

from homeassistant.core import HomeAssistant
from homeassistant.helpers.template import Template
from jinja2.parser import _statement_keywords

CLASSES = [str, list, tuple, dict, int, float, datetime, timedelta]


async def main():
    with tempfile.TemporaryDirectory() as folder:
        environment = Template("{{ 1 }}", HomeAssistant(folder))._env
        methods = {
            name for one in CLASSES for name in dir(one) if not name.startswith("_") and callable(getattr(one, name))
        }
        names = {
            "filter": set(environment.filters),
            "test": set(environment.tests),
            "function": set(environment.globals),
            # A datetime's least, greatest and resolution are values.
            "method": methods - {"min", "max", "resolution"},
            # The lexer reads raw; the parser has the others.
            "tag": set(_statement_keywords) | {"call", "filter", "raw"} | set().union(*(one.tags for one in environment.extensions.values())),
        }
    json.dump({kind: sorted(found) for kind, found in names.items()}, sys.stdout)


asyncio.run(main())

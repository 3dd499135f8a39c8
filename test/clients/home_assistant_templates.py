"""Renders templates with Home Assistant's own code.

Standard input: {"now": ISO time, "zone": IANA name, "cases": [{"template", "payload" or "variables"}]}.
Standard output: a list of {"text"} or {"problem"}. With "payload" it is a template of a state, which also gets value_json.
"""

import asyncio
from datetime import datetime
import json
import logging
import sys
import tempfile
from zoneinfo import ZoneInfo

from homeassistant.core import HomeAssistant
from homeassistant.helpers.template import Template
from homeassistant.util import dt as dt_util

# A template with a problem is part of the test.
logging.disable(logging.CRITICAL)


def render(hass, case):
    failed = object()
    try:
        template = Template(case["template"], hass)
        template.ensure_valid()
        if "payload" in case:
            text = template.async_render_with_possible_json_value(case["payload"], failed)
        else:
            text = template.async_render(case["variables"], parse_result=False)
        return {"problem": "an error of Jinja"} if text is failed else {"text": text}
    except Exception as error:
        return {"problem": f"{type(error).__name__}: {error}"}


async def main(given):
    zone = ZoneInfo(given["zone"])
    now = datetime.fromisoformat(given["now"])
    dt_util.set_default_time_zone(zone)
    dt_util.now = lambda time_zone=None: now.astimezone(time_zone or zone)
    dt_util.utcnow = lambda: now.astimezone(dt_util.UTC)
    with tempfile.TemporaryDirectory() as folder:
        hass = HomeAssistant(folder)
        json.dump([render(hass, case) for case in given["cases"]], sys.stdout)


asyncio.run(main(json.load(sys.stdin)))

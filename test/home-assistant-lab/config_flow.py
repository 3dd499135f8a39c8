"""
Sets the lab up: with 0 devices those of each behaviour, with -1 and -2 switches and lights of each once more, else so many that work. With
`few` each of these has three entities, and every third one a fourth.
"""

import voluptuous as vol
from homeassistant import config_entries


class Flow(config_entries.ConfigFlow, domain="lab"):
    VERSION = 1

    async def async_step_user(self, user_input=None):
        if user_input is None:
            form = vol.Schema({vol.Optional("devices", default=0): int, vol.Optional("few", default=False): bool})
            return self.async_show_form(step_id="user", data_schema=form)
        return self.async_create_entry(title=f"lab {user_input['devices']}", data=user_input)

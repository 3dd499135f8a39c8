from datetime import time

from homeassistant.components.time import TimeEntity

from . import Lab, single


class LabTime(Lab, TimeEntity):
    _attr_native_value = time(7, 0)

    async def async_set_value(self, value):
        await self.act(self.setter("_attr_native_value", value))


async def async_setup_entry(hass, entry, add):
    if entry.data["devices"] == 0:
        add(single("time", "Office", LabTime, ["works", "dead"]))

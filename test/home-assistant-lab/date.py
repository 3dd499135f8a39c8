from datetime import date

from homeassistant.components.date import DateEntity

from . import Lab, single


class LabDate(Lab, DateEntity):
    _attr_native_value = date(2026, 1, 1)

    async def async_set_value(self, value):
        await self.act(self.setter("_attr_native_value", value))


async def async_setup_entry(hass, entry, add):
    if entry.data["devices"] == 0:
        add(single("date", "Office", LabDate, ["works", "dead"]))

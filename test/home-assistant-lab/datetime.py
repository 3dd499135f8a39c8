from datetime import UTC, datetime

from homeassistant.components.datetime import DateTimeEntity

from . import Lab, single


class LabDateTime(Lab, DateTimeEntity):
    _attr_native_value = datetime(2026, 1, 1, tzinfo=UTC)

    async def async_set_value(self, value):
        await self.act(self.setter("_attr_native_value", value))


async def async_setup_entry(hass, entry, add):
    if entry.data["devices"] == 0:
        add(single("datetime", "Office", LabDateTime, ["works", "dead"]))

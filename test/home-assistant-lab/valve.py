from homeassistant.components.valve import ValveEntity
from homeassistant.components.valve import ValveEntityFeature as Feature

from . import Lab, single


class LabValve(Lab, ValveEntity):
    _attr_supported_features = Feature.OPEN | Feature.CLOSE
    _attr_reports_position = False
    _attr_is_closed = True
    _attr_device_class = "water"

    async def async_open_valve(self):
        await self.act(self.setter("_attr_is_closed", False))

    async def async_close_valve(self):
        await self.act(self.setter("_attr_is_closed", True))


async def async_setup_entry(hass, entry, add):
    if entry.data["devices"] == 0:
        add(single("valve", "Garden", LabValve, ["works", "dead"]))

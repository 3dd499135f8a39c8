from homeassistant.components.number import NumberEntity

from . import Lab, single


class LabNumber(Lab, NumberEntity):
    _attr_native_value = 5.0
    _attr_native_min_value = 0
    _attr_native_max_value = 10
    _attr_native_step = 0.5

    async def async_set_native_value(self, value):
        await self.act(self.setter("_attr_native_value", value))


async def async_setup_entry(hass, entry, add):
    count = entry.data["devices"]
    if count == 0:
        add(single("number", "Office", LabNumber, ["works", "dead", "raises"]))

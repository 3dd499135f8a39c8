from homeassistant.components.text import TextEntity

from . import Lab, single


class LabText(Lab, TextEntity):
    _attr_native_value = "before"
    _attr_native_max = 40

    async def async_set_value(self, value):
        await self.act(self.setter("_attr_native_value", value))


class Password(LabText):
    _attr_mode = "password"


async def async_setup_entry(hass, entry, add):
    if entry.data["devices"] == 0:
        add(single("text", "Office", LabText, ["works", "dead"]))
        add(single("password", "Office", Password, ["works"]))

from homeassistant.components.select import SelectEntity

from . import Lab, single


class LabSelect(Lab, SelectEntity):
    _attr_options = ["a", "b", "c"]
    _attr_current_option = "a"

    async def async_select_option(self, option):
        await self.act(self.setter("_attr_current_option", option))


async def async_setup_entry(hass, entry, add):
    count = entry.data["devices"]
    if count == 0:
        add(single("select", "Office", LabSelect, ["works", "dead"]))

from homeassistant.components.humidifier import HumidifierEntity
from homeassistant.components.humidifier import HumidifierEntityFeature as Feature

from . import Lab, single


class LabHumidifier(Lab, HumidifierEntity):
    _attr_supported_features = Feature.MODES
    _attr_available_modes = ["normal", "sleep"]
    _attr_mode = "normal"
    _attr_min_humidity = 30
    _attr_max_humidity = 80
    _attr_target_humidity = 40
    _attr_is_on = True

    async def async_set_humidity(self, humidity):
        await self.act(self.setter("_attr_target_humidity", humidity))

    async def async_set_mode(self, mode):
        await self.act(self.setter("_attr_mode", mode))

    async def async_turn_on(self, **asked):
        await self.act(self.setter("_attr_is_on", True))

    async def async_turn_off(self, **asked):
        await self.act(self.setter("_attr_is_on", False))


async def async_setup_entry(hass, entry, add):
    if entry.data["devices"] == 0:
        add(single("humidifier", "Bedroom", LabHumidifier, ["works", "dead"]))

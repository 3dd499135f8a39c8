from homeassistant.components.water_heater import WaterHeaterEntity
from homeassistant.components.water_heater import WaterHeaterEntityFeature as Feature

from . import Lab, single


class LabWaterHeater(Lab, WaterHeaterEntity):
    _attr_supported_features = (
        Feature.TARGET_TEMPERATURE | Feature.OPERATION_MODE | Feature.AWAY_MODE
    )
    _attr_temperature_unit = "°C"
    _attr_min_temp = 40
    _attr_max_temp = 65
    _attr_target_temperature = 50
    _attr_operation_list = ["eco", "performance"]
    _attr_current_operation = "eco"
    _attr_is_away_mode_on = False

    async def async_set_temperature(self, **asked):
        await self.act(self.setter("_attr_target_temperature", asked["temperature"]))

    async def async_set_operation_mode(self, operation_mode):
        await self.act(self.setter("_attr_current_operation", operation_mode))

    async def async_turn_away_mode_on(self):
        await self.act(self.setter("_attr_is_away_mode_on", True))

    async def async_turn_away_mode_off(self):
        await self.act(self.setter("_attr_is_away_mode_on", False))


async def async_setup_entry(hass, entry, add):
    if entry.data["devices"] == 0:
        add(single("heater", "Cellar", LabWaterHeater, ["works", "dead"]))

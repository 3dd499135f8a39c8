from homeassistant.components.climate import ClimateEntity, HVACMode
from homeassistant.components.climate import ClimateEntityFeature as Feature

from . import Lab, single


class LabClimate(Lab, ClimateEntity):
    _attr_temperature_unit = "°C"
    _attr_hvac_modes = [HVACMode.OFF, HVACMode.HEAT, HVACMode.AUTO]
    _attr_hvac_mode = HVACMode.HEAT
    _attr_supported_features = (
        Feature.TARGET_TEMPERATURE | Feature.PRESET_MODE | Feature.TURN_ON | Feature.TURN_OFF
    )
    _attr_target_temperature = 19.0
    _attr_target_temperature_step = 0.5
    _attr_current_temperature = 18.5
    _attr_min_temp = 5
    _attr_max_temp = 30
    _attr_preset_modes = ["comfort", "eco"]
    _attr_preset_mode = "eco"

    async def async_set_temperature(self, **asked):
        to = asked.get("temperature")
        if self.behaviour == "rounds":
            to = round(to)
        await self.act(self.setter("_attr_target_temperature", to))

    async def async_set_hvac_mode(self, hvac_mode):
        await self.act(self.setter("_attr_hvac_mode", hvac_mode))

    async def async_set_preset_mode(self, preset_mode):
        await self.act(self.setter("_attr_preset_mode", preset_mode))


async def async_setup_entry(hass, entry, add):
    count = entry.data["devices"]
    if count == 0:
        add(single("climate", "Bedroom", LabClimate, ["works", "dead", "rounds", "away"]))

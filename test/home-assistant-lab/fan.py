from homeassistant.components.fan import FanEntity, FanEntityFeature as Feature

from . import Lab, single


class LabFan(Lab, FanEntity):
    _attr_supported_features = (
        Feature.SET_SPEED
        | Feature.PRESET_MODE
        | Feature.OSCILLATE
        | Feature.DIRECTION
        | Feature.TURN_ON
        | Feature.TURN_OFF
    )
    _attr_speed_count = 4
    _attr_percentage = 25
    _attr_preset_modes = ["auto"]
    _attr_oscillating = False
    _attr_current_direction = "forward"

    async def async_set_percentage(self, percentage):
        # It has four speeds.
        await self.act(self.setter("_attr_percentage", -(-percentage // 25) * 25))

    async def async_set_preset_mode(self, preset_mode):
        await self.act(self.setter("_attr_preset_mode", preset_mode))

    async def async_oscillate(self, oscillating):
        await self.act(self.setter("_attr_oscillating", oscillating))

    async def async_set_direction(self, direction):
        await self.act(self.setter("_attr_current_direction", direction))

    async def async_turn_on(self, percentage=None, preset_mode=None, **asked):
        await self.act(self.setter("_attr_percentage", percentage or 25))

    async def async_turn_off(self, **asked):
        await self.act(self.setter("_attr_percentage", 0))


async def async_setup_entry(hass, entry, add):
    if entry.data["devices"] == 0:
        add(single("fan", "Office", LabFan, ["works", "dead"]))

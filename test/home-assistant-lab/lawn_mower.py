from homeassistant.components.lawn_mower import LawnMowerActivity, LawnMowerEntity
from homeassistant.components.lawn_mower import LawnMowerEntityFeature as Feature

from . import Lab, single


class LabMower(Lab, LawnMowerEntity):
    _attr_supported_features = Feature.START_MOWING | Feature.PAUSE | Feature.DOCK
    _attr_activity = LawnMowerActivity.DOCKED

    async def go(self, activity):
        if self.behaviour == "stuck":
            activity = LawnMowerActivity.ERROR
        await self.act(self.setter("_attr_activity", activity))

    async def async_start_mowing(self):
        await self.go(LawnMowerActivity.MOWING)

    async def async_pause(self):
        await self.go(LawnMowerActivity.PAUSED)

    async def async_dock(self):
        await self.go(LawnMowerActivity.DOCKED)


async def async_setup_entry(hass, entry, add):
    if entry.data["devices"] == 0:
        add(single("mower", "Garden", LabMower, ["works", "stuck"]))

from homeassistant.components.vacuum import StateVacuumEntity, VacuumActivity
from homeassistant.components.vacuum import VacuumEntityFeature as Feature

from . import Lab, single


class LabVacuum(Lab, StateVacuumEntity):
    _attr_supported_features = (
        Feature.START
        | Feature.PAUSE
        | Feature.STOP
        | Feature.RETURN_HOME
        | Feature.FAN_SPEED
        | Feature.LOCATE
        | Feature.STATE
    )
    _attr_activity = VacuumActivity.DOCKED
    _attr_fan_speed_list = ["quiet", "max"]
    _attr_fan_speed = "quiet"

    async def go(self, activity):
        if self.behaviour == "stuck":
            activity = VacuumActivity.ERROR
        await self.act(self.setter("_attr_activity", activity))

    async def async_start(self):
        await self.go(VacuumActivity.CLEANING)

    async def async_pause(self):
        await self.go(VacuumActivity.PAUSED)

    async def async_stop(self, **asked):
        await self.go(VacuumActivity.IDLE)

    async def async_return_to_base(self, **asked):
        await self.go(VacuumActivity.RETURNING)

    async def async_set_fan_speed(self, fan_speed, **asked):
        await self.act(self.setter("_attr_fan_speed", fan_speed))

    async def async_locate(self, **asked):
        await self.act(lambda: None)


async def async_setup_entry(hass, entry, add):
    if entry.data["devices"] == 0:
        add(single("vacuum", "Hall", LabVacuum, ["works", "dead", "stuck"]))

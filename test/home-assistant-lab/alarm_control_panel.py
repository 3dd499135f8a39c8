from homeassistant.components.alarm_control_panel import (
    AlarmControlPanelEntity,
    AlarmControlPanelState,
)
from homeassistant.components.alarm_control_panel import AlarmControlPanelEntityFeature as Feature

from . import Lab, single


class LabAlarm(Lab, AlarmControlPanelEntity):
    _attr_supported_features = Feature.ARM_AWAY | Feature.ARM_HOME
    _attr_alarm_state = AlarmControlPanelState.DISARMED
    _attr_code_format = None
    _attr_code_arm_required = False

    async def go(self, state):
        await self.act(self.setter("_attr_alarm_state", state))

    async def async_alarm_arm_away(self, code=None):
        # It counts down first.
        self._attr_alarm_state = AlarmControlPanelState.ARMING
        self.async_write_ha_state()
        await self.go(AlarmControlPanelState.ARMED_AWAY)

    async def async_alarm_arm_home(self, code=None):
        await self.go(AlarmControlPanelState.ARMED_HOME)

    async def async_alarm_disarm(self, code=None):
        await self.go(AlarmControlPanelState.DISARMED)


async def async_setup_entry(hass, entry, add):
    if entry.data["devices"] == 0:
        add(single("alarm", "Hall", LabAlarm, ["works"]))

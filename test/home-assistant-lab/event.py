from homeassistant.components.event import EventEntity

from . import Lab, single


class LabEvent(Lab, EventEntity):
    _attr_event_types = ["single", "double"]

    async def async_added_to_hass(self):
        self._trigger_event("double")


async def async_setup_entry(hass, entry, add):
    if entry.data["devices"] == 0:
        add(single("event", "Hall", LabEvent, ["works"]))

from datetime import timedelta

from homeassistant.components.calendar import CalendarEntity, CalendarEvent
from homeassistant.components.calendar import CalendarEntityFeature as Feature
from homeassistant.util import dt

from . import Lab, single


class LabCalendar(Lab, CalendarEntity):
    _attr_supported_features = Feature.CREATE_EVENT
    event = None

    async def async_get_events(self, hass, start_date, end_date):
        start = dt.now().replace(minute=0, second=0, microsecond=0) + timedelta(hours=2)
        return [CalendarEvent(start=start, end=start + timedelta(hours=1), summary="Dentist")]

    async def async_create_event(self, **asked):
        await self.act(lambda: None)


async def async_setup_entry(hass, entry, add):
    if entry.data["devices"] == 0:
        add(single("calendar", "Hall", LabCalendar, ["works"]))

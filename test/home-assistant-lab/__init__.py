"""Devices that obey, are dead, lie, answer late, hang or are away: what a judge of commands has to tell apart."""

import asyncio
from time import time as wall

from homeassistant.exceptions import HomeAssistantError, ServiceValidationError

PLATFORMS = [
    "alarm_control_panel",
    "binary_sensor",
    "button",
    "calendar",
    "camera",
    "climate",
    "cover",
    "date",
    "datetime",
    "event",
    "fan",
    "humidifier",
    "lawn_mower",
    "light",
    "lock",
    "media_player",
    "notify",
    "number",
    "select",
    "sensor",
    "siren",
    "switch",
    "text",
    "time",
    "todo",
    "update",
    "vacuum",
    "valve",
    "water_heater",
    "weather",
]
BEHAVIOURS = [
    "works",
    "dead",
    "optimistic",
    "liar",
    "revert",
    "raises",
    "validation",
    "timeout",
    "away",
    "slow",
    "hang",
    "late",
]
AREAS = (
    "Kitchen,Living room,Bedroom,Bathroom,Hall,Office,Garage,Garden,Cellar,Attic,Nursery,"
    "Guest room,Laundry,Terrace,Balcony,Workshop,Library,Dining room,Pantry,Porch"
).split(",")

ANSWERS_AFTER_S = 0.25
SLOW_S = 4
LATE_S = 8
REVERTS_AFTER_S = 2


async def async_setup_entry(hass, entry):
    await hass.config_entries.async_forward_entry_setups(entry, PLATFORMS)
    return True


async def async_unload_entry(hass, entry):
    return await hass.config_entries.async_unload_platforms(entry, PLATFORMS)


class Lab:
    """An entity of the lab, with what it does when it is told to change."""

    _attr_should_poll = False
    _attr_has_entity_name = True

    def describe(self, unique, device, area, behaviour="works", name=None, called=None):
        self.behaviour = behaviour
        self._attr_unique_id = unique
        self._attr_name = name
        self._attr_available = behaviour != "away"
        self._attr_assumed_state = behaviour == "optimistic"
        self._attr_device_info = {
            "identifiers": {("lab", device)},
            "name": called or device,
            "manufacturer": "Lab",
            "model": "L1",
            "suggested_area": area,
        }
        return self

    async def act(self, change, undo=None):
        behaviour = self.behaviour
        self.tell("called")
        if behaviour == "dead":
            return
        if behaviour == "raises":
            raise HomeAssistantError("the device did not acknowledge the command")
        if behaviour == "validation":
            raise ServiceValidationError("value is not supported")
        if behaviour == "timeout":
            await asyncio.sleep(0.2)
            raise TimeoutError
        if behaviour == "hang":
            await asyncio.sleep(3600)
        if behaviour == "slow":
            await asyncio.sleep(SLOW_S)
        if behaviour == "late":
            self._after(LATE_S, change)
        elif behaviour == "works":
            self._after(ANSWERS_AFTER_S, change)
        else:
            self._now(change)
        if behaviour == "revert" and undo:
            self._after(REVERTS_AFTER_S, undo)

    def _after(self, seconds, change):
        async def later():
            await asyncio.sleep(seconds)
            self._now(change)

        self.hass.async_create_background_task(later(), "lab")

    def _now(self, change):
        change()
        self.async_write_ha_state()
        self.tell("changed")

    def tell(self, what):
        """The test reads what really happened, also over a restart."""
        print(f"lab: {self._attr_unique_id} {what} {wall():.3f}", flush=True)

    def setter(self, name, value):
        return lambda: setattr(self, name, value)


def plug(n):
    """The n-th of many devices: its id, area and name."""
    area = AREAS[n % len(AREAS)]
    return f"d{n}", area, f"{area} plug {n}"


def single(kind, area, cls, behaviours, more=""):
    """One device with one entity for each behaviour. `more` ends the names of a second set."""
    return [
        cls().describe(f"{kind}_{one}{more}", f"{kind}_{one}{more}", area, one, called=f"{kind.title()} {one}{more}")
        for one in behaviours
    ]


def again(devices):
    """The name of a further set of switches and lights."""
    return " two" if devices == -1 else " three"

import random
from datetime import timedelta

from homeassistant.components.sensor import SensorEntity
from homeassistant.helpers.event import async_track_time_interval

from . import Lab, plug

FAST = 50


class LabSensor(Lab, SensorEntity):
    def __init__(self, device_class, unit, state_class="measurement", category=None, fast=False):
        self._attr_device_class = device_class
        self._attr_native_unit_of_measurement = unit
        self._attr_state_class = state_class
        self._attr_entity_category = category
        self.fast = fast
        self.measure()

    def measure(self):
        self._attr_native_value = round(random.random() * 100, 1)

    async def async_added_to_hass(self):
        def tick(_):
            self.measure()
            self.schedule_update_ha_state()

        if self.fast:
            self.async_on_remove(async_track_time_interval(self.hass, tick, timedelta(seconds=1)))


def of_plug(n):
    device, area, called = plug(n)
    kinds = [
        ("Power", LabSensor("power", "W", fast=n < FAST)),
        ("Energy", LabSensor("energy", "kWh", "total_increasing")),
        ("Temperature", LabSensor("temperature", "°C")),
        ("Signal", LabSensor("signal_strength", "dBm", category="diagnostic")),
    ]
    return [
        one.describe(f"{n}_{name}", device, area, name=name, called=called) for name, one in kinds
    ]


async def async_setup_entry(hass, entry, add):
    count = entry.data["devices"]
    add([one for n in range(count) for one in of_plug(n)])
    if count == 0:
        meter = LabSensor("power", "W", fast=True)
        add([meter.describe("meter", "meter", "Cellar", name="Power", called="Fast meter")])

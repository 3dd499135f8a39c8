import asyncio

from homeassistant.components.cover import CoverEntity
from homeassistant.components.cover import CoverEntityFeature as Feature

from . import Lab, single

STEP_S = 0.2
STUCK_AT = 40


class LabCover(Lab, CoverEntity):
    _attr_supported_features = Feature.OPEN | Feature.CLOSE | Feature.STOP | Feature.SET_POSITION
    _attr_device_class = "garage"
    _attr_current_cover_position = 0
    _attr_is_opening = False
    _attr_is_closing = False
    moving = None

    @property
    def is_closed(self):
        return self._attr_current_cover_position == 0

    async def go(self, to):
        if self.behaviour == "dead":
            return
        if self.moving:
            self.moving.cancel()
        self.moving = self.hass.async_create_background_task(self.move(to), "lab cover")

    async def move(self, to):
        at = self._attr_current_cover_position
        self._attr_is_opening, self._attr_is_closing = to > at, to < at
        self.async_write_ha_state()
        while at != to:
            await asyncio.sleep(STEP_S)
            at += max(-10, min(10, to - at))
            self._attr_current_cover_position = at
            if self.behaviour == "stuck" and at >= STUCK_AT:
                break
            self.async_write_ha_state()
        self.halt()

    def halt(self):
        self._attr_is_opening = self._attr_is_closing = False
        self.async_write_ha_state()

    async def async_open_cover(self, **asked):
        await self.go(100)

    async def async_close_cover(self, **asked):
        await self.go(0)

    async def async_set_cover_position(self, **asked):
        await self.go(asked["position"])

    async def async_stop_cover(self, **asked):
        if self.moving:
            self.moving.cancel()
        self.halt()


async def async_setup_entry(hass, entry, add):
    count = entry.data["devices"]
    if count == 0:
        add(single("cover", "Garage", LabCover, ["works", "dead", "stuck", "away"]))

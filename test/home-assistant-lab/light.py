from homeassistant.components.light import ColorMode, LightEntity

from . import BEHAVIOURS, Lab, plug, single


class LabLight(Lab, LightEntity):
    _attr_is_on = False
    _attr_brightness = 100
    _attr_color_mode = ColorMode.BRIGHTNESS
    _attr_supported_color_modes = {ColorMode.BRIGHTNESS}

    async def async_turn_on(self, **asked):
        def change():
            self._attr_is_on = True
            self._attr_brightness = asked.get("brightness", self._attr_brightness)

        await self.act(change, self.setter("_attr_is_on", False))

    async def async_turn_off(self, **asked):
        await self.act(self.setter("_attr_is_on", False), self.setter("_attr_is_on", True))


def one_of_many(n):
    device, area, called = plug(n)
    return LabLight().describe(f"{n}_light", device, area, called=called)


async def async_setup_entry(hass, entry, add):
    count = entry.data["devices"]
    if count == 0:
        add(single("light", "Workshop", LabLight, BEHAVIOURS))
    else:
        add([one_of_many(n) for n in range(count)])

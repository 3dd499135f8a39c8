from homeassistant.components.light import ColorMode, LightEntity

from . import BEHAVIOURS, Lab, again, plug, single


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


class ColourLight(LabLight):
    _attr_color_mode = ColorMode.COLOR_TEMP
    _attr_supported_color_modes = {ColorMode.COLOR_TEMP, ColorMode.HS}
    _attr_color_temp_kelvin = 4000

    async def async_turn_on(self, **asked):
        def change():
            self._attr_is_on = True
            if "hs_color" in asked:
                self._attr_color_mode = ColorMode.HS
                self._attr_hs_color = asked["hs_color"]
            if "color_temp_kelvin" in asked:
                self._attr_color_mode = ColorMode.COLOR_TEMP
                # It counts in mireds.
                self._attr_color_temp_kelvin = round(1e6 / round(1e6 / asked["color_temp_kelvin"]))

        await self.act(change)


def one_of_many(n):
    device, area, called = plug(n)
    return LabLight().describe(f"{n}_light", device, area, called=called)


async def async_setup_entry(hass, entry, add):
    count = entry.data["devices"]
    if count == 0:
        add(single("light", "Workshop", LabLight, BEHAVIOURS))
        add(single("lamp", "Workshop", ColourLight, ["works", "dead"]))
    elif count < 0:
        add(single("light", "Workshop", LabLight, BEHAVIOURS, again(count)))
    else:
        add([one_of_many(n) for n in range(count)])

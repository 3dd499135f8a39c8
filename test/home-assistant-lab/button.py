from homeassistant.components.button import ButtonEntity

from . import Lab, single


class LabButton(Lab, ButtonEntity):
    async def async_press(self):
        await self.act(lambda: None)


async def async_setup_entry(hass, entry, add):
    count = entry.data["devices"]
    if count == 0:
        add(single("button", "Office", LabButton, ["works", "dead", "raises", "away"]))

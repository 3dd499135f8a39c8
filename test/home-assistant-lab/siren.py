from homeassistant.components.siren import SirenEntity
from homeassistant.components.siren import SirenEntityFeature as Feature

from . import Lab, single


class LabSiren(Lab, SirenEntity):
    _attr_supported_features = (
        Feature.TURN_ON
        | Feature.TURN_OFF
        | Feature.TONES
        | Feature.DURATION
        | Feature.VOLUME_SET
    )
    _attr_available_tones = ["fire", "burglar"]
    _attr_is_on = False

    async def async_turn_on(self, **asked):
        await self.act(self.setter("_attr_is_on", True))

    async def async_turn_off(self, **asked):
        await self.act(self.setter("_attr_is_on", False))


async def async_setup_entry(hass, entry, add):
    if entry.data["devices"] == 0:
        add(single("siren", "Attic", LabSiren, ["works", "dead"]))

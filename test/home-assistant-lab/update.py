from homeassistant.components.update import UpdateEntity
from homeassistant.components.update import UpdateEntityFeature as Feature

from . import Lab, single


class LabUpdate(Lab, UpdateEntity):
    _attr_supported_features = Feature.INSTALL
    _attr_installed_version = "1.0"
    _attr_latest_version = "1.1"

    async def async_install(self, version, backup, **asked):
        await self.act(self.setter("_attr_installed_version", "1.1"))


async def async_setup_entry(hass, entry, add):
    if entry.data["devices"] == 0:
        add(single("update", "Hall", LabUpdate, ["works"]))

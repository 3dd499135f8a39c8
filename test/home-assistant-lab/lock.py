from homeassistant.components.lock import LockEntity

from . import Lab, single


class LabLock(Lab, LockEntity):
    _attr_is_locked = True

    async def async_lock(self, **asked):
        if self.behaviour == "stuck":
            await self.act(self.setter("_attr_is_jammed", True))
            return
        await self.act(self.setter("_attr_is_locked", True), self.setter("_attr_is_locked", False))

    async def async_unlock(self, **asked):
        await self.act(self.setter("_attr_is_locked", False), self.setter("_attr_is_locked", True))


class CodeLock(LabLock):
    _attr_code_format = r"^\d{4}$"


async def async_setup_entry(hass, entry, add):
    if entry.data["devices"] == 0:
        add(single("lock", "Porch", LabLock, ["works", "dead", "away", "revert", "stuck"]))
        add([CodeLock().describe("lock_code", "lock_code", "Porch", called="Lock code")])

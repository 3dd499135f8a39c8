from homeassistant.components.switch import SwitchEntity

from . import BEHAVIOURS, Lab, again, plug, single


class LabSwitch(Lab, SwitchEntity):
    _attr_is_on = False

    async def async_turn_on(self, **asked):
        await self.act(self.setter("_attr_is_on", True), self.setter("_attr_is_on", False))

    async def async_turn_off(self, **asked):
        await self.act(self.setter("_attr_is_on", False), self.setter("_attr_is_on", True))


def one_of_many(n):
    device, area, called = plug(n)
    return LabSwitch().describe(f"{n}_switch", device, area, name="Outlet", called=called)


async def async_setup_entry(hass, entry, add):
    count = entry.data["devices"]
    if count == 0:
        add(single("switch", "Workshop", LabSwitch, BEHAVIOURS))
    elif count < 0:
        add(single("switch", "Workshop", LabSwitch, BEHAVIOURS, again(count)))
    elif not entry.data.get("few"):
        add([one_of_many(n) for n in range(count)])

"""One device of many parts by ha-mqtt-device, in the device form of MQTT discovery. Each part does what it is told, and reports it.

Arguments: the broker's port. At each line of its input somebody rings and shows a tag. Ends when its input does.
"""

import asyncio
import json
import sys

from ha_mqtt_device import (
    AioMqttProvider,
    AlarmControlPanel,
    Climate,
    Cover,
    Date,
    DateTime,
    Device,
    DeviceInfo,
    EventEntity,
    Fan,
    Humidifier,
    Image,
    LawnMower,
    Light,
    Lock,
    Number,
    Scene,
    Sensor,
    Siren,
    TagScanner,
    Text,
    Time,
    Update,
    Valve,
    WaterHeater,
)

# The smallest PNG.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001"
    "e221bc330000000049454e44ae426082"
)

light = Light(
    unique_id="br9_light",
    name="Ceiling",
    brightness_enabled=True,
    color_temp_enabled=True,
    color_temp_kelvin=True,
    effect_enabled=True,
    effect_list=["none", "pulse"],
)
floor = Climate(
    unique_id="br9_floor",
    name="Floor heating",
    modes=["off", "heat", "auto"],
    temperature_unit="C",
    min_temp=10,
    max_temp=28,
    temp_step=0.5,
)
dryer = Humidifier(
    unique_id="br9_dehum", name="Dryer", device_class="dehumidifier", min_humidity=35, max_humidity=70
)
lock = Lock(unique_id="br9_lock", name="Cellar door", payload_open="OPEN")
tank = WaterHeater(
    unique_id="br9_wh",
    name="Tank",
    modes=["off", "eco", "performance"],
    temperature_unit="C",
    min_temp=40,
    max_temp=65,
    power_enabled=True,
)
valve = Valve(unique_id="br9_main", name="Main water", reports_position=True)
siren = Siren(unique_id="br9_siren", name="Horn", available_tones=["leak", "fire"])
firmware = Update(unique_id="br9_fw", name="Firmware", device_class="firmware")
mower = LawnMower(unique_id="br9_mow", name="Mower")
alarm = AlarmControlPanel(unique_id="br9_alarm", name="Alarm")
fan = Fan(unique_id="br9_fan", name="Vent", speed_range_max=4, oscillation_enabled=True)
garage = Cover(unique_id="br9_gar", name="Garage door", device_class="garage")
pump = Number(
    unique_id="br9_pump", name="Pump speed", max_value=3000, step=50, unit_of_measurement="rpm"
)
holiday = Scene(unique_id="br9_scene", name="Holiday")
flow = Sensor(unique_id="br9_t", name="Flow temperature", device_class="temperature", unit_of_measurement="°C")
service = Date(unique_id="br9_service", name="Next service")
wake = Time(unique_id="br9_wake", name="Warm water from")
away = DateTime(unique_id="br9_away", name="Away until")
label = Text(unique_id="br9_label", name="Label", max_length=20)
bell = EventEntity(
    unique_id="br9_bell",
    name="Bell",
    device_class="doorbell",
    event_types=["press"],
    value_template='{"event_type": "{{ value }}"}',
)
tag = TagScanner(unique_id="br9_tag", name="Key tag", topic="boiler-room-9/tag")
plan = Image(unique_id="br9_plan", name="Plan", content_type="image/png")

entities = [value for value in list(globals().values()) if hasattr(value, "discovery_config") and not isinstance(value, type)]


async def on_light(event):
    set_by_kind = {
        "command_topic": lambda: light.set_state(event.message == "ON"),
        "brightness_command_topic": lambda: light.set_brightness(int(float(event.message))),
        "color_temp_command_topic": lambda: light.set_color_temp(int(float(event.message))),
        "effect_command_topic": lambda: light.set_effect(event.message),
    }
    await set_by_kind[event.topic_type]()


async def on_floor(event):
    if event.topic_type == "mode_command_topic":
        await floor.set_mode(event.message)
    else:
        await floor.set_target_temperature(float(event.message))


async def on_dryer(event):
    if event.topic_type == "command_topic":
        await dryer.set_state(event.message == "ON")
    else:
        await dryer.set_target_humidity(float(event.message))


async def on_lock(event):
    await lock.set_state({"lock": "locked", "unlock": "unlocked", "open": "unlocked"}[event.state])


async def on_tank(event):
    if event.topic_type == "temperature_command_topic":
        await tank.set_target_temperature(float(event.message))
    elif event.topic_type == "mode_command_topic":
        await tank.set_mode(event.message)
    else:
        await tank.set_mode("eco" if event.message == "ON" else "off")


async def on_valve(event):
    await report_valve({"OPEN": "100", "CLOSE": "0"}.get(event.message, event.message))


async def report_valve(position):
    # The library sends a position as a command, and reports only words.
    await valve._require_device().provider.publish(valve.state_topic, position, retain=True)


async def on_away(event):
    await report_away(event.message)


async def report_away(moment):
    # The library leaves the zone out.
    await away._require_device().provider.publish(away.state_topic, moment, retain=True)


async def on_siren(event):
    told = json.loads(event.message) if event.message.startswith("{") else {"state": event.message}
    await siren.set_state(told.get("state") != "OFF", tone=told.get("tone"), duration=told.get("duration"))


async def on_mower(event):
    await mower.set_state({"start_mowing": "mowing", "pause": "paused", "dock": "docked"}[event.message])


async def on_alarm(event):
    await alarm.set_state(event.state)


async def on_fan(event):
    if event.topic_type == "percentage_command_topic":
        await fan.set_percentage(int(event.message))
    elif event.topic_type == "oscillation_command_topic":
        await fan.set_oscillation(event.message == "oscillate_on")
    else:
        await fan.set_state(event.message == "ON")


async def on_garage(event):
    position = {"OPEN": 100, "CLOSE": 0}.get(event.message)
    if event.message == "STOP":
        return await garage.set_state("stopped")
    position = int(event.message) if position is None else position
    await garage.set_state("opening" if position else "closing")
    await garage.set_position(position)
    await garage.set_state("open" if position else "closed")


def echo(entity, convert=str):
    async def on_command(event):
        await entity.set_state(convert(event.message))

    return on_command


async def main() -> None:
    provider = AioMqttProvider(hostname="127.0.0.1", port=int(sys.argv[1]))
    info = DeviceInfo(
        device_id="boiler-room-9",
        name="Boiler room",
        manufacturer="Own make",
        model="BR9",
        serial_number="BR9-0042",
        suggested_area="Cellar",
    )
    handlers = [
        (light, on_light),
        (floor, on_floor),
        (dryer, on_dryer),
        (lock, on_lock),
        (tank, on_tank),
        (valve, on_valve),
        (siren, on_siren),
        (mower, on_mower),
        (alarm, on_alarm),
        (fan, on_fan),
        (garage, on_garage),
        (pump, echo(pump, float)),
        (service, echo(service)),
        (wake, echo(wake)),
        (away, on_away),
        (label, echo(label)),
    ]
    async with provider:
        async with Device(provider, info, entities=entities):
            for entity, handler in handlers:
                await entity.on_event(handler)
            await light.set_state(False)
            await light.set_brightness(120)
            await light.set_color_temp(2700)
            await light.set_effect("none")
            await floor.set_mode("heat")
            await floor.set_target_temperature(20)
            await floor.set_current_temperature(19.5)
            await dryer.set_state(False)
            await dryer.set_target_humidity(50)
            await lock.set_state("locked")
            await tank.set_mode("eco")
            await tank.set_target_temperature(55)
            await tank.set_current_temperature(51)
            await report_valve("100")
            await siren.set_state(False)
            await firmware.set_state(installed_version="1.0", latest_version="1.1")
            await mower.set_state("docked")
            await alarm.set_state("disarmed")
            await fan.set_state(False)
            await fan.set_percentage(1)
            await fan.set_oscillation(False)
            await garage.set_position(0)
            await garage.set_state("closed")
            await pump.set_state(1000)
            await flow.set_state(41.5)
            await service.set_state("2027-03-01")
            await wake.set_state("06:00:00")
            await report_away("2027-01-02T08:00:00+00:00")
            await label.set_state("Cellar north")
            await plan.set_image(PNG)
            print("ready", flush=True)
            loop = asyncio.get_running_loop()
            while await loop.run_in_executor(None, sys.stdin.readline):
                await bell.set_event("press")
                await tag.scan("04-a1-23-ff")


asyncio.run(main())

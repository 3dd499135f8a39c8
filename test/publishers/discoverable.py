"""Devices by ha-mqtt-discoverable. Each does what it is told, and reports it, as far as it may.

Arguments: the broker's port, and "box" (one device of many kinds) or "fleet" (the JSON list of them on the first line of the input).
Then each line of the input is JSON: {"name", "online"} or {"name", "value"}. Ends when its input does.
"""

import json
import sys
import threading

import paho.mqtt.client as mqtt
from ha_mqtt_discoverable import DeviceInfo, Settings
from ha_mqtt_discoverable.sensors import (
    BinarySensor,
    BinarySensorInfo,
    Button,
    ButtonInfo,
    Camera,
    CameraInfo,
    Cover,
    CoverInfo,
    DeviceTrigger,
    DeviceTriggerInfo,
    Light,
    LightInfo,
    Lock,
    LockInfo,
    Number,
    NumberInfo,
    Select,
    SelectInfo,
    Sensor,
    SensorInfo,
    Switch,
    SwitchInfo,
    Text,
    TextInfo,
    Valve,
    ValveInfo,
)

# The smallest PNG.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001"
    "e221bc330000000049454e44ae426082"
)

client = mqtt.Client(callback_api_version=mqtt.CallbackAPIVersion.VERSION2)
connected = threading.Event()
client.on_connect = lambda *_: connected.set()
client.connect("127.0.0.1", int(sys.argv[1]))
client.loop_start()
connected.wait()
entities = {}


def add(kind, info, on_command=None):
    """Announces an entity. `on_command(entity, text)` is called for each command."""
    settings = Settings(mqtt=Settings.MQTT(client=client), entity=info, manual_availability=True)
    if on_command is None:
        entity = kind(settings)
    else:
        entity = kind(settings, lambda _client, _data, message: on_command(entity, message.payload.decode()))
    entity.write_config()
    entity.set_availability(True)
    entities[info.name] = entity
    return entity


def on_switch(entity, text):
    entity.on() if text == "ON" else entity.off()


def on_light(entity, text):
    told = json.loads(text)
    entity._update_state(json.dumps({"color_mode": "rgb", "brightness": 128, **told}), force_update=True)


def on_lock(entity, text):
    entity.locked() if text == "LOCK" else entity.unlocked()


def on_door(entity, text):
    """It takes its time: first that it moves, then where it is."""
    if text == "STOP":
        return entity.stopped()
    entity.opening() if text == "OPEN" else entity.closing()
    entity.open() if text == "OPEN" else entity.closed()


def box():
    device = DeviceInfo(
        name="Workshop box",
        model="WB7",
        manufacturer="Own make",
        sw_version="3.2",
        identifiers="workshop-box-7",
        suggested_area="Workshop",
    )

    def of(info, name, **more):
        return info(name=name, device=device, unique_id=f"wb7_{name.lower().replace(' ', '_')}", **more)

    add(Valve, of(ValveInfo, "Air valve"), on_door).closed()
    add(Cover, of(CoverInfo, "Roller door", device_class="garage"), on_door).closed()
    add(
        Number,
        of(NumberInfo, "Target pressure", min=2, max=9, step=0.5, unit_of_measurement="bar"),
        lambda entity, text: entity.set_value(float(text)),
    ).set_value(4)
    add(Text, of(TextInfo, "Display text", max=32), lambda entity, text: entity.set_text(text)).set_text("hello")
    add(
        Select,
        of(SelectInfo, "Mode", options=["auto", "quiet", "boost"]),
        lambda entity, text: entity.select_option(text),
    ).select_option("auto")
    add(Button, of(ButtonInfo, "Restart compressor", device_class="restart"), lambda _entity, _text: None)
    add(Switch, of(SwitchInfo, "Compressor"), on_switch).off()
    add(Lock, of(LockInfo, "Tool cabinet"), on_lock).locked()
    light = of(
        LightInfo,
        "Bench light",
        brightness=True,
        color_mode=True,
        supported_color_modes=["rgb"],
        effect=True,
        effect_list=["blink", "none"],
    )
    add(Light, light, on_light).off()
    trigger = DeviceTriggerInfo(
        name="btn",
        device=device,
        unique_id="wb7_btn",
        type="button_short_press",
        subtype="button_1",
    )
    add(DeviceTrigger, trigger)
    add(Sensor, of(SensorInfo, "Dust", device_class="pm25", unit_of_measurement="µg/m³")).set_state(12)
    add(BinarySensor, of(BinarySensorInfo, "Door", device_class="door")).off()
    add(Camera, of(CameraInfo, "Camera", topic="hmd/camera/Workshop-box/picture"))


def fleet(devices):
    """Each is an entity without a device, so that it has one name everywhere."""
    for one in devices:
        name, kind, behaviour = one["name"], one["kind"], one["behaviour"]
        optimistic = True if behaviour == "optimistic" else None

        def on_command(entity, text, behaviour=behaviour, kind=kind):
            if behaviour in ("works", "optimistic"):
                if behaviour == "works":
                    on_light(entity, text) if kind == "light" else on_switch(entity, text)
            elif behaviour == "stuck":
                entity._update_state(entity.last_state, force_update=True)

        info = LightInfo if kind == "light" else SwitchInfo
        more = {"brightness": True} if kind == "light" else {}
        entity = add(
            Light if kind == "light" else Switch,
            info(name=name, unique_id=one["id"], optimistic=optimistic, **more),
            on_command,
        )
        if behaviour != "optimistic":
            entity.off()
        if behaviour == "unavailable":
            entity.set_availability(False)


def tell(line):
    told = json.loads(line)
    entity = entities[told["name"]]
    if "online" in told:
        entity.set_availability(told["online"])
    elif isinstance(entity, BinarySensor):
        entity.on() if told["value"] else entity.off()
    elif isinstance(entity, DeviceTrigger):
        entity.trigger(told["value"])
    elif isinstance(entity, Camera):
        entity.set_payload(PNG)
    else:
        entity._update_state(told["value"], force_update=True)


if sys.argv[2] == "box":
    box()
else:
    fleet(json.loads(sys.stdin.readline()))
print("ready", flush=True)
for line in sys.stdin:
    tell(line)

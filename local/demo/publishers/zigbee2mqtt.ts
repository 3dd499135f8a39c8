/** zigbee2mqtt: what it says of itself, the states of its devices, and the commands that it takes. */
import type { DemoDevice, State } from "../house.ts";
import { devicesOf, jsonObject, onOrOff, type Program, type ProgramParts, rounded } from "./program.ts";
import { addressOf, BASE, COORDINATOR, configsOf, VERSION } from "./zigbee-configs.ts";
import { listedDevice } from "./zigbee-list.ts";

const COMMAND = new RegExp(`^${BASE}/([^/]+)/(set|get)(?:/([^/]+))?$`);
/** The cluster of a light's `state` and `brightness`, as an error names them. */
const CLUSTERS: Readonly<Record<string, string>> = {
  state: "genOnOff.on",
  brightness: "genLevelCtrl.moveToLevelWithOnOff",
};

export function zigbee2mqtt({ say, get, command, now }: ProgramParts): Program {
  const devices = devicesOf("zigbee2mqtt");
  const availability = ({ name }: DemoDevice, isOnline: boolean) =>
    say(`${BASE}/${name}/availability`, { state: isOnline ? "online" : "offline" }, true);
  const report = (device: DemoDevice) => say(`${BASE}/${device.name}`, stateOf(device, get(device.name)));
  const log = (message: string) =>
    say(`${BASE}/bridge/logging`, { level: "error", message, namespace: "z2m" });
  const failed = (device: DemoDevice, type: "set" | "get", attribute: string) => {
    const sent = type === "get" ? "genOnOff.read" : (CLUSTERS[attribute] ?? CLUSTERS.state);
    log(
      `z2m: Publish '${type}' '${attribute}' to '${device.name}' failed: 'Error: ZCL command ${addressOf(device)}/1 ${sent}({}, …) failed (Data request failed with error: 'MAC no ack' (0xe9))'`,
    );
  };

  return {
    topics: [`${BASE}/+/set`, `${BASE}/+/set/+`, `${BASE}/+/get`],
    announce() {
      say(`${BASE}/bridge/state`, { state: "online" }, true);
      say(`${BASE}/bridge/info`, infoOf(devices), true);
      say(`${BASE}/bridge/devices`, devices.map(listedDevice), true);
      for (const device of devices) {
        for (const [topic, config] of configsOf(device)) say(topic, config, true);
        availability(device, true);
      }
    },
    report,
    receive(topic, payload) {
      const [, name, kind, attribute] = COMMAND.exec(topic) ?? [];
      const device = devices.find((one) => one.name === name);
      if (!device) {
        if (kind !== undefined) log(`z2m: Entity '${name}' is unknown`);
        return;
      }
      const members = attribute === undefined ? jsonObject(payload) : { [attribute]: payload };
      if (kind === "get") {
        if (device.fault === "dead") failed(device, "get", Object.keys(members ?? {})[0] ?? "state");
        else report(device);
        return;
      }
      // A text alone is the state.
      const change = changeOf(device, get(device.name), members ?? { state: payload });
      if (change) command(device, change);
      else log(`z2m: No converter available for '${attribute ?? "set"}' on '${device.name}': (${payload})`);
    },
    online: availability,
    noAnswer: (device, change) =>
      failed(device, "set", change.brightness === undefined ? "state" : "brightness"),
    leave() {
      for (const device of devices) availability(device, false);
      say(`${BASE}/bridge/state`, { state: "offline" }, true);
    },
  };

  function infoOf(devices: readonly DemoDevice[]): object {
    return {
      commit: "demo",
      config: {
        devices: Object.fromEntries(
          devices.map((device) => [addressOf(device), { friendly_name: device.name }]),
        ),
      },
      coordinator: { ieee_address: COORDINATOR, type: "zStack3x0" },
      log_level: "info",
      network: { channel: 11, pan_id: 6_754 },
      permit_join: false,
      restart_required: false,
      started: now(),
      version: VERSION,
    };
  }
}

/** What the device's message has, in the order of the alphabet. */
function stateOf({ kind, can, starts }: DemoDevice, state: Readonly<State>): object {
  const { on, brightness, mireds, xy = [0, 0], battery } = state;
  const members: Record<string, unknown> = { linkquality: starts.battery === undefined ? 142 : 96 };
  if (battery !== undefined) members.battery = battery;
  switch (kind) {
    case "light":
      members.state = on ? "ON" : "OFF";
      members.brightness = brightness;
      if (can.includes("white")) Object.assign(members, { color_mode: "color_temp", color_temp: mireds });
      if (can.includes("colour")) Object.assign(members, { color_mode: "xy", color: { x: xy[0], y: xy[1] } });
      break;
    case "cover":
      members.position = state.position;
      members.state = state.position === 0 ? "CLOSE" : "OPEN";
      break;
    case "climate":
      members.local_temperature = rounded(state.temperature, 1);
      members.occupied_heating_setpoint = state.setpoint;
      members.running_state = state.isHeating ? "heat" : "idle";
      members.system_mode = state.mode;
      break;
    case "lock":
      members.lock_state = state.isLocked ? "locked" : "unlocked";
      members.state = state.isLocked ? "LOCK" : "UNLOCK";
      break;
    case "contact":
      members.contact = !state.open;
      break;
    case "motion":
      members.occupancy = state.isOccupied;
      break;
    case "leak":
      members.water_leak = state.isWet;
      break;
    default:
      members.temperature = rounded(state.temperature, 2);
      if (can.includes("humidity")) members.humidity = rounded(state.humidity, 2);
  }
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** @returns what a command changes; undefined when the device takes nothing of it */
function changeOf(
  { kind, can }: DemoDevice,
  state: Readonly<State>,
  members: Record<string, unknown>,
): State | undefined {
  const number = (member: string) => {
    const given = members[member];
    return given === undefined || given === "" || !Number.isFinite(Number(given)) ? undefined : Number(given);
  };
  const word = typeof members.state === "string" ? members.state.toUpperCase() : undefined;
  const change: State = {};
  if (kind === "light") {
    const on = word === undefined ? undefined : onOrOff(word, state.on);
    const brightness = number("brightness");
    const mireds = can.includes("white") ? number("color_temp") : undefined;
    const { color } = members;
    const { x, y } = (can.includes("colour") && typeof color === "object" ? (color ?? {}) : {}) as Record<
      string,
      unknown
    >;
    if (brightness !== undefined) change.brightness = brightness;
    if (mireds !== undefined) change.mireds = mireds;
    if (typeof x === "number" && typeof y === "number") change.xy = [x, y];
    // A level or a colour switches it on.
    if (on !== undefined) change.on = on;
    else if (brightness !== undefined) change.on = brightness > 0;
  } else if (kind === "cover") {
    const position = number("position");
    if (position !== undefined) change.target = position;
    else if (word === "OPEN") change.target = 100;
    else if (word === "CLOSE") change.target = 0;
    else if (word === "STOP" && state.position !== undefined) change.target = state.position;
  } else if (kind === "climate") {
    const setpoint = number("occupied_heating_setpoint");
    const mode = members.system_mode;
    if (setpoint !== undefined) change.setpoint = setpoint;
    if (mode === "off" || mode === "auto" || mode === "heat") change.mode = mode;
  } else if (kind === "lock" && (word === "LOCK" || word === "UNLOCK")) change.isLocked = word === "LOCK";
  return Object.keys(change).length > 0 ? change : undefined;
}

/** Plugs and a light with Tasmota: its own discovery, and the topics `cmnd`, `stat` and `tele` of each device. */
import type { DemoDevice, State } from "../house.ts";
import { devicesOf, onOrOff, type Program, type ProgramParts, rounded, serialOf, slug } from "./program.ts";

const VERSION = "15.1.0(release-tasmota)";
const VOLTS = 231;

export function tasmota({ say, get, command, now }: ProgramParts): Program {
  const devices = devicesOf("tasmota");
  const online = (device: DemoDevice, isOnline: boolean) =>
    say(`tele/${topicOf(device)}/LWT`, isOnline ? "Online" : "Offline", true);
  /** Its own clock, without the zone. */
  const time = () => new Date(now()).toISOString().slice(0, 19);
  const power = ({ name }: DemoDevice) => (get(name).on ? "ON" : "OFF");
  const state = (device: DemoDevice) => ({
    Time: time(),
    Uptime: "3T04:11:52",
    UptimeSec: 274_312,
    Heap: 25,
    SleepMode: "Dynamic",
    Sleep: 50,
    LoadAvg: 19,
    MqttCount: 1,
    POWER: power(device),
    Wifi: {
      AP: 1,
      SSId: "demo",
      Channel: 6,
      Mode: "HT20",
      RSSI: 82,
      Signal: -59,
      LinkCount: 1,
      Downtime: "0T00:00:03",
    },
  });
  const sensors = (device: DemoDevice) => ({ Time: time(), ENERGY: energyOf(get(device.name)) });
  const hasMeter = ({ can }: DemoDevice) => can.includes("power");

  return {
    topics: devices.map((device) => `cmnd/${topicOf(device)}/+`),
    announce() {
      for (const device of devices) {
        online(device, true);
        say(`tasmota/discovery/${macOf(device)}/config`, configOf(device), true);
        const sn = hasMeter(device) ? sensors(device) : { Time: time() };
        say(`tasmota/discovery/${macOf(device)}/sensors`, { sn, ver: 1 }, true);
      }
    },
    report(device, reason) {
      const topic = topicOf(device);
      if (reason === "changed") {
        say(`stat/${topic}/RESULT`, { POWER: power(device) });
        say(`stat/${topic}/POWER`, power(device));
      } else {
        say(`tele/${topic}/STATE`, state(device));
        if (hasMeter(device)) say(`tele/${topic}/SENSOR`, sensors(device));
      }
    },
    receive(topic, payload) {
      const [, name, word = ""] = topic.split("/");
      const device = devices.find((one) => topicOf(one) === name);
      if (!device) return;
      const asked = word.toUpperCase();
      if (asked === "POWER" || asked === "POWER1") {
        const on = onOrOff({ 0: "OFF", 1: "ON", 2: "TOGGLE" }[payload] ?? payload, get(device.name).on);
        if (on === undefined) say(`stat/${name}/RESULT`, { POWER: power(device) });
        else command(device, { on });
      } else if (asked === "STATE") say(`stat/${name}/RESULT`, state(device));
      else if (asked === "STATUS" && payload === "10")
        say(`stat/${name}/STATUS10`, { StatusSNS: hasMeter(device) ? sensors(device) : { Time: time() } });
      else say(`stat/${name}/RESULT`, { Command: "Unknown" });
    },
    online,
    leave() {
      for (const device of devices) online(device, false);
    },
  };
}

function macOf(device: DemoDevice): string {
  return `A0B1C2${serialOf(device).toUpperCase()}`;
}

function topicOf(device: DemoDevice): string {
  return `tasmota_${slug(device.name, "_")}`;
}

function configOf(device: DemoDevice): object {
  const isLight = device.kind === "light";
  const host = `tasmota-${serialOf(device)}-${parseInt(serialOf(device), 16) % 8_192}`;
  return {
    ip: `192.168.1.${parseInt(serialOf(device).slice(-2), 16) + 40}`,
    dn: device.name,
    fn: [device.name, ...Array<null>(7).fill(null)],
    hn: host,
    mac: macOf(device),
    md: isLight ? "Sonoff Mini R2" : device.can.includes("power") ? "Nous A1T" : "Sonoff S26",
    ty: 0,
    if: 0,
    ofln: "Offline",
    onln: "Online",
    state: ["OFF", "ON", "TOGGLE", "HOLD"],
    sw: VERSION,
    t: topicOf(device),
    ft: "%prefix%/%topic%/",
    tp: ["cmnd", "stat", "tele"],
    rl: [1, ...Array<number>(31).fill(0)],
    swc: Array<number>(28).fill(-1),
    swn: Array<null>(28).fill(null),
    btn: Array<number>(32).fill(0),
    // 30: the relay is a light.
    so: { 4: 0, 11: 0, 13: 0, 17: 0, 20: 0, 30: isLight ? 1 : 0, 68: 0, 73: 0, 82: 0, 114: 0, 117: 0 },
    lk: 0,
    lt_st: 0,
    bat: 0,
    dslp: 0,
    sho: [],
    sht: [],
    ver: 1,
  };
}

function energyOf({ power = 0 }: Readonly<State>): object {
  const watts = rounded(power, power < 10 ? 1 : 0);
  return {
    TotalStartTime: "2026-01-01T00:00:00",
    Total: 41.327,
    Yesterday: 0.712,
    Today: 0.304,
    Period: 0,
    Power: watts,
    ApparentPower: rounded(watts * 1.05, 0),
    ReactivePower: rounded(watts * 0.3, 0),
    Factor: watts === 0 ? 0 : 0.95,
    Voltage: VOLTS,
    Current: rounded(watts / VOLTS, 3),
  };
}

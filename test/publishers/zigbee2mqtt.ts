/** zigbee2mqtt itself, with its converters, over a radio that is played within its process (`zigbee-radio.ts`). */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ZIGBEE2MQTT } from "../needs.ts";
import type { BrokerView } from "./broker-view.ts";
import { type Publisher, Running } from "./running.ts";
import { type RadioMessage, ZIGBEE_DEVICES, type ZigbeeDevice, type ZigbeeValue } from "./zigbee-devices.ts";

const RADIO = fileURLToPath(new URL("zigbee-radio.ts", import.meta.url));

export type Zigbee2mqtt = Publisher & {
  /** The device no longer answers, or answers again. */
  setDead(name: string, dead: boolean): void;
  /** The device reports values by itself, as `cluster.attribute`. */
  report(name: string, attributes: Record<string, ZigbeeValue>): void;
  /** The device sends a command without parameters, as a remote does when its button is pressed. */
  press(name: string, cluster: string, command: string): void;
  /** A detector tells of a change of its zone, by ZCL's bits: 1 is an alarm. */
  alarm(name: string, zonestatus: number): void;
};

/** The file in which zigbee-herdsman keeps what it learnt of its network. */
function database(devices: readonly ZigbeeDevice[]): string {
  const now = Date.now();
  const made = { interviewCompleted: true, interviewState: "SUCCESSFUL", meta: {}, lastSeen: now };
  const endpointOf = (id: number, inClusterList: readonly number[]) => ({
    [id]: { profId: 260, epId: id, devId: 0, inClusterList, outClusterList: [], clusters: {} },
  });
  const coordinator = {
    id: 1,
    type: "Coordinator",
    ieeeAddr: "0x00124b00fa4e0001",
    nwkAddr: 0,
    manufId: 0,
    epList: [1],
    endpoints: endpointOf(1, []),
    ...made,
  };
  const rows = devices.map((device, index) => ({
    id: index + 2,
    type: device.isBattery ? "EndDevice" : "Router",
    ieeeAddr: device.ieee,
    nwkAddr: device.address,
    manufName: device.vendor,
    powerSource: device.isBattery ? "Battery" : "Mains (single phase)",
    modelId: device.model,
    swBuildId: "1.2.3",
    epList: [device.endpoint],
    endpoints: endpointOf(device.endpoint, device.clusters),
    ...made,
  }));
  return [coordinator, ...rows].map((row) => JSON.stringify(row)).join("\n");
}

function settings(port: number) {
  return {
    version: 5,
    mqtt: { base_topic: "zigbee2mqtt", server: `mqtt://127.0.0.1:${port}` },
    serial: { adapter: "zstack", port: "/dev/null" },
    homeassistant: { enabled: true, experimental_event_entities: true },
    availability: { enabled: true },
    ota: { disable_automatic_update_check: true },
    frontend: { enabled: false },
    advanced: { log_output: ["console"], log_level: "info", channel: 11 },
    devices: Object.fromEntries(ZIGBEE_DEVICES.map(({ ieee, name }) => [ieee, { friendly_name: name }])),
  };
}

/** Resolves when each device has a retained config and is online. */
export async function startZigbee2mqtt(port: number, view: BrokerView): Promise<Zigbee2mqtt> {
  const running = new Running("zigbee2mqtt", (folder) => {
    const devices = join(folder, "devices.json");
    // YAML has JSON within it.
    writeFileSync(join(folder, "configuration.yaml"), JSON.stringify(settings(port)));
    writeFileSync(join(folder, "database.db"), database(ZIGBEE_DEVICES));
    writeFileSync(devices, JSON.stringify(ZIGBEE_DEVICES));
    const env = { ZIGBEE2MQTT_DATA: folder, ZIGBEE_DEVICES: devices, Z2M_ONBOARD_NO_SERVER: "1" };
    return { command: [process.execPath, "--import", RADIO, ZIGBEE2MQTT], env, ipc: true };
  });
  await running.ready(() => {
    const topics = view.configs().map(({ topic }) => topic);
    return ZIGBEE_DEVICES.every(
      ({ ieee, name }) =>
        topics.some((topic) => topic.includes(`/${ieee}/`)) && view.last(`zigbee2mqtt/${name}/availability`),
    );
  });
  const send = (name: string, what: DistributiveOmit<RadioMessage, "ieee">) => {
    const ieee = ZIGBEE_DEVICES.find((device) => device.name === name)?.ieee;
    if (ieee === undefined) throw new Error(`no Zigbee device is called ${name}`);
    running.send({ ieee, ...what });
  };
  return {
    name: running.name,
    topics: /\/0x[0-9a-f]{16}\//,
    setDead: (name, dead) => send(name, { dead }),
    report: (name, attributes) => send(name, { attributes }),
    press: (name, cluster, command) => send(name, { cluster, command, payload: {}, fromServer: false }),
    alarm(name, zonestatus) {
      const payload = { zonestatus, extendedstatus: 0, zoneID: 1, delay: 0 };
      send(name, { cluster: "ssIasZone", command: "statusChangeNotification", payload, fromServer: true });
    },
    stop: () => running.stop(),
  };
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

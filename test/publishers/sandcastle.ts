/** sandcastle-sim (PyPI): a simulated home of 23 devices in six rooms, which react to commands. */
import { freePort } from "../../local/port.ts";
import { PUBLISHERS } from "../needs.ts";
import type { BrokerView } from "./broker-view.ts";
import { type Publisher, Running } from "./running.ts";

const TOPICS = /\/sim_/;
const DEVICES = 23;

export type Sandcastle = Publisher & {
  /** A contact or a detector changes by itself. */
  setSensor(name: string, on: boolean): Promise<void>;
};

export async function startSandcastle(port: number, view: BrokerView): Promise<Sandcastle> {
  const control = await freePort();
  const url = `http://127.0.0.1:${control}`;
  const running = new Running("sandcastle-sim", () => ({
    command: [PUBLISHERS, "-m", "sandcastle_sim.simulator.main"],
    env: { MQTT_HOST: "127.0.0.1", MQTT_PORT: String(port), CONTROL_PORT: String(control) },
  }));
  await running.ready(async () => {
    const count = view.configs().filter(({ topic }) => TOPICS.test(topic)).length;
    return count >= DEVICES && (await fetch(`${url}/api/health`).catch(() => undefined))?.ok === true;
  });
  return {
    name: running.name,
    topics: TOPICS,
    async setSensor(name, on) {
      const event = { entity_id: `binary_sensor.${name}`, action: "set", state: on ? "ON" : "OFF" };
      const headers = { "content-type": "application/json" };
      const request = { method: "POST", headers, body: JSON.stringify(event) };
      const response = await fetch(`${url}/api/demo/trigger`, request);
      if (!response.ok) throw new Error(`sandcastle-sim: ${response.status} ${await response.text()}`);
    },
    stop: () => running.stop(),
  };
}

/** `npm start -- --demo`: a house that can be used when it is announced, in a state folder of its own. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { DEVICES } from "../../local/demo/house.ts";
import { freePort } from "../../local/port.ts";
import { until } from "../wait.ts";
import type { GatewayClient } from "./gateway-client.ts";
import { interrupt, killAll, npmStart, processesOf, running, useStateFolder } from "./npm-start.ts";

type Device = {
  id: string;
  name: string;
  area: string | null;
  online: boolean;
  mode: string;
  actions: unknown[];
};

async function devicesAt(client: GatewayClient): Promise<Map<string, Device>> {
  const { devices } = (await (await client.fetch("/v1/devices")).json()) as { devices: Device[] };
  return new Map(devices.map((device) => [device.id, device]));
}

// /proc shows which processes belong to it.
describe("npm start -- --demo", { tags: ["needs/linux"], timeout: 120_000 }, () => {
  const folder = useStateFolder();

  test("all devices are there when it says so, a person's names outlive it, and nothing of their own home is used", async () => {
    const dir = join(folder.path, "demo");
    // A broker of the person that would be refused at once, if it were asked.
    const env = { PORT: String(await freePort()), MQTT_URL: "mqtt://127.0.0.1:1", MQTT_DEVICES: "off" };
    const start = async () => {
      const started = npmStart(folder.path, ["--demo", "--seed", "9"], env);
      const client = await running(started);
      await until(() => started.out().includes("This is a demo"), { what: "the house is told" });
      return { started, client };
    };
    try {
      const first = await start();
      const devices = await devicesAt(first.client);
      expect(devices.size).toBe(DEVICES.length);
      expect([...devices.values()].filter(({ online, area }) => !online || area === null)).toEqual([]);
      const asking = [...devices.values()].filter(
        ({ mode, actions }) => mode !== "allowed" && actions.length > 1,
      );
      expect(asking.map(({ name }) => name).sort()).toEqual(["Front door", "Garden pump", "Water valve"]);
      for (const { name } of DEVICES) expect(first.started.out()).toContain(name);
      expect(first.started.out()).toContain("seed 9");
      expect(existsSync(join(folder.path, "tokens.json"))).toBe(false);
      expect(existsSync(join(dir, "tokens.json"))).toBe(true);
      const own = JSON.stringify({ name: "Grandma's lamp", mode: "ask" });
      const changed = await first.client.fetch("/v1/devices/reading-lamp", { method: "PATCH", body: own });
      expect(changed.status).toBe(200);
      interrupt(first.started);
      await first.started.code;
      expect(processesOf(dir)).toEqual([]);

      const second = await start();
      const later = await devicesAt(second.client);
      expect(later.size).toBe(DEVICES.length);
      expect([...later.values()].filter(({ online }) => !online)).toEqual([]);
      expect(later.get("reading-lamp")).toMatchObject({
        name: "Grandma's lamp",
        area: "Living room",
        mode: "ask",
      });
      interrupt(second.started);
      await second.started.code;
    } finally {
      await killAll(dir);
    }
  });
});

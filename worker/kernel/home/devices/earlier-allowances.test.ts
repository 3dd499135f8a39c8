/** What people allowed with 0.3, after the update to hashes that cover more. */
import { evictDurableObject, reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { device, hosting } from "../../../../test/hosted-device.ts";
import { at, MINUTE, passUntil, ruleHome, T0 } from "../../../../test/rule-clock.ts";
import { OWNER, toldIn, writes } from "../../../../test/rule-people.ts";
import { rowsOf } from "../../../../test/stopping.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { ask } from "../../../../test/workerd.ts";

afterEach(async () => {
  vi.useRealTimers();
  await reset();
});
beforeEach(() => {
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin" });
  at(T0);
});

/** As its migration leaves a home of 0.3 in which these were allowed. */
async function allowedBefore(...ids: string[]): Promise<void> {
  await writes(OWNER);
  for (const id of ids) {
    await rowsOf(
      ruleHome(),
      `INSERT INTO device (key, mode, allow, allowed_by, allowed_at, changed_by, changed_at)
       VALUES ('key-of-${id}', 'ask', 'hash-of-03-${id}', 'anna', 1, 'anna', 1)`,
    );
    await rowsOf(ruleHome(), `INSERT INTO earlier_allowance (key) VALUES ('key-of-${id}')`);
  }
  await evictDurableObject(ruleHome());
}
const carried = (id: string) => device(id, { hosted: { allow_before: `hash-of-03-${id}` } });
const voided = (id: string) => device(id, { hosted: { allow_before: null } });
const modes = async () => {
  const body = await (await ask("/v1/devices")).json();
  const { devices } = body as {
    devices: Array<{ id: string; mode: string; changed: boolean; allowed_by: string }>;
  };
  return devices.map(({ id, mode, changed, allowed_by }) => [id, mode, changed, allowed_by]);
};
const permissions = async () =>
  (await rowsOf(ruleHome(), "SELECT row, since FROM standing_permission WHERE ended_at IS NULL")).map(
    ({ row, since }) => ({ ...(JSON.parse(String(row)) as object), since }),
  );
const rows = () => rowsOf(ruleHome(), "SELECT * FROM earlier_allowance");

describe("S23: what was allowed with 0.3", () => {
  test("S23: goes on where the hash of then covers the same, and is told to the owners once as a list where it does not", async () => {
    await allowedBefore("plug", "lamp", "strip", "fan");
    await hosting([
      carried("plug"),
      voided("lamp"),
      voided("strip"),
      device("fan", { hosted: { allow_before: "other" } }),
    ]);
    expect(await modes()).toEqual([
      ["fan", "ask", true, "anna"],
      ["lamp", "ask", true, "anna"],
      ["plug", "allowed", false, "anna"],
      ["strip", "ask", true, "anna"],
    ]);
    // It stands as one permission for each harmless action, by the hash of now.
    expect(await rowsOf(ruleHome(), "SELECT allow FROM device WHERE key = 'key-of-plug'")).toEqual([
      { allow: null },
    ]);
    expect(await permissions()).toMatchObject([
      {
        device: "plug",
        version: "allow-plug",
        actions: {
          set: {
            on: { oneOf: [true, false], optional: true },
            brightness_pct: { from: 1, to: 100, optional: true },
          },
        },
        who: "everybody",
        tainted: false,
        chain: false,
        by: "anna",
        since: 1,
      },
    ]);
    await passUntil(T0 + 3 * MINUTE);
    const told = () => toldIn(OWNER);
    const words = "so they ask again before they are changed: fan, lamp, strip. The page Devices";
    expect((await told()).filter((text) => text.includes(words))).toHaveLength(1);
    expect(await rows()).toEqual([]);
    // Neither a new line of the bridge nor a new object tells it again.
    await evictDurableObject(ruleHome());
    await hosting([carried("plug"), voided("lamp"), voided("strip")]);
    await passUntil(T0 + 10 * MINUTE);
    expect((await told()).filter((text) => text.includes("they ask again"))).toHaveLength(1);
  });

  test("S23: waits as long as the bridge is one of 0.3, or the device is not there", async () => {
    await allowedBefore("plug", "lamp");
    await hosting([device("plug", { hosted: { allow: "hash-of-03-plug" } })]);
    expect(await modes()).toEqual([["plug", "allowed", false, "anna"]]);
    expect(await rows()).toHaveLength(2);
  });

  test("S23: is told after the bridge is updated too, when that comes later than the gateway", async () => {
    await allowedBefore("lamp");
    const ofThen = (id: string) => device(id, { hosted: { allow: `hash-of-03-${id}` } });
    await hosting([ofThen("lamp"), ofThen("strip")]);
    // Allowed with the new gateway, by the hash of the old bridge.
    const body = JSON.stringify({ mode: "allowed", allow: "hash-of-03-strip" });
    expect((await ask("/v1/devices/strip", { method: "PATCH", body })).status).toBe(200);
    await passUntil(T0 + 10 * MINUTE);
    expect((await toldIn(OWNER)).filter((text) => text.includes("ask again"))).toEqual([]);
    await hosting([voided("lamp"), voided("strip")]);
    await passUntil(T0 + 20 * MINUTE);
    expect((await toldIn(OWNER)).filter((text) => text.includes("changed: lamp, strip. The"))).toHaveLength(
      1,
    );
    expect(await rows()).toEqual([]);
  });

  test("S23: is told of a device that is not there too", async () => {
    await allowedBefore("lamp");
    const bridge = await hosting([]);
    // No alarm of the bridge's greeting is left.
    await passUntil(T0 + 5 * MINUTE);
    bridge.send({ t: "agents", agents: [{ ...voided("lamp"), online: false }] });
    await until(async () => (await modes()).length > 0, { what: "Home has the lamp" });
    await passUntil(T0 + 8 * MINUTE);
    expect((await toldIn(OWNER)).filter((text) => text.includes("changed: lamp. The"))).toHaveLength(1);
  });

  test("S23: is not told of a device about which a person decided anew", async () => {
    await allowedBefore("lamp");
    await hosting([voided("lamp")]);
    const body = JSON.stringify({ mode: "allowed", allow: "allow-lamp" });
    expect((await ask("/v1/devices/lamp", { method: "PATCH", body })).status).toBe(200);
    await passUntil(T0 + 3 * MINUTE);
    expect(await rows()).toEqual([]);
    expect((await toldIn(OWNER)).filter((text) => text.includes("ask again"))).toEqual([]);
  });
});

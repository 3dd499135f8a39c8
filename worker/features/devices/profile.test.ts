/** Profiles: what each writes for which devices, what it never writes, and who may. */
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { device, hosting, READ, SET, UNLOCK } from "../../../test/hosted-device.ts";
import { TOKENS } from "../../../test/tokens.ts";
import { ask, type TestBridge } from "../../../test/workerd.ts";

const LOCK = { line: "lock", tools: [READ, UNLOCK, { ...SET, name: "lock" }] };
const SETTING = { ...SET, name: "set_power_on", setting: true as const };
const FREE = {
  ...SET,
  name: "say",
  parameters: { properties: { text: { type: "string" } }, required: ["text"] },
};

let bridge: TestBridge;
const all = () => [
  device("lamp", { tools: [READ, SET, SETTING, FREE] }),
  device("front-door", LOCK),
  device("heater", { line: "heating" }),
];

type Permission = {
  device: string;
  actions: Record<string, unknown>;
  who: unknown;
  conversation: null;
  tainted: boolean;
  chain: boolean;
  until: number;
  at: number;
};

async function json(path: string, init: Parameters<typeof ask>[1] = {}) {
  const response = await ask(path, init);
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}

const permissions = async (): Promise<Permission[]> => (await json("/v1/permissions")).body.permissions;
const listed = async (): Promise<Array<{ id: string; allow: string; mode: string }>> =>
  (await json("/v1/devices")).body.devices;
const modes = async () => Object.fromEntries((await listed()).map(({ id, mode }) => [id, mode]));

async function seen(...ids: string[]) {
  return (await listed()).filter(({ id }) => ids.includes(id)).map(({ id, allow }) => ({ id, allow }));
}

const put = (profile: string, devices: unknown, token?: string) =>
  json("/v1/profile", {
    method: "PUT",
    body: JSON.stringify({ profile, devices }),
    ...(token !== undefined && { token }),
  });

beforeEach(async () => {
  bridge = await hosting(all());
  for (const { id } of await listed())
    await ask(`/v1/devices/${id}`, { method: "PATCH", body: JSON.stringify({ mode: "ask" }) });
});

describe("trusted devices act", () => {
  test("writes one exact permission for each harmless action of the devices that were ticked, and no other row", async () => {
    expect((await put("act", await seen("lamp", "front-door"))).status).toBe(204);
    const rows = await permissions();
    expect(rows.map((row) => [row.device, Object.keys(row.actions)]).sort()).toEqual([
      ["front-door", ["lock"]],
      ["lamp", ["set"]],
    ]);
    const whole = {
      on: { oneOf: [true, false], optional: true },
      brightness_pct: { from: 1, to: 100, optional: true },
    };
    for (const row of rows) {
      expect(Object.values(row.actions)).toEqual([whole]);
      expect(row).toMatchObject({ who: "everybody", conversation: null, tainted: false, chain: false });
      expect(row.until - row.at).toBe(90 * 86_400_000);
    }
    expect(await modes()).toMatchObject({ lamp: "allowed", "front-door": "allowed", heater: "ask" });
  });

  test("writes what the page shows", async () => {
    // Settings of a device are offered where a person wants that, and ask each time.
    const settings = async (on: boolean) =>
      await ask("/v1/devices/lamp", { method: "PATCH", body: JSON.stringify({ settings: on }) });
    await settings(true);
    onTestFinished(async () => void (await settings(false)));
    const { devices } = (await json("/v1/profile")).body;
    const [lamp] = devices.filter(({ id }: { id: string }) => id === "lamp");
    expect(lamp).toMatchObject({ name: "Lamp", mode: "ask", acts: ["set"], asks: ["set_power_on", "say"] });
    await put("act", await seen("lamp", "front-door", "heater"));
    const written = (await permissions()).map(({ device, actions }) => [device, Object.keys(actions)]);
    const shown = devices.map(({ id, acts }: { id: string; acts: string[] }) => [id, acts]);
    expect(written.sort()).toEqual(shown.sort());
  });

  test("has no dangerous action, no setting and none whose values cannot be said, whatever a device calls them", async () => {
    await put("act", await seen("lamp", "front-door", "heater"));
    const names = (await permissions()).flatMap(({ actions }) => Object.keys(actions));
    for (const name of ["unlock", "set_power_on", "say", "read"]) expect(names).not.toContain(name);
  });

  test("has no device and no action that comes later", async () => {
    await put("act", await seen("lamp", "front-door", "heater"));
    const before = await permissions();
    await bridge.snapshot([
      ...all(),
      device("plug"),
      device("heater-2", { line: "heating", tools: [READ, SET] }),
    ]);
    expect(await permissions()).toEqual(before);
    expect(await modes()).toMatchObject({ plug: "ask", "heater-2": "ask", lamp: "allowed" });
    // The same device with one action more asks about that one.
    const [lamp, ...others] = all();
    const grown = device("lamp", { tools: [READ, SET, { ...SET, name: "blink" }] });
    await bridge.snapshot([{ ...grown, hosted: lamp?.hosted ?? grown.hosted }, ...others] as typeof others);
    expect((await permissions()).flatMap(({ actions }) => Object.keys(actions))).not.toContain("blink");
  });

  test("writes nothing at all if one device is not what the person saw, is off, or is none", async () => {
    const [lamp, door] = await seen("lamp", "front-door");
    const stale = await put("act", [lamp, { ...door, allow: "another" }]);
    expect(stale).toMatchObject({ status: 409, body: { error: { code: "device_changed" } } });
    expect((await put("act", [lamp, { id: "ghost", allow: "x" }])).status).toBe(404);
    await ask("/v1/devices/front-door", { method: "PATCH", body: JSON.stringify({ mode: "off" }) });
    expect((await put("act", [lamp, door])).status).toBe(409);
    expect(await permissions()).toEqual([]);
    expect((await modes()).lamp).toBe("ask");
  });

  test("writes nothing where a home has no room for all of it", async () => {
    const many = Array.from({ length: 3 }, (_, n) =>
      device(`panel-${n}`, {
        tools: Array.from({ length: 70 }, (_, at) => ({ ...SET, name: `set_${at}` })),
      }),
    );
    await bridge.snapshot(many);
    const full = await put("act", await seen("panel-0", "panel-1", "panel-2"));
    expect(full).toMatchObject({ status: 409, body: { error: { code: "too_many" } } });
    expect(await permissions()).toEqual([]);
  });
});

test("only look: changes are refused, and what was allowed ends", async () => {
  await put("act", await seen("lamp", "heater"));
  expect((await put("look", await seen("lamp"))).status).toBe(204);
  expect((await permissions()).map(({ device }) => device)).toEqual(["heater"]);
  expect(await modes()).toMatchObject({ lamp: "read", heater: "allowed" });
  const refused = await json("/v1/agents/lamp/commands", {
    method: "POST",
    body: JSON.stringify({ command: "tool", payload: { tool: "set", parameters: { on: true } } }),
  });
  expect(refused.status).toBeGreaterThanOrEqual(400);
});

test("ask me: what was allowed ends, and the device asks", async () => {
  await put("act", await seen("lamp"));
  await put("ask", await seen("lamp"));
  expect(await permissions()).toEqual([]);
  expect((await modes()).lamp).toBe("ask");
});

test("what has the profile already is not written anew: its permissions and the record stay as they are", async () => {
  await put("act", await seen("lamp"));
  const before = await permissions();
  const changes = async () => {
    const { body } = await json("/v1/audit?limit=200");
    return JSON.stringify(body).split('"tool":"device_change"').length;
  };
  const lines = await changes();
  await put("act", await seen("lamp", "heater"));
  const after = await permissions();
  expect(after.filter(({ device }) => device === "lamp")).toEqual(before);
  expect(after.map(({ device }) => device).sort()).toEqual(["heater", "lamp"]);
  expect(await changes()).toBe(lines + 1);
  await put("ask", await seen("front-door"));
  expect(await changes()).toBe(lines + 1);
});

test("each device's decision stands in the record, with the person", async () => {
  await put("act", await seen("lamp"));
  const { body } = await json("/v1/audit?limit=5");
  expect(JSON.stringify(body)).toMatch(/"tool":"device_change".*"mode":"allowed"/);
});

test("only an owner may, and `act` takes the right to approve", async () => {
  const devices = await seen("lamp");
  for (const token of [TOKENS.guest, TOKENS.member, TOKENS.approver, TOKENS.admin])
    for (const profile of ["look", "ask", "act"])
      expect((await put(profile, devices, token)).status).toBe(403);
  const owner = { name: "no-yes", role: "owner", scopes: ["ask", "admin"] };
  const made = await json("/v1/tokens", { method: "POST", body: JSON.stringify(owner) });
  expect((await put("act", devices, made.body.token)).status).toBe(403);
  expect((await put("look", devices, made.body.token)).status).toBe(204);
  expect(await permissions()).toEqual([]);
});

test.each([
  ["profile", { profile: "all", devices: [{ id: "lamp", allow: "x" }] }],
  ["devices", { profile: "look", devices: [] }],
  ["allow", { profile: "act", devices: [{ id: "lamp" }] }],
])("a wrong %s is named", async (field, body) => {
  const answer = await json("/v1/profile", { method: "PUT", body: JSON.stringify(body) });
  expect(answer).toMatchObject({ status: 400, body: { error: { code: "invalid_body" } } });
  expect(answer.body.error.message).toContain(field);
});

/** The bridge is told to update itself: who may do that, which bridges can, and what is shown. */
import { afterEach, expect, test } from "vitest";
import { TOKENS } from "../../../../test/tokens.ts";
import { until } from "../../../../test/wait.ts";
import { ask, TestBridge } from "../../../../test/workerd.ts";

let bridge: TestBridge | undefined;
afterEach(() => bridge?.close());

async function update(token = TOKENS.owner) {
  const response = await ask("/v1/bridge/update", { method: "POST", token });
  return { status: response.status, body: (await response.json()) as Told };
}
type Told = { id?: string; error?: { code: string; message: string } };

async function ofBridge(): Promise<{ update: unknown; updates: unknown }> {
  const { bridge: of } = (await (await ask("/v1/status")).json()) as {
    bridge: Awaited<ReturnType<typeof ofBridge>>;
  };
  return of;
}
const shown = async () => (await ofBridge()).update;

async function connected(features?: string[]): Promise<TestBridge> {
  const dialled = await TestBridge.dial();
  await dialled.hello(features);
  await dialled.snapshot([]);
  bridge = dialled;
  return dialled;
}

test("a bridge that can is told, and its reports are shown, also over its own restart", async () => {
  const before = await connected(["update", "something newer"]);
  expect(await ofBridge()).toMatchObject({ updates: true, update: null });
  const { status, body } = await update();
  expect(status).toBe(202);
  const { id = "" } = body;
  await until(() => before.received.some((frame) => frame.t === "update"), { what: "the frame" });
  expect(before.received.at(-1)).toEqual({ t: "update", id });
  expect(await shown()).toEqual({ id, ok: null, text: "" });
  before.close();

  const after = await connected(["update"]);
  after.send({ t: "updated", id, ok: true, text: "0.2.0 is online; before it 0.1.0" });
  await until(async () => (await shown()) !== null, { what: "the outcome" });
  expect(await shown()).toEqual({ id, ok: true, text: "0.2.0 is online; before it 0.1.0" });
});

test("an older one gets no frame that it does not know, and the person gets the reason", async () => {
  const old = await connected();
  expect(await update()).toMatchObject({ status: 409, body: { error: { code: "cannot_update" } } });
  expect(old.received.map(({ t }) => t)).not.toContain("update");
  expect((await ofBridge()).updates).toBe(false);
});

test("without a bridge nothing is begun; another home's reports count only there", async () => {
  expect(await update(TOKENS.otherHome)).toMatchObject({ status: 409, body: { error: { code: "offline" } } });
  expect((await update(TOKENS.guest)).status).toBe(403);
});

test("a report that is too long is no valid frame, and disturbs nothing", async () => {
  const long = await connected(["update"]);
  long.send({ t: "updated", id: "x", ok: true, text: "x".repeat(301) });
  await until(() => long.received.some((frame) => frame.t === "error"), { what: "the refusal" });
  expect(long.closed).toBeUndefined();
  expect(await shown()).toBeNull();
});

/** The past of a reading over the API: the bridge answers with a line, and nothing of it is stored here. */
import { reset } from "cloudflare:test";
import type { PastReply } from "@edgecall/core/protocol/past.ts";
import type { PastQuestion } from "@edgecall/core/protocol/past-question.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { device } from "../../../test/hosted-device.ts";
import { TOKENS } from "../../../test/tokens.ts";
import { setVariables } from "../../../test/variables.ts";
import { ask, TestBridge } from "../../../test/workerd.ts";

beforeEach(() => setVariables({ TIMEZONE: "Europe/Berlin", GATEWAY_TOOLS: "history" }));
afterEach(reset);

const LINE = { from: 0, to: 86_400_000, at: [0, 1_000], values: [null, true] };
const PATH = "/v1/devices/front-door/past?reading=Contact";

async function bridgeWith(reply: PastReply): Promise<PastQuestion[]> {
  const asked: PastQuestion[] = [];
  const bridge = await TestBridge.dial();
  await bridge.hello(["devices", "kept", "history"]);
  await bridge.snapshot([device("front-door")]);
  bridge.onPast = ({ question }) => {
    asked.push(question);
    return reply;
  };
  return asked;
}

test("the bridge is asked for the last days of the reading, and its line is passed on", async () => {
  const asked = await bridgeWith({ text: "Front door: open.", line: LINE });
  const response = await ask(`${PATH}&days=7`);
  expect(await response.json()).toEqual({ text: "Front door: open.", line: LINE });
  expect(asked).toEqual([
    {
      agent: "front-door",
      name: "Front door",
      reading: "Contact",
      ask: "chart",
      line: true,
      period: "168 h",
      zone: "Europe/Berlin",
    },
  ]);
});

test("what is not kept, a device that is none, and a home without history are named", async () => {
  const asked = await bridgeWith({ error: "reading: nothing is kept of 'Contact'" });
  const refused = await ask(PATH);
  expect(refused.status).toBe(404);
  expect(await refused.json()).toMatchObject({ error: { message: "reading: nothing is kept of 'Contact'" } });
  expect((await ask("/v1/devices/back-door/past?reading=Contact")).status).toBe(404);
  expect((await ask(`${PATH}&days=32`)).status).toBe(400);
  expect((await ask("/v1/devices/front-door/past")).status).toBe(400);
  setVariables({ GATEWAY_TOOLS: "rules" });
  expect((await ask(PATH)).status).toBe(404);
  expect(asked).toHaveLength(1);
});

test("a guest is told nothing, and a bridge that is away answers nothing", async () => {
  const asked = await bridgeWith({ text: "Front door: open." });
  expect((await ask(PATH, { token: TOKENS.guest })).status).toBe(403);
  expect(asked).toEqual([]);
  expect(await (await ask(PATH)).json()).toEqual({ text: "Front door: open.", line: null });
  await reset();
  const older = await TestBridge.dial();
  await older.hello(["devices", "kept"]);
  await older.snapshot([device("front-door")]);
  expect(await (await ask(PATH)).json()).toMatchObject({ error: { code: "bridge_offline" } });
});

/** The connection to Home Assistant over the API: the bridge answers, and Home stores nothing of it. */
import { reset } from "cloudflare:test";
import type { AssistantAnswer, AssistantQuestion } from "@edgecall/core/protocol/assistant.ts";
import { DEVICES_FEATURE } from "@edgecall/core/protocol/devices.ts";
import { afterEach, expect, test } from "vitest";
import { TOKENS } from "../../../test/tokens.ts";
import { ask, TestBridge } from "../../../test/workerd.ts";

afterEach(reset);

const STATE = {
  url: "http://ha.local:8123",
  by: "sign_in",
  up: true,
  version: "2026.11.0",
  user: "bridge",
  shown: 3,
} as const;

/** @returns what it is asked */
async function bridgeWith(
  answer: (asked: AssistantQuestion) => AssistantAnswer,
): Promise<AssistantQuestion[]> {
  const asked: AssistantQuestion[] = [];
  const bridge = await TestBridge.dial();
  bridge.onAssistant = (frame) => {
    asked.push(frame.question);
    return answer(frame.question);
  };
  await bridge.hello([DEVICES_FEATURE, "assistant"]);
  return asked;
}

const post = (path: string, body: object) =>
  ask(`/v1/home-assistant${path}`, { method: "POST", body: JSON.stringify(body) });

test("an administrator sees how it is, begins a sign-in, ends it with the code, and gives it up", async () => {
  const asked = await bridgeWith(({ begin, forget }) =>
    begin
      ? { state: null, authorize: `http://ha.local:8123/auth/authorize?state=${begin.state}` }
      : { state: forget ? null : STATE },
  );
  expect(await (await ask("/v1/home-assistant")).json()).toEqual({ connected: STATE });
  const begun = await post("", { url: "http://ha.local:8123" });
  const { authorize, state } = (await begun.json()) as { authorize: string; state: string };
  expect(authorize).toContain(state);
  expect(asked.at(-1)?.begin).toEqual({
    url: "http://ha.local:8123",
    client: "https://gateway/",
    redirect: "https://gateway/",
    state,
  });
  expect(await (await post("/code", { state, code: "the-code" })).json()).toEqual({ connected: STATE });
  expect(asked.at(-1)?.finish).toEqual({ state, code: "the-code" });
  expect(await (await ask("/v1/home-assistant", { method: "DELETE" })).json()).toEqual({ connected: null });
  const record = await (await ask("/v1/audit")).text();
  expect(record).toContain('"tool":"home_assistant"');
  expect(record).toContain('"tool":"home_assistant_remove"');
  expect(record).not.toContain("the-code");
});

test("what the bridge refuses is said in its words; a bridge that is away or older is named", async () => {
  expect(await (await ask("/v1/home-assistant")).json()).toMatchObject({ error: { code: "bridge_offline" } });
  await bridgeWith(() => ({ state: STATE, error: "HA_URL names another one." }));
  const refused = await post("", { url: "http://ha.local" });
  expect(refused.status).toBe(409);
  expect(await refused.json()).toMatchObject({
    error: { code: "not_connected", message: "HA_URL names another one." },
  });
  const older = await TestBridge.dial();
  await older.hello([DEVICES_FEATURE]);
  expect(await (await ask("/v1/home-assistant")).json()).toMatchObject({ error: { code: "cannot_connect" } });
});

test("the browser comes back to a page of this gateway alone", async () => {
  const asked = await bridgeWith(() => ({ state: null, authorize: "https://ha.example/auth/authorize" }));
  const from = (origin: string) =>
    ask("/v1/home-assistant", {
      method: "POST",
      headers: { origin },
      body: JSON.stringify({ url: "https://ha.example" }),
    });
  expect((await from("https://evil.example")).status).toBe(200);
  expect(asked.at(-1)?.begin).toMatchObject({ client: "https://gateway/", redirect: "https://gateway/" });
  // Only a state of a sign-in reaches the bridge.
  const before = asked.length;
  expect((await post("/code", { state: "short", code: "x" })).status).toBe(400);
  expect(asked).toHaveLength(before);
});

test("only an administrator's token connects one", async () => {
  await bridgeWith(() => ({ state: null }));
  for (const method of ["GET", "POST", "DELETE"])
    expect((await ask("/v1/home-assistant", { method, token: TOKENS.guest })).status).toBe(403);
});

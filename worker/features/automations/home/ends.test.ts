/** What allowed a rule ends: the rule is taken from the bridge, and its maker and the owners read why. And how one is resumed. */
import { reset, runInDurableObject } from "cloudflare:test";
import { rulesHash } from "@edgecall/core/rules/rules-hash.ts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  acting,
  allows,
  CARD,
  DEVICES,
  drafts,
  INPUT,
  listed,
  run,
  sets,
  tells,
  verified,
} from "../../../../test/acting-home.ts";
import { device } from "../../../../test/hosted-device.ts";
import { permissions } from "../../../../test/permission-home.ts";
import { at, make, passUntil, ruleHome, T0, told } from "../../../../test/rule-clock.ts";
import { script } from "../../../../test/scripted-model.ts";
import { TOKENS, testVars } from "../../../../test/tokens.ts";
import { leave } from "../../../../test/turns.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { ask, say, type TestBridge } from "../../../../test/workerd.ts";
import type { Home } from "../../../home.ts";
import { type AutomationRow, automationsOf } from "./automation-store.ts";
import { stopRule } from "./pause.ts";
import { automationsRpc } from "./views.ts";

const DAY_MS = 86_400_000;

let bridge: TestBridge;
let id: string;

beforeEach(async () => {
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin", CHANNELS: "" });
  at(T0);
  bridge = await acting();
  ({ id } = await allows());
});
afterEach(async () => {
  vi.useRealTimers();
  await reset();
});

/** The rule is paused, gone from the bridge, and its maker knows. */
async function stopped(why: string): Promise<void> {
  await until(async () => (await listed()).automations[0]?.why === why, { what: why });
  expect(await listed()).toMatchObject({ automations: [{ id, status: "paused", permissions: [] }] });
  expect(sets(bridge).some(({ drop }) => drop.includes(id))).toBe(true);
  expect(await permissions()).toEqual([]);
  await passUntil(Date.now());
  expect((await told("c")).join("\n")).toContain(`has stopped: ${why}.`);
}
/** Time passes with a bridge that is there. */
async function livesUntil(time: number): Promise<void> {
  for (let now = Date.now(); now < time; now = Date.now()) {
    at(Math.min(now + DAY_MS / 2, time));
    await heard();
    await passUntil(Date.now());
  }
}
let said = 0;
/** The bridge says something: it is there. */
async function heard(): Promise<void> {
  said += 1;
  const n = said;
  bridge.send({ t: "agents", agents: [], n });
  await until(() => bridge.received.some((frame) => frame.t === "stored" && frame.n === n));
}
const tokensWithout = (name: string, role = "guest") =>
  JSON.stringify(
    (JSON.parse(testVars.API_TOKENS) as Array<{ name: string }>).map((one) =>
      one.name === name ? { ...one, role } : one,
    ),
  );

describe("a rule stops", () => {
  test("when a person ends its permission", async () => {
    const [row] = await permissions();
    await ask(`/v1/permissions/${row?.id}`, { method: "DELETE" });
    await stopped("a person ended its permission");
  });

  test("when its device does something else", async () => {
    bridge.send({ t: "agent", agent: device("lamp", { hosted: { allow: "another" } }) });
    await stopped("a device of it is another one now");
    // The bridge notices it too.
    const before = await told("c");
    tells(bridge, { n: 1, rule: id, version: 1, paused: "device_changed" });
    await until(() => bridge.received.some((frame) => frame.t === "news_stored"));
    await passUntil(Date.now());
    expect(await told("c")).toEqual(before);
  });

  test.each(["off", "read"])("when its device is set to '%s'", async (mode) => {
    await ask("/v1/devices/lamp", { method: "PATCH", body: JSON.stringify({ mode }) });
    await stopped("a device of it may not be changed any more");
  });

  test("when a device that it looks at is forgotten", async () => {
    bridge.send({ t: "agent", agent: { ...(DEVICES[0] as (typeof DEVICES)[number]), online: false } });
    await until(async () => (await ask("/v1/devices/front-door", { method: "DELETE" })).status === 204);
    await stopped("a device of it is gone");
  });

  test("when whoever allowed it is no owner any more: at the bridge's next hello", async () => {
    setVariables({ API_TOKENS: tokensWithout("anna", "member") });
    await leave(bridge);
    bridge = await acting({ hash: await rulesHash([{ id, version: 1 }]) });
    await until(() => sets(bridge).length > 0, { what: "the bridge is told" });
    expect(sets(bridge).flatMap(({ set }) => set)).toEqual([]);
    setVariables({ API_TOKENS: testVars.API_TOKENS });
    expect(await listed()).toMatchObject({
      automations: [{ status: "paused", why: "whoever allowed it is no owner any more" }],
    });
  });

  test("when its time is over, on the day, and not before: a leak's rule may never have run", async () => {
    const soon = async () => (await told("c")).filter((text) => text.includes("may act until"));
    await livesUntil(T0 + 82 * DAY_MS);
    expect(await soon()).toEqual([]);
    await livesUntil(T0 + 89 * DAY_MS);
    expect(await soon()).toEqual([
      `⏳ Door open, lamp on (${id}) may act until Mon 21 Feb, 09:00. Pause and resume it, and it may for longer.`,
    ]);
    expect(await listed()).toMatchObject({ automations: [{ status: "active" }] });
    expect(await permissions()).toMatchObject([{ uses: 0 }]);
    await livesUntil(T0 + 91 * DAY_MS);
    await stopped("it was allowed for a time that is over; an owner can allow it anew");
  });
});

test("a rule that is allowed anew lives on, and people are told a week before its new end", async () => {
  await livesUntil(T0 + 84 * DAY_MS);
  await ask(`/v1/automations/${id}`, { method: "PATCH", body: JSON.stringify({ status: "paused" }) });
  const { allow } = (await (await ask(`/v1/automations/${id}/card`, { method: "POST" })).json()) as {
    allow: string;
  };
  await ask(`/v1/automations/${id}`, { method: "PATCH", body: JSON.stringify({ status: "active", allow }) });
  const soon = async () => (await told("c")).filter((text) => text.includes("may act until"));
  await livesUntil(T0 + 166 * DAY_MS);
  expect(await soon()).toHaveLength(1);
  await livesUntil(T0 + 168 * DAY_MS);
  expect(await soon()).toHaveLength(2);
  expect(await listed()).toMatchObject({ automations: [{ status: "active", version: 2 }] });
});

test("no row of others lets it run, and none of its own is another's", async () => {
  const [row] = await permissions();
  expect(row).toMatchObject({ who: { rule: id, version: 1 }, conversation: null });
  const text = script(
    { calls: [{ name: "edge_call", arguments: { agent_id: "lamp", action: "set", params: { on: true } } }] },
    { text: "x" },
  );
  const turn = say("other", text);
  await until(
    async () => ((await (await ask("/v1/questions")).json()) as { questions: object[] }).questions.length > 0,
  );
  await ask("/v1/conversations/other", { method: "DELETE" });
  await turn.catch(() => {});
  expect(bridge.calls()).toEqual([]);
});

describe("the bridge comes back", () => {
  test("with the same rules: it is sent none", async () => {
    await leave(bridge);
    bridge = await acting({ hash: await rulesHash([{ id, version: 1 }]) });
    await listed();
    expect(sets(bridge)).toEqual([]);
  });

  test("with others: it is sent all, and news begin anew where it lost them", async () => {
    tells(bridge, { n: 9, rule: id, version: 1, run: run(id) });
    await until(() => bridge.received.some(({ t }) => t === "news_stored"));
    await leave(bridge);
    bridge = await acting();
    await until(() => sets(bridge).length === 1);
    expect(sets(bridge)).toMatchObject([{ all: true, drop: [] }]);
    expect(await verified(sets(bridge)[0]?.set[0] ?? "")).toMatchObject({ id, version: 1 });
    tells(bridge, { n: 1, rule: id, version: 1, run: run(id, { firing: 2 }) });
    await until(() => bridge.received.some(({ t }) => t === "news_stored"));
    await passUntil(Date.now());
    expect((await told("c")).filter((text) => text.includes("Door open, lamp on"))).toHaveLength(2);
  });

  test("without any, where it is to have none: the news of the next rule are news", async () => {
    tells(bridge, { n: 9, rule: id, version: 1, run: run(id) });
    await until(() => bridge.received.some(({ t }) => t === "news_stored"));
    await ask(`/v1/automations/${id}`, { method: "DELETE" });
    await leave(bridge);
    bridge = await acting();
    const next = await allows("c", { ...INPUT, name: "Next" });
    tells(bridge, { n: 1, rule: next.id, version: 1, run: run(next.id) });
    await until(() => bridge.received.some(({ t }) => t === "news_stored"));
    await passUntil(Date.now());
    expect((await told("c")).filter((text) => text.includes("Next,"))).toHaveLength(1);
  });

  test("a name that was changed while it was away comes along", async () => {
    await leave(bridge);
    await ask(`/v1/automations/${id}`, {
      method: "PATCH",
      body: JSON.stringify({ name: "Lamp at the door" }),
    });
    bridge = await acting({ hash: await rulesHash([{ id, version: 1 }]) });
    await until(() => sets(bridge).length === 1);
    expect(await verified(sets(bridge)[0]?.set[0] ?? "")).toMatchObject({
      name: "Lamp at the door",
      version: 1,
    });
  });
});

describe("over the API", () => {
  const card = async () =>
    (await (await ask(`/v1/automations/${id}/card`, { method: "POST" })).json()) as {
      allow: string;
      card: string[];
    };
  const change = (body: object, init: Parameters<typeof ask>[1] = {}) =>
    ask(`/v1/automations/${id}`, { method: "PATCH", body: JSON.stringify(body), ...init });

  test("an owner pauses it, reads its card, and resumes it as another version", async () => {
    expect((await change({ status: "paused" })).status).toBe(200);
    const asked = drafts(bridge);
    const shown = await card();
    expect(shown).toMatchObject({ card: CARD, second_tap: [] });
    expect(asked).toMatchObject([{ rule: { id, version: 2 } }]);
    expect((await change({ status: "active" })).status).toBe(409);
    expect((await change({ status: "active", allow: "0".repeat(64) })).status).toBe(409);
    const resumed = await change({ status: "active", allow: shown.allow });
    expect(await resumed.json()).toMatchObject({ id, version: 2, status: "active", allowed_by: "anna" });
    expect(await verified(sets(bridge).at(-1)?.set[0] ?? "")).toMatchObject({ id, version: 2 });
    expect(await permissions()).toMatchObject([{ who: { rule: id, version: 2 } }]);
  });

  test("what does harm takes a second yes here too", async () => {
    await change({ status: "paused" });
    drafts(bridge, undefined, { second_tap: ["Radiator: it heats"] });
    const { allow } = await card();
    const refused = await change({ status: "active", allow });
    expect([refused.status, await refused.json()]).toMatchObject([409, { error: { code: "second_tap" } }]);
    expect(await listed()).toMatchObject({ automations: [{ status: "paused" }] });
    expect((await change({ status: "active", allow, second_tap: true })).status).toBe(200);
  });

  test("what would be another rule by now is not allowed by the card of before", async () => {
    await change({ status: "paused" });
    const shown = await card();
    drafts(bridge, (rule) => ({ ...rule, an_hour: 60 }));
    expect((await change({ status: "active", allow: shown.allow })).status).toBe(409);
    expect(await listed()).toMatchObject({ automations: [{ status: "paused" }] });
  });

  test("members pause, and neither resume, end, rename nor undo; guests see nothing", async () => {
    const member = { token: TOKENS.member };
    expect((await change({ name: "Mine" }, member)).status).toBe(403);
    expect((await ask(`/v1/automations/${id}`, { method: "DELETE", ...member })).status).toBe(404);
    expect(
      (
        await ask(`/v1/automations/${id}/undo`, {
          method: "POST",
          body: JSON.stringify({ firing: 1 }),
          ...member,
        })
      ).status,
    ).toBe(403);
    expect((await change({ status: "paused" }, member)).status).toBe(200);
    const { allow } = await card();
    expect((await change({ status: "active", allow }, member)).status).toBe(403);
    expect((await listed({ token: TOKENS.guest })).automations).toEqual([]);
    expect((await change({ status: "paused" }, { token: TOKENS.guest })).status).toBe(404);
    // They do not learn where others talk.
    expect((await listed(member)).automations).toMatchObject([{ id, status: "paused", conversation: "" }]);
    expect((await listed()).automations).toMatchObject([{ conversation: "c" }]);
  });

  test("words and name change without a card, and are signed anew", async () => {
    expect((await change({ say: "The door!", name: "Door" })).status).toBe(200);
    expect(await verified(sets(bridge).at(-1)?.set[0] ?? "")).toMatchObject({
      name: "Door",
      say: "The door!",
      version: 1,
    });
    await change({ say: null });
    expect(await verified(sets(bridge).at(-1)?.set[0] ?? "")).not.toHaveProperty("say");
    expect(await permissions()).toHaveLength(1);
  });
});

test("a name that comes while a person stops the rule does not bring it back", async () => {
  const owner = { name: "anna", role: "owner", scopes: ["ask", "admin", "approve"] } as const;
  const answer = await runInDurableObject(ruleHome(), async ({ access }: Home) => {
    const renaming = automationsRpc.change(access, id, { name: "Door" }, owner);
    stopRule(access.home, automationsOf(access.home).get(id) as AutomationRow);
    return await renaming;
  });
  expect(answer).toMatchObject({ ok: false, status: 409, code: "changed" });
  expect(await listed()).toMatchObject({ automations: [{ status: "paused", name: "Door open, lamp on" }] });
  expect(sets(bridge).at(-1)).toMatchObject({ set: [], drop: [id] });
});

describe("by name, with the tool of rules", () => {
  const rules = async (args: object, init: Parameters<typeof say>[2] = {}) =>
    (await say("c", script(make("rules", args), { text: "$results" }), init)).body.answer;

  test("it is listed with watches, paused and cancelled", async () => {
    expect(await rules({ do: "list" })).toContain(`${id}: “Door open, lamp on”`);
    expect(await rules({ do: "pause", name: "door open, lamp on" })).toContain("is paused");
    expect(sets(bridge).at(-1)).toMatchObject({ drop: [id] });
    expect(await rules({ do: "list" })).toContain("(paused)");
    expect(await rules({ do: "cancel", id })).toContain("is cancelled");
    expect(await rules({ do: "list" })).not.toContain(id);
  });

  test("one at a time of the sun is listed with what the bridge says of its next time", async () => {
    const at = { of: "sunrise" as const, minutes: 0 };
    drafts(bridge, (automation) => ({ ...automation, at }));
    const { when: _, ...input } = INPUT;
    const sun = await allows("c", { ...input, name: "Morning", at: "sunrise" });
    const now = ["There is no sunrise these days. Next time: Fri 15 Jan 2027."];
    bridge.onOrder = (order) => ({
      status:
        order.do === "status" && order.rules.includes(sun.id)
          ? [{ rule: sun.id, version: 1, state: "armed", now, runs: [] }]
          : [],
    });
    expect(await rules({ do: "list" })).toMatch(
      new RegExp(`${sun.id}: “Morning” \\(ready\\)\n  .*\n  ${now[0]}`, "s"),
    );
  });

  test.each([
    ["waiting", "has to be over first"],
    ["running", "running"],
    ["resting", "rests"],
    ["unknown", "a value is not known"],
    ["stopped", "stopped"],
  ] as const)("one that is %s is listed as such, line by line", async (state, words) => {
    const now = ["Front door: open"];
    bridge.onOrder = () => ({ status: [{ rule: id, version: 1, state, now, runs: [] }] });
    const lines = (await rules({ do: "list" }))?.split("\n");
    expect(lines).toEqual([
      `${id}: “Door open, lamp on” (${words})`,
      ...CARD.slice(1, 4).map((line) => `  ${line}`),
      "  Front door: open",
    ]);
  });

  test("one that waits, and whose values are false already, is not said to have to be over", async () => {
    const now = ["Front door: closed"];
    const status = { rule: id, version: 1, state: "waiting" as const, now, runs: [] };
    bridge.onOrder = () => ({ status: [{ ...status, over_at: Date.now() + 30_000 }] });
    const lines = (await rules({ do: "list" }))?.split("\n");
    expect(lines?.[0]).toBe(`${id}: “Door open, lamp on”`);
    expect(lines?.at(-1)).toBe("  Front door: closed");
  });

  test("/away, /back and /rules are understood where a chat reads no commands, also beside a model", async () => {
    const text = async (words: string) => (await say("console", words)).body;
    expect(await text("/away")).toMatchObject({ answer: "You count as away.", model: "edgecall" });
    expect(await listed()).toMatchObject({ away: [{ person: "anna" }] });
    expect((await text("/back")).answer).toBe("You count as being at home.");
    expect(await listed()).toMatchObject({ away: [] });
    expect((await text(" /rules ")).answer).toContain(`${id}: “Door open, lamp on”`);
  });

  test("its runs are told by their reasons in words", async () => {
    const runs = [
      run(id, { state: "not_run", why: "only_if", because: [] }),
      run(id, { firing: 2, state: "stopped", why: "unconfirmed" }),
      run(id, { firing: 3 }),
    ];
    bridge.onOrder = () => ({ status: [{ rule: id, version: 1, state: "armed", now: [], runs }] });
    const text = await rules({ do: "history", id });
    expect(text).toContain("✓ (Front door: open)");
    expect(text).toContain("⚠ (Front door: open; a device did not report in time)");
    expect(text).toContain("⚠ (it was to run only if something else is so)");
    expect(text).not.toMatch(/not_run|only_if|unconfirmed/);
  });

  test("of many runs the last ten are told, the newest first", async () => {
    const runs = Array.from({ length: 12 }, (_, at) =>
      run(id, { firing: at + 1, because: [`run ${at + 1} of 12`] }),
    );
    bridge.onOrder = () => ({ status: [{ rule: id, version: 1, state: "armed", now: [], runs }] });
    const text = await rules({ do: "history", id });
    const told = text?.match(/run \d+ of 12/g);
    expect(told).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3].map((firing) => `run ${firing} of 12`));
  });

  test("to resume it asks an owner with its card", async () => {
    await rules({ do: "pause", id });
    const turn = rules({ do: "resume", id });
    const question = await until(
      async () =>
        ((await (await ask("/v1/questions")).json()) as { questions: Array<{ id: string; text: string }> })
          .questions[0],
    );
    expect(question.text).toBe(CARD[0]);
    await ask(`/v1/questions/${question.id}`, {
      method: "POST",
      body: JSON.stringify({ answer: "approve" }),
    });
    expect(await turn).toContain("acts from now on");
    expect(await listed()).toMatchObject({ automations: [{ id, version: 2, status: "active" }] });
  });
});

describe("who is at home", () => {
  const words = () => bridge.received.filter((frame) => frame.t === "presence_said");
  const says = (away: boolean, token = TOKENS.owner) =>
    ask("/v1/presence", { method: "PUT", body: JSON.stringify({ away }), token });

  test("a person's word goes to the bridge, and again to one that comes", async () => {
    expect((await says(true)).status).toBe(204);
    expect(words()).toMatchObject([{ all: [{ person: "anna", away: true }] }]);
    expect(await listed()).toMatchObject({ away: [{ person: "anna" }] });
    await leave(bridge);
    bridge = await acting({ hash: await rulesHash([{ id, version: 1 }]) });
    await until(() => words().length === 1);
    expect(words()).toMatchObject([{ all: [{ person: "anna", away: true }] }]);
  });

  test("a bridge that was away for days hears that somebody came back meanwhile", async () => {
    await says(true);
    await leave(bridge);
    await says(false);
    await passUntil(T0 + 2 * DAY_MS);
    bridge = await acting({ hash: await rulesHash([{ id, version: 1 }]) });
    await until(() => words().length === 1);
    expect(words()).toMatchObject([{ all: [{ person: "anna", away: false, at: T0 }] }]);
  });

  test("the bridge gets the words of 50 persons: first of those who are away, then the newest", async () => {
    await runInDurableObject(ruleHome(), (instance: Home) => {
      const store = automationsOf(instance.access.home);
      for (let n = 0; n < 60; n += 1)
        store.say({ person: `p-${n}`, name: `P ${n}`, away: n === 0, at: T0 - 60 + n });
    });
    await says(false);
    const [frame] = words();
    const persons = frame?.t === "presence_said" ? frame.all.map(({ person }) => person) : [];
    expect(persons).toHaveLength(50);
    expect(persons.slice(0, 3)).toEqual(["p-0", "anna", "p-59"]);
  });

  test("is said by members, and not by guests", async () => {
    expect((await says(true, TOKENS.guest)).status).toBe(403);
    expect(words()).toEqual([]);
  });
});

/** Steps that the gateway carries out, words about who is at home, and a home that takes the bridge's rights away. */
import { writeFileSync } from "node:fs";
import { AUTOMATIONS_MAX } from "@edgecall/core/protocol/automation.ts";
import { CLOSE } from "@edgecall/core/protocol/frames.ts";
import { KeyPair } from "@edgecall/node/keypair.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { TEST_MS, useActing, WITHIN_MS } from "../testkit/acting.ts";

const acting = useActing();
const { hosted } = acting;
const { played } = hosted;

describe("with the gateway", { tags: ["needs/mosquitto"], timeout: TEST_MS }, () => {
  beforeEach(async () => {
    await acting.dial(10);
    await hosted.publisher.plug("fan");
    await acting.run();
  });

  test("an action of an agent, and what opens a way in, is asked for until the gateway answers, with one id", async () => {
    const [dial, fan] = [await acting.device("dial"), await acting.device("plug-fan")];
    const agent = { ...acting.step(fan), of: "agent" as const, key: "1a2b", agent: "pi", action: "blink" };
    const rule = acting.rule({
      when: [acting.above(dial, 50)],
      do: [agent, acting.step(fan, { on: true }, { danger: "way_in" })],
      say: "Hot.",
    });
    acting.place(rule);
    await acting.isIn(rule.id, "armed");
    await acting.turn(60);
    const { act } = await played.home.next("act");
    expect(act).toEqual({ id: `${rule.id}:1:1:0`, rule: rule.id, version: 1, firing: 1, step: 0 });
    await until(() => played.home.of("act").length >= 2, { within: WITHIN_MS, what: "it is asked again" });
    played.home.drop();
    await until(() => played.home.connections === 2, { within: WITHIN_MS });
    await until(() => played.home.of("act").length >= 3, {
      within: WITHIN_MS,
      what: "and after a reconnect",
    });
    expect(new Set(played.home.of("act").map((frame) => frame.act.id)).size).toBe(1);
    played.home.send({ t: "acted", id: act.id, acted: { outcome: "confirmed", text: "it blinks" } });
    const second = await played.home.next("act", (frame) => frame.act.step === 1);
    played.home.send({
      t: "acted",
      id: second.act.id,
      acted: { outcome: "not_sent", text: "nobody said yes" },
    });
    const { run } = await acting.told(rule.id);
    expect(run?.steps).toMatchObject([
      { step: 0, outcome: "confirmed", text: "it blinks." },
      { step: 1, outcome: "not_sent", text: "nobody said yes." },
    ]);
    expect(hosted.publisher.sentTo("fan")).toEqual([]);
  });

  test("who has the broker's password neither asks for a step nor answers one, nor does another gateway", async () => {
    const [dial, fan] = [await acting.device("dial"), await acting.device("plug-fan")];
    const agent = { ...acting.step(fan), of: "agent" as const, key: "1a2b", agent: "pi", action: "blink" };
    const rule = acting.rule({ when: [acting.above(dial, 50)], do: [agent, acting.step(fan)], say: "Hot." });
    acting.place(rule);
    await acting.isIn(rule.id, "armed");
    const request = { id: `${rule.id}:1:1:0`, rule: rule.id, version: 1, firing: 1, step: 0 };
    const forged = { outcome: "confirmed", text: "forged" } as const;
    const texts = [
      { t: "act", act: request },
      { t: "acted", id: request.id, acted: forged },
      { command: "act", request_id: request.id, payload: request },
      { agent_id: "pi", report_type: "result", timestamp: 1, payload: { ...forged, request_id: request.id } },
    ].map((one) => JSON.stringify(one));
    const topics = [
      "evoclaw/agents/pi/commands",
      "evoclaw/agents/pi/reports",
      "evoclaw/agents/pi/events",
      "evoclaw/agents/pi/tools",
      "evoclaw/agents/plug-fan/reports",
      "evoclaw/bridge/commands",
      "evoclaw/bridge/act",
      "evoclaw/acted",
      "plugs/fan/up/acted",
      "homeassistant/status",
    ];
    const attack = async () => {
      for (const topic of topics) for (const text of texts) await hosted.publisher.say(topic, text);
    };
    await attack();
    // A value that the bridge has read is behind them.
    await acting.turn(60);
    const { act } = await played.home.next("act");
    expect(act).toEqual(request);
    await attack();
    for (const id of [
      `${rule.id}:1:1:1`,
      `${rule.id}:1:2:0`,
      `${rule.id}:2:1:0`,
      "a-0000:1:1:0",
      "",
      "__proto__",
    ])
      played.home.send({ t: "acted", id, acted: forged });
    const ours = played.home.gatewayKey;
    played.home.gatewayKey = KeyPair.make().publicKey;
    played.home.drop();
    await played.home.next("conditions", ({ all }) => all.some(({ code }) => code === "gateway_key_changed"));
    played.home.send({ t: "acted", id: act.id, acted: forged });
    expect(await acting.order({ do: "status", rules: [rule.id], language: "en" })).toMatchObject({
      error: expect.any(String),
    });
    expect(hosted.publisher.sentTo("fan")).toEqual([]);
    played.home.gatewayKey = ours;
    played.home.drop();
    const before = played.home.of("act").length;
    await until(() => played.home.of("act").length > before, {
      within: WITHIN_MS,
      what: "it is asked again",
    });
    expect(new Set(played.home.of("act").map((frame) => frame.act.id)).size).toBe(1);
    played.home.send({ t: "acted", id: act.id, acted: { outcome: "confirmed", text: "it blinks" } });
    const { run } = await acting.told(rule.id);
    expect(run?.steps).toMatchObject([{ step: 0, text: "it blinks." }, { step: 1 }]);
    expect(JSON.stringify(acting.news())).not.toContain("forged");
    expect(hosted.publisher.sentTo("fan")).toEqual(["ON"]);
  });

  test("without it such a step is not run, and told when it is back", async () => {
    const [dial, fan] = [await acting.device("dial"), await acting.device("plug-fan")];
    const rule = acting.rule({
      when: [acting.above(dial, 50)],
      do: [acting.step(fan, { on: true }, { danger: "way_in" })],
    });
    acting.place(rule);
    await acting.isIn(rule.id, "armed");
    await until(() => JSON.stringify(acting.content()).includes('"armed":true'), { within: WITHIN_MS });
    played.home.refuseWith = 503;
    played.home.drop();
    await acting.turn(60);
    await until(() => JSON.stringify(acting.content()).includes('"why":"not_sent"'), { within: WITHIN_MS });
    played.home.refuseWith = undefined;
    const { run } = await acting.told(rule.id);
    expect(run).toMatchObject({ why: "not_sent", steps: [{ outcome: "not_sent" }] });
    expect(hosted.publisher.sentTo("fan")).toEqual([]);
    expect(played.home.of("act")).toEqual([]);
  });

  test("another gateway's words about rules are not taken, and the bridge says so", async () => {
    const [dial, fan] = [await acting.device("dial"), await acting.device("plug-fan")];
    const rule = acting.rule({ when: [acting.above(dial, 50)], do: [acting.step(fan)] });
    acting.place(rule);
    await acting.isIn(rule.id, "armed");
    played.home.gatewayKey = KeyPair.make().publicKey;
    played.home.drop();
    await played.home.next("conditions", ({ all }) => all.some(({ code }) => code === "gateway_key_changed"));
    played.home.send({ t: "automations", set: [], drop: [rule.id], all: true });
    expect(await acting.order({ do: "status", rules: [rule.id], language: "en" })).toMatchObject({
      error: expect.any(String),
    });
    // The rule is there, and works.
    await acting.turn(60);
    await until(() => hosted.publisher.sentTo("fan").length === 1, { within: WITHIN_MS });
  });

  test("a person's word that they are away counts when it has held, and is kept over a restart", async () => {
    const [dial, fan] = [await acting.device("dial"), await acting.device("plug-fan")];
    const rule = acting.rule({
      when: [acting.above(dial, 50)],
      only_if: { presence: "nobody_home" },
      do: [acting.step(fan)],
    });
    acting.place(rule);
    await acting.isIn(rule.id, "armed");
    await acting.turn(60);
    await acting.ran(rule.id, ({ state, why }) => state === "not_run" && why === "only_if");
    const said = { person: "u-1", name: "Anna", away: true, at: Date.now() };
    played.home.send({ t: "presence_said", all: [said] });
    const away = async () => {
      const ordered = await acting.order({ do: "status", rules: [], language: "en" });
      return "status" in ordered && ordered.presence?.home === "nobody";
    };
    await until(away, { within: WITHIN_MS, what: "nobody is at home" });
    await acting.turn(10);
    await until(() => JSON.stringify(acting.content()).includes('"armed":true'), { within: WITHIN_MS });
    await acting.kill();
    await acting.run();
    await until(away, { within: WITHIN_MS, what: "still nobody" });
    await acting.turn(60);
    await until(() => hosted.publisher.sentTo("fan").length === 1, { within: WITHIN_MS });
  });

  test("a home that has all the rules it may have takes another one in place of one", async () => {
    const [dial, fan] = [await acting.device("dial"), await acting.device("plug-fan")];
    const made = () => acting.rule({ when: [acting.above(dial, 50)], do: [acting.step(fan)] });
    const rules = Array.from({ length: AUTOMATIONS_MAX }, made);
    acting.place(...rules);
    const last = made();
    const set = [...rules.slice(1), last].map((rule) => acting.signed(rule));
    played.home.send({ t: "automations", set, drop: [], all: true });
    await acting.isIn(last.id, "armed");
    expect(await acting.status(rules[0]?.id ?? "")).toBeUndefined();
  });

  test("a bridge that is revoked has no rules any more, and no text of them", async () => {
    const [dial, fan] = [await acting.device("dial"), await acting.device("plug-fan")];
    const rule = acting.rule({ when: [acting.above(dial, 50)], do: [acting.step(fan)] });
    acting.place(rule);
    await acting.isIn(rule.id, "armed");
    played.home.refuseWith = 401;
    played.home.drop(CLOSE.revoked);
    await until(() => (acting.content().rules as unknown[]).length === 0, { within: WITHIN_MS });
    expect(JSON.stringify(acting.content())).not.toContain(rule.name);
  });

  test("a bridge that no gateway has welcomed for 30 days begins nothing, says so, and goes on when it is back", async () => {
    const [dial, fan] = [await acting.device("dial"), await acting.device("plug-fan")];
    const rule = acting.rule({ when: [acting.above(dial, 50)], do: [acting.step(fan)], say: "Hot." });
    acting.place(rule);
    await acting.isIn(rule.id, "armed");
    const onDisk = (part: string) =>
      until(() => JSON.stringify(acting.content()).includes(part), { within: WITHIN_MS, what: part });
    await onDisk('"armed":true');
    await acting.kill();
    const DAY_MS = 86_400_000;
    const { welcomed, ...content } = acting.content();
    writeFileSync(acting.file, JSON.stringify({ ...content, welcomed: Number(welcomed) - 31 * DAY_MS }));
    // Another gateway's welcome is none.
    const ours = played.home.gatewayKey;
    played.home.gatewayKey = KeyPair.make().publicKey;
    await acting.run();
    await played.home.next("conditions", ({ all }) =>
      all.some(({ code }) => code === "rules_without_gateway"),
    );
    await acting.turn(60);
    await until(
      async () => {
        const id = crypto.randomUUID();
        played.home.send({ t: "states", id, agents: [dial.id] });
        const { devices } = await played.home.next("states", (frame) => frame.id === id);
        return devices[0]?.readings[0]?.value === 60;
      },
      { within: WITHIN_MS, what: "the bridge has the value" },
    );
    expect(hosted.publisher.sentTo("fan")).toEqual([]);
    played.home.gatewayKey = ours;
    played.home.drop();
    await acting.told(rule.id);
    expect(hosted.publisher.sentTo("fan")).toEqual(["ON"]);
  });

  test("a device that a person removes, and one that goes away, pause the rule and are told", async () => {
    await hosted.publisher.plug("lamp");
    const [dial, fan, lamp] = [
      await acting.device("dial"),
      await acting.device("plug-fan"),
      await acting.device("plug-lamp"),
    ];
    const removed = acting.rule({ when: [acting.above(dial, 50)], do: [acting.step(fan)] });
    const gone = acting.rule({ when: [acting.above(dial, 50)], do: [acting.step(lamp)] });
    acting.place(removed, gone);
    for (const { id } of [removed, gone]) await acting.isIn(id, "armed");
    played.home.send({ t: "forget_device", key: fan.key });
    await hosted.publisher.config("switch/lamp", "");
    for (const { id } of [removed, gone]) {
      await until(() => acting.news().some((one) => one.rule === id && one.paused === "device_gone"), {
        within: WITHIN_MS,
        what: `${id} is paused`,
      });
      await acting.isIn(id, "stopped");
    }
    await acting.turn(60);
    expect(hosted.publisher.sentTo("lamp")).toEqual([]);
  });
});

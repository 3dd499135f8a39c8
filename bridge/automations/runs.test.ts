/** What becomes of a run: outcomes, ends, undo, and what is told of it. A real bridge program, Mosquitto and files. */
import type { AllowedAutomation } from "@edgecall/core/protocol/automation.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { TEST_MS, useActing, WITHIN_MS } from "../testkit/acting.ts";

const acting = useActing();
const { hosted } = acting;

describe("a run", { tags: ["needs/mosquitto"], timeout: TEST_MS }, () => {
  beforeEach(() => acting.dial(10));

  /** A rule on the dial, armed. */
  async function armed(more: Pick<AllowedAutomation, "do"> & Partial<AllowedAutomation>, above = 50) {
    const dial = await acting.device("dial");
    const rule = acting.rule({ when: [acting.above(dial, above)], ...more });
    acting.place(rule);
    await acting.isIn(rule.id, "armed");
    return rule;
  }

  test("that is confirmed and has nothing to say is told as a count with the next news", async () => {
    await hosted.publisher.plug("fan");
    await acting.run();
    const fan = await acting.device("plug-fan");
    const rule = await armed({ do: [acting.step(fan)], over: "off", end: [acting.step(fan, { on: false })] });
    await acting.turn(60);
    await acting.ran(rule.id, ({ steps }) => steps.length === 1);
    await acting.turn(10);
    await acting.ran(rule.id, ({ state }) => state === "done");
    expect(hosted.publisher.sentTo("fan")).toEqual(["ON", "OFF"]);
    expect(acting.news()).toEqual([]);
    // Its device stops answering.
    await hosted.publisher.plug("fan", { silent: true });
    await acting.isIn(rule.id, "armed");
    await acting.turn(60);
    const { run, silent } = await acting.told(rule.id);
    expect(run).toMatchObject({ firing: 2, state: "stopped", why: "unconfirmed" });
    expect(silent).toBe(1);
  });

  test("whose device does not answer is told at once as not confirmed, is never sent again, and is told when the device answers late", async () => {
    await hosted.publisher.plug("fan", { silent: true });
    await hosted.publisher.plug("lamp");
    await acting.run();
    const [fan, lamp] = [await acting.device("plug-fan"), await acting.device("plug-lamp")];
    const rule = await armed({ do: [acting.step(fan), acting.step(lamp)] });
    await acting.turn(60);
    const { run } = await acting.told(rule.id);
    expect(run).toMatchObject({ state: "stopped", why: "unconfirmed", steps: [{ outcome: "unconfirmed" }] });
    expect(hosted.publisher.sentTo("lamp")).toEqual([]);
    await hosted.publisher.say("plugs/fan/state", "ON");
    const late = await acting.told(rule.id, ({ steps }) => steps[0]?.outcome === "late");
    expect(late.run?.firing).toBe(1);
    expect(hosted.publisher.sentTo("fan")).toEqual(["ON"]);
  });

  test("of a command that nothing ever confirms is told as sent, and goes on", async () => {
    await hosted.publisher.plug("fan", { silent: true, more: { state_topic: undefined } });
    await hosted.publisher.plug("lamp");
    await acting.run();
    const [fan, lamp] = [await acting.device("plug-fan"), await acting.device("plug-lamp")];
    const rule = await armed({ do: [acting.step(fan), acting.step(lamp)], say: "Hot." });
    await acting.turn(60);
    const { run } = await acting.told(rule.id);
    expect(run?.steps.map(({ outcome }) => outcome)).toEqual(["sent", "confirmed"]);
  });

  test("whose device is away is tried again, sends nothing until then, and nothing twice", async () => {
    await hosted.publisher.plug("fan");
    await acting.run();
    const fan = await acting.device("plug-fan");
    const rule = await armed({ do: [acting.step(fan)], say: "Hot." });
    await hosted.publisher.say("plugs/fan/up", "offline", true);
    await hosted.agentIn("plug-fan", false);
    await acting.turn(60);
    await until(() => JSON.stringify(acting.content()).includes('"outcome":"not_sent"'), {
      within: WITHIN_MS,
      what: "it was tried",
    });
    await hosted.publisher.say("plugs/fan/up", "online", true);
    const { run } = await acting.told(rule.id);
    expect(run).toMatchObject({ state: "done", steps: [{ outcome: "confirmed" }] });
    expect(hosted.publisher.sentTo("fan")).toEqual(["ON"]);
  });

  test("whose device stays away is told as not sent", async () => {
    await hosted.publisher.plug("fan");
    await acting.run();
    const fan = await acting.device("plug-fan");
    const rule = await armed({ do: [acting.step(fan)] });
    await hosted.publisher.say("plugs/fan/up", "offline", true);
    await hosted.agentIn("plug-fan", false);
    await acting.turn(60);
    const { run } = await acting.told(rule.id);
    expect(run).toMatchObject({ why: "not_sent", steps: [{ outcome: "not_sent" }] });
    expect(hosted.publisher.sentTo("fan")).toEqual([]);
  });

  test("brings the value before back when it is over, and leaves what somebody changed since", async () => {
    await hosted.publisher.plug("fan");
    await hosted.publisher.plug("lamp");
    await acting.run();
    await hosted.publisher.say("plugs/fan/state", "OFF", true);
    await hosted.publisher.say("plugs/lamp/state", "OFF", true);
    const [fan, lamp] = [await acting.device("plug-fan"), await acting.device("plug-lamp")];
    const rule = await armed({ do: [acting.step(fan), acting.step(lamp)], over: "undo" });
    await acting.turn(60);
    await until(() => hosted.publisher.sentTo("lamp").length === 1, { within: WITHIN_MS });
    await acting.ran(rule.id, ({ steps }) => steps.length === 2);
    // By hand.
    await hosted.publisher.say("plugs/lamp/state", "OFF", true);
    await acting.turn(10);
    const run = await acting.ran(rule.id, ({ ended }) => ended !== undefined);
    expect(run.state).toBe("undone");
    expect(hosted.publisher.sentTo("fan")).toEqual(["ON", "OFF"]);
    expect(hosted.publisher.sentTo("lamp")).toEqual(["ON"]);
    expect(acting.news()).toEqual([]);
  });

  test("whose device takes back what it reported is told otherwise", async () => {
    await hosted.publisher.plug("fan");
    await acting.run();
    const fan = await acting.device("plug-fan");
    const rule = await armed({ do: [acting.step(fan)], say: "Hot." });
    await acting.turn(60);
    await acting.told(rule.id, ({ state }) => state === "done");
    await hosted.publisher.say("plugs/fan/state", "OFF");
    const { run } = await acting.told(rule.id, ({ why }) => why === "unconfirmed");
    expect(run?.steps).toMatchObject([
      { step: 0, outcome: "unconfirmed", text: expect.stringContaining("took it back") },
    ]);
  });

  test("is undone by a person, once", async () => {
    await hosted.publisher.plug("fan");
    await acting.run();
    await hosted.publisher.say("plugs/fan/state", "OFF", true);
    const fan = await acting.device("plug-fan");
    const rule = await armed({ do: [acting.step(fan)], say: "Hot." });
    await acting.turn(60);
    const { run } = await acting.told(rule.id);
    expect(run?.undo).toBe(true);
    const order = { do: "undo", rule: rule.id, firing: 1, by: "anna", language: "en" } as const;
    expect(await acting.order(order)).toMatchObject({
      confirmed: true,
      text: expect.stringContaining("off"),
    });
    expect(hosted.publisher.sentTo("fan")).toEqual(["ON", "OFF"]);
    expect(await acting.order(order)).toMatchObject({ error: expect.any(String) });
    expect(await acting.order({ ...order, rule: "a-ffff" })).toMatchObject({ error: expect.any(String) });
    expect((await acting.status(rule.id))?.runs.at(-1)?.state).toBe("undone");
  });

  /** A valve that is open, and closes when it is told. */
  async function valve() {
    const { publisher } = hosted;
    await publisher.on("water/set", (payload) =>
      publisher.say("water", payload === "CLOSE" ? "closed" : "open", true),
    );
    await publisher.config("valve/water", {
      ...{ name: null, unique_id: "water", command_topic: "water/set", state_topic: "water" },
      ...{ device_class: "water", device: { identifiers: ["water"], name: "Water valve" } },
    });
    await publisher.say("water", "open", true);
    return await acting.device("water-valve");
  }

  test("that closed a valve offers no undo, and stays done where one is asked for", async () => {
    await acting.run();
    const water = await valve();
    const rule = await armed({ do: [acting.step(water, {}, { action: "close" })], say: "Closed." });
    await acting.turn(60);
    const { run } = await acting.told(rule.id);
    expect(run).toMatchObject({ state: "done", steps: [{ outcome: "confirmed" }] });
    expect(run).not.toHaveProperty("undo");
    const order = { do: "undo", rule: rule.id, firing: 1, by: "anna", language: "en" } as const;
    expect(await acting.order(order)).toEqual({
      error: "No button undoes this, since the way back may do harm. Ask for it in words.",
    });
    expect(await acting.order({ ...order, language: "de" })).toMatchObject({
      error: expect.stringMatching(/^Das nimmt keine Taste zurück/),
    });
    const shown = (await acting.status(rule.id))?.runs.at(-1);
    expect(shown).toMatchObject({ state: "done", steps: [{ outcome: "confirmed" }] });
    expect(shown).not.toHaveProperty("undo");
    expect(acting.news()).toHaveLength(1);
  });

  test("with a way back for one of two devices brings that one back, and says what stays", async () => {
    await hosted.publisher.plug("fan");
    await acting.run();
    await hosted.publisher.say("plugs/fan/state", "OFF", true);
    const [water, fan] = [await valve(), await acting.device("plug-fan")];
    const close = acting.step(water, {}, { action: "close" });
    const rule = await armed({ do: [close, acting.step(fan)], say: "Closed." });
    await acting.turn(60);
    expect((await acting.told(rule.id)).run?.undo).toBe(true);
    const order = { do: "undo", rule: rule.id, firing: 1, by: "anna", language: "en" } as const;
    expect(await acting.order(order)).toMatchObject({
      confirmed: false,
      text: expect.stringMatching(/off.*Water valve: A person has to ask for the way back\.$/),
    });
    expect(hosted.publisher.sentTo("fan")).toEqual(["ON", "OFF"]);
    const shown = (await acting.status(rule.id))?.runs.at(-1);
    expect(shown?.state).toBe("done");
    expect(shown?.steps.map(({ outcome }) => outcome)).toEqual(["confirmed", "confirmed", "confirmed"]);
    expect(acting.news()).toHaveLength(1);
  });

  test("is undone also after one that found all as it wants it", async () => {
    await hosted.publisher.plug("fan");
    await acting.run();
    await hosted.publisher.say("plugs/fan/state", "OFF", true);
    const fan = await acting.device("plug-fan");
    const rule = await armed({ do: [acting.step(fan)], say: "Hot." });
    const runs = async () =>
      (await acting.status(rule.id))?.runs.map(({ firing, undo = false }) => [firing, undo]);
    await acting.turn(60);
    await acting.told(rule.id, ({ firing }) => firing === 1);
    await acting.turn(10);
    await acting.isIn(rule.id, "armed");
    await acting.turn(60);
    const { run } = await acting.told(rule.id, ({ firing }) => firing === 2);
    expect(run).not.toHaveProperty("undo");
    expect(await runs()).toEqual([
      [1, true],
      [2, false],
    ]);
    const order = { do: "undo", rule: rule.id, firing: 1, by: "anna", language: "en" } as const;
    expect(await acting.order(order)).toMatchObject({ confirmed: true });
    expect(hosted.publisher.sentTo("fan").at(-1)).toBe("OFF");
    expect((await acting.status(rule.id))?.runs.map(({ state }) => state)).toEqual(["undone", "done"]);
  });

  test("says its values and the answer to an undo in the language of the rule's maker", async () => {
    await hosted.publisher.plug("fan");
    await acting.run();
    await hosted.publisher.say("plugs/fan/state", "OFF", true);
    const fan = await acting.device("plug-fan");
    const rule = await armed({ do: [acting.step(fan)], say: "Heiß.", language: "de" });
    await acting.turn(60);
    const { run } = await acting.told(rule.id);
    expect(run?.because).toEqual([expect.stringMatching(/, Temperatur: 60 °C$/)]);
    expect((await acting.status(rule.id))?.now).toEqual(run?.because);
    const order = { do: "undo", rule: rule.id, firing: 1, by: "anna", language: "de" } as const;
    expect(await acting.order(order)).toMatchObject({
      confirmed: true,
      text: expect.stringMatching(/: wie vorher\.$/),
    });
    expect(await acting.order(order)).toMatchObject({ error: expect.stringContaining("nicht rückgängig") });
  });

  test("of rules that make each other run is stopped, and told with them in their order", async () => {
    await hosted.publisher.plug("fan");
    await hosted.publisher.plug("lamp");
    await acting.run();
    const [fan, lamp] = [await acting.device("plug-fan"), await acting.device("plug-lamp")];
    for (const name of ["fan", "lamp"]) await hosted.publisher.say(`plugs/${name}/state`, "OFF");
    const isOn = { reading: "switch", type: "boolean", is: "equal", value: true, hold_ms: 300 } as const;
    const hands = (from: typeof fan, to: typeof fan) =>
      acting.rule({
        when: [acting.reading(from, isOn)],
        do: [acting.step(to), acting.step(from, { on: false })],
      });
    const [lampOn, fanOn] = [hands(lamp, fan), hands(fan, lamp)];
    acting.place(lampOn, fanOn);
    for (const { id } of [lampOn, fanOn]) await acting.isIn(id, "armed");
    // By hand.
    await hosted.publisher.say("plugs/lamp/state", "ON");
    const told = await until(() => acting.news().find(({ paused }) => paused === "loop"), {
      within: WITHIN_MS,
    });
    const names = [lampOn.name, fanOn.name];
    expect(told).toMatchObject({ rule: fanOn.id, chain: [...names, ...names] });
    expect(hosted.publisher.sentTo("fan")).toEqual(["ON", "OFF", "ON"]);
  });

  test("of a rule that was already so waits until it was not", async () => {
    await hosted.publisher.plug("fan");
    await acting.turn(60);
    await acting.run();
    const [dial, fan] = [await acting.device("dial"), await acting.device("plug-fan")];
    const rule = acting.rule({ when: [acting.above(dial, 50)], do: [acting.step(fan)] });
    acting.place(rule);
    expect(await acting.isIn(rule.id, "waiting")).toMatchObject({
      runs: [],
      now: [expect.stringContaining("60")],
    });
    await acting.turn(61);
    await acting.turn(10);
    await acting.isIn(rule.id, "armed");
    expect(hosted.publisher.sentTo("fan")).toEqual([]);
    await acting.turn(60);
    await until(() => hosted.publisher.sentTo("fan").length === 1, { within: WITHIN_MS });
  });

  test("two rules against each other on one device are held apart, and what a rule switched sets off no other one without a hold", async () => {
    await hosted.publisher.plug("fan");
    await hosted.publisher.plug("lamp");
    await acting.run();
    const [dial, fan, lamp] = [
      await acting.device("dial"),
      await acting.device("plug-fan"),
      await acting.device("plug-lamp"),
    ];
    const on = acting.rule({ when: [acting.above(dial, 50)], do: [acting.step(fan)], say: "On." });
    const off = acting.rule({
      when: [acting.above(dial, 70)],
      do: [acting.step(fan, { on: false })],
      say: "Off.",
    });
    const reading = acting.reading(fan, { reading: "switch", type: "boolean", is: "equal", value: true });
    const chained = acting.rule({ when: [reading], do: [acting.step(lamp)], say: "Chained." });
    acting.place(on, off, chained);
    for (const { id } of [on, off]) await acting.isIn(id, "armed");
    await acting.turn(60);
    await acting.told(on.id);
    await acting.turn(80);
    await acting.told(off.id);
    expect(hosted.publisher.sentTo("fan")).toEqual(["ON", "OFF"]);
    expect(hosted.publisher.sentTo("lamp")).toEqual([]);
    expect((await acting.status(chained.id))?.runs).toEqual([]);
    // By hand it counts.
    await acting.isIn(chained.id, "armed");
    await hosted.publisher.say("plugs/fan/state", "ON");
    await acting.told(chained.id);
    expect(hosted.publisher.sentTo("lamp")).toEqual(["ON"]);
  });
});

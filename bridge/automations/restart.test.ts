/** A bridge that ends in the middle of what a rule does, and disks that refuse: nothing is done twice, and nothing is lost unsaid. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeCondition } from "@edgecall/core/conditions/conditions.ts";
import { rulesHash } from "@edgecall/core/rules/rules-hash.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { TEST_MS, useActing, WITHIN_MS } from "../testkit/acting.ts";

const acting = useActing();
const { hosted } = acting;
const { played } = hosted;
/** Waits until the file has it: a kill loses what is not there. */
const onDisk = (part: string) =>
  until(() => JSON.stringify(acting.content()).includes(part), {
    within: WITHIN_MS,
    what: `${part} on disk`,
  });
const ledger = () => readFileSync(join(hosted.folder, "device-calls.jsonl"), "utf8");

describe("a bridge that ends", { tags: ["needs/mosquitto"], timeout: TEST_MS }, () => {
  beforeEach(() => acting.dial(10));

  test("after a command and before its answer looks at what the device says, and sends nothing twice", async () => {
    await hosted.publisher.plug("fan", { silent: true });
    await acting.run();
    const [dial, fan] = [await acting.device("dial"), await acting.device("plug-fan")];
    const rule = acting.rule({ when: [acting.above(dial, 50)], do: [acting.step(fan)], say: "Hot." });
    acting.place(rule);
    await acting.isIn(rule.id, "armed");
    await acting.turn(60);
    await until(() => ledger().includes('"t":"sent"'), { within: WITHIN_MS });
    await acting.kill();
    played.home.frames.length = 0;
    await acting.run();
    await hosted.agentIn("plug-fan");
    await hosted.publisher.say("plugs/fan/state", "ON");
    const { run } = await acting.told(rule.id);
    expect(run).toMatchObject({ firing: 1, state: "done", steps: [{ outcome: "confirmed" }] });
    expect(run?.steps[0]?.text).toContain("after an interruption");
    expect(hosted.publisher.sentTo("fan")).toEqual(["ON"]);
  });

  test("while it waits goes on with the next step, and with the end", async () => {
    await hosted.publisher.plug("fan");
    await hosted.publisher.plug("lamp");
    await acting.run();
    const [dial, fan, lamp] = [
      await acting.device("dial"),
      await acting.device("plug-fan"),
      await acting.device("plug-lamp"),
    ];
    const rule = acting.rule({
      when: [acting.above(dial, 50)],
      do: [acting.step(fan), acting.step(lamp, { on: true }, { wait_minutes: 0.1 })],
      over: "off",
      end: [acting.step(fan, { on: false }), acting.step(lamp, { on: false })],
    });
    acting.place(rule);
    await acting.isIn(rule.id, "armed");
    await acting.turn(60);
    await onDisk('"outcome":"confirmed"');
    await acting.kill();
    await acting.run();
    await until(() => hosted.publisher.sentTo("lamp").length === 1, { within: WITHIN_MS });
    await onDisk('"phase":"held"');
    await acting.kill();
    await acting.turn(10);
    await acting.run();
    await until(() => hosted.publisher.sentTo("lamp").length === 2, { within: WITHIN_MS });
    await until(() => hosted.publisher.sentTo("fan").length === 2, { within: WITHIN_MS });
    expect(hosted.publisher.sentTo("fan")).toEqual(["ON", "OFF"]);
    expect(hosted.publisher.sentTo("lamp")).toEqual(["ON", "OFF"]);
  });

  test("while the allowance of a rule ends carries its run's end out, and the rule is gone", async () => {
    await hosted.publisher.plug("fan");
    await acting.run();
    const [dial, fan] = [await acting.device("dial"), await acting.device("plug-fan")];
    const rule = acting.rule({
      when: [acting.above(dial, 50)],
      do: [acting.step(fan)],
      over: "off",
      end: [acting.step(fan, { on: false })],
    });
    acting.place(rule);
    await acting.isIn(rule.id, "armed");
    await acting.turn(60);
    await onDisk('"phase":"held"');
    await acting.kill();
    const text = acting.signed({ ...rule, allowed: { ...rule.allowed, until: Date.now() - 1_000 } });
    const content = acting.content() as { rules: object[] };
    const rules = content.rules.map((one) => ({ ...one, text }));
    writeFileSync(acting.file, JSON.stringify({ ...content, rules }));
    await acting.run();
    await until(() => hosted.publisher.sentTo("fan").length === 2, { within: WITHIN_MS });
    expect(hosted.publisher.sentTo("fan")).toEqual(["ON", "OFF"]);
    await until(() => (acting.content().rules as unknown[]).length === 0, { within: WITHIN_MS });
  });

  test("after a firing of which nothing was done has it in its record", async () => {
    await hosted.publisher.plug("fan");
    await acting.run();
    const [dial, fan] = [await acting.device("dial"), await acting.device("plug-fan")];
    const rule = acting.rule({
      when: [acting.above(dial, 50)],
      only_if: { presence: "nobody_home" },
      do: [acting.step(fan)],
    });
    acting.place(rule);
    await acting.isIn(rule.id, "armed");
    await acting.turn(60);
    await onDisk('"firing":1');
    await acting.kill();
    // Nothing fires it again.
    await acting.turn(10);
    await acting.run();
    const run = await acting.ran(rule.id, () => true);
    expect(run).toMatchObject({ firing: 1, state: "not_run", why: "only_if", because: [expect.any(String)] });
  });

  test("with nothing to do has its rules and their arming, and its hello says so", async () => {
    await hosted.publisher.plug("fan");
    await acting.run();
    const [dial, fan] = [await acting.device("dial"), await acting.device("plug-fan")];
    const rule = acting.rule({ when: [acting.above(dial, 50)], do: [acting.step(fan)] });
    acting.place(rule);
    await acting.isIn(rule.id, "armed");
    await acting.kill("SIGTERM");
    await acting.run();
    await until(() => played.home.of("hello").length === 2, { within: WITHIN_MS });
    expect(played.home.of("hello").at(-1)?.automations).toBe(await rulesHash([rule]));
    await acting.isIn(rule.id, "armed");
    await acting.turn(60);
    await until(() => hosted.publisher.sentTo("fan").length === 1, { within: WITHIN_MS });
  });

  test("with a broker that is gone for a while: what became so meanwhile runs once, what stayed so does not", async () => {
    await hosted.publisher.plug("fan");
    await acting.turn(60);
    await acting.run();
    const [dial, fan] = [await acting.device("dial"), await acting.device("plug-fan")];
    const rule = acting.rule({ when: [acting.above(dial, 50)], do: [acting.step(fan)] });
    acting.place(rule);
    await acting.isIn(rule.id, "waiting");
    await acting.kill();
    await acting.run();
    await acting.isIn(rule.id, "waiting");
    await acting.turn(10);
    await onDisk('"armed":true');
    await acting.kill();
    await acting.turn(60);
    await acting.run();
    await until(() => hosted.publisher.sentTo("fan").length === 1, { within: WITHIN_MS });
    expect(hosted.publisher.sentTo("fan")).toEqual(["ON"]);
  });
});

describe("a full disk", { tags: ["needs/mosquitto"], timeout: TEST_MS }, () => {
  test("sends nothing and says so; when there is room again, what is not too late is done", async () => {
    await acting.dial(10);
    await hosted.publisher.plug("fan");
    await acting.run();
    const [dial, fan] = [await acting.device("dial"), await acting.device("plug-fan")];
    const rule = acting.rule({ when: [acting.above(dial, 50)], do: [acting.step(fan)], say: "Hot." });
    acting.place(rule);
    await acting.isIn(rule.id, "armed");
    // A rename to a folder that is not empty fails, as a write to a full disk does.
    renameSync(acting.file, `${acting.file}.kept`);
    mkdirSync(join(acting.file, "full"), { recursive: true });
    await acting.turn(60);
    await played.home.next("conditions", ({ all }) => all.some(({ code }) => code === "rules_unwritten"));
    expect(hosted.publisher.sentTo("fan")).toEqual([]);
    expect(acting.news()).toEqual([]);
    rmSync(acting.file, { recursive: true });
    await acting.told(rule.id);
    expect(hosted.publisher.sentTo("fan")).toEqual(["ON"]);
    await until(() => played.home.of("conditions").at(-1)?.all.length === 0, { within: WITHIN_MS });
  });

  test("that stays full: the rule that runs is overdue, by its name and not the one that waits, until it has run", async () => {
    await acting.dial(10);
    await hosted.publisher.plug("fan");
    await acting.run();
    const [dial, fan] = [await acting.device("dial"), await acting.device("plug-fan")];
    const more = { do: [acting.step(fan)], say: "Hot." };
    const waits = acting.rule({ when: [acting.above(dial, 90)], ...more });
    const runs = acting.rule({ when: [acting.above(dial, 50)], ...more, name: "The due one" });
    acting.place(waits, runs);
    for (const { id } of [waits, runs]) await acting.isIn(id, "armed");
    await until(() => JSON.stringify(acting.content()).match(/"armed":true/g)?.length === 2, {
      within: WITHIN_MS,
    });
    const conditions = () => played.home.of("conditions").at(-1)?.all ?? [];
    expect(conditions()).toEqual([]);
    renameSync(acting.file, `${acting.file}.kept`);
    mkdirSync(join(acting.file, "full"), { recursive: true });
    await acting.turn(60);
    await until(() => conditions().some(({ code }) => code === "rule_overdue"), {
      within: WITHIN_MS,
      what: "a rule is overdue",
    });
    const said = conditions().map((one) => describeCondition(one).text);
    expect(said.filter((text) => text.includes("did not run"))).toEqual([
      "the rule The due one was due more than 2 minutes ago and did not run",
    ]);
    expect(hosted.publisher.sentTo("fan")).toEqual([]);
    rmSync(acting.file, { recursive: true });
    await acting.told(runs.id);
    await until(() => conditions().length === 0, { within: WITHIN_MS, what: "it is over" });
    expect(hosted.publisher.sentTo("fan")).toEqual(["ON"]);
  });

  test("on which the ledger cannot be written: nothing is sent, and the run says so", async () => {
    await acting.dial(10);
    await hosted.publisher.plug("fan");
    // A ledger that cannot be read could send twice.
    mkdirSync(join(hosted.folder, "device-calls.jsonl"));
    await acting.run();
    const [dial, fan] = [await acting.device("dial"), await acting.device("plug-fan")];
    const rule = acting.rule({ when: [acting.above(dial, 50)], do: [acting.step(fan)] });
    acting.place(rule);
    await acting.isIn(rule.id, "armed");
    await acting.turn(60);
    const { run } = await acting.told(rule.id);
    expect(run?.steps).toMatchObject([{ outcome: "not_sent", text: expect.stringContaining("write") }]);
    expect(hosted.publisher.sentTo("fan")).toEqual([]);
  });

  test("a damaged file counts as none, and the gateway's rules come again", async () => {
    await acting.dial(10);
    await hosted.publisher.plug("fan");
    writeFileSync(acting.file, "{");
    await acting.run();
    const { automations } = await played.home.next("hello");
    expect(automations).toBe(await rulesHash([]));
    const [dial, fan] = [await acting.device("dial"), await acting.device("plug-fan")];
    const rule = acting.rule({ when: [acting.above(dial, 50)], do: [acting.step(fan)] });
    acting.place(rule);
    await acting.isIn(rule.id, "armed");
  });
});

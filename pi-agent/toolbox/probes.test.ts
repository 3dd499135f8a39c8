import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { NoAnswer } from "../env/probe.ts";
import { type Broker, memoryLog, Peer, readyAgent, startBroker, testSettings } from "../testing/home.ts";
import { programFolder } from "../testing/programs/folder.ts";
import { probe } from "../testing/tools.ts";
import { alone, type Group } from "./group.ts";
import { Probes, type ProbesOptions } from "./probes.ts";
import { openToolbox } from "./toolbox.ts";

const closing: Array<() => Promise<unknown> | unknown> = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function probing(groups: Group[], more: Partial<ProbesOptions> = {}) {
  const { log, lines } = memoryLog();
  let changes = 0;
  const probes = new Probes(groups, {
    log,
    changed: () => (changes += 1),
    startWithinMs: 5_000,
    pauseMs: { first: 20, max: 80 },
    ...more,
  });
  closing.push(() => probes.close());
  await probes.start();
  return { probes, lines, changes: () => changes };
}

test("D2 a program that did not answer is tried again with growing pauses, and its tools appear when it answers", async () => {
  const tries: number[] = [];
  const late = alone(probe("late").tool, async () => {
    tries.push(performance.now());
    if (tries.length <= 4) throw new NoAnswer("'late' did not answer within 30 s");
    return undefined;
  });
  const absent = alone(probe("absent").tool, async () => "no program 'absent': install it");
  const { probes, lines, changes } = await probing([late, absent]);
  expect(probes.all.map(({ why }) => why)).toEqual([
    "'late' did not answer within 30 s; it is tried again from time to time",
    "no program 'absent': install it",
  ]);
  expect(lines).toMatchObject([{ level: "warn", event: "tools.no_answer", fields: { tools: ["late"] } }]);
  await until(() => changes() === 1, { what: "the tool came" });
  expect(probes.all[0]).toMatchObject({ why: undefined, tools: [{ name: "late" }] });
  expect(tries).toHaveLength(5);
  // A busy machine makes any pause longer; a timer of Node may be over 1 ms early.
  const pauses = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
  for (const [index, least] of [20, 40, 80, 80].entries())
    expect(pauses[index]).toBeGreaterThanOrEqual(least - 1);
});

test("D2 a slow program does not delay the start for long; its tools follow", async () => {
  const answer = Promise.withResolvers<undefined>();
  const slow = alone(probe("slow").tool, () => answer.promise);
  const quick = alone(probe("quick").tool);
  const { probes, changes } = await probing([slow, quick], { startWithinMs: 50 });
  expect(probes.all.map(({ tools }) => tools.length)).toEqual([0, 1]);
  expect(probes.all[0]?.why).toContain("has not answered yet");
  answer.resolve(undefined);
  await until(() => changes() === 1, { what: "the tool came" });
  expect(probes.all.map(({ tools }) => tools.length)).toEqual([1, 1]);
});

test("D2 after the end there are no more tries", async () => {
  let tries = 0;
  const group = alone(probe("never").tool, async () => {
    tries += 1;
    throw new NoAnswer("no");
  });
  const { probes } = await probing([group]);
  await until(() => tries >= 3);
  probes.close();
  const before = tries;
  // Nothing more may happen, so the time for several tries has to pass.
  await pause(200);
  expect(tries).toBe(before);
});

test("D2 an agent whose programs die at its start advertises their tools when they answer", async () => {
  const broker: Broker = await startBroker();
  closing.push(() => broker.stop());
  const peer = await Peer.connect(broker.port);
  closing.push(() => peer.stop());
  const folder = mkdtempSync(join(tmpdir(), "edgecall-busy-"));
  // Like a machine with too little memory: killed twice, and working the third time.
  const busy = (name: string) =>
    `echo x >> ${folder}/${name}; [ $(wc -l < ${folder}/${name}) -gt 2 ] || kill -9 $$\necho 1.0`;
  const path = process.env.PATH;
  process.env.PATH = `${programFolder({ rg: busy("rg"), ssh: busy("ssh") })}:${path}`;
  closing.push(() => {
    process.env.PATH = path;
  });
  const { log } = memoryLog();
  const settings = testSettings(broker.port);
  const tools = { ...settings.tools, sandbox: "none" as const, browser: undefined };
  const agent = await readyAgent({ ...settings, tools }, { log, toolbox: openToolbox });
  closing.push(() => agent.stop());
  const advertised = () => {
    const last = peer.received.findLast(({ kind }) => kind === "tools")?.payload.tools;
    return (last as Array<{ name: string }> | undefined)?.map(({ name }) => name) ?? [];
  };
  await until(() => advertised().includes("read"), { what: "the first advert" });
  expect(advertised()).not.toContain("grep");
  expect(agent.offered().unavailable).toContainEqual({
    name: "grep",
    why: "'rg' was ended by SIGKILL; it is tried again from time to time",
  });
  await until(() => ["grep", "find", "glob", "nodes"].every((name) => advertised().includes(name)), {
    within: 60_000,
    what: "the advert with all tools",
  });
  expect(agent.offered().unavailable.map(({ name }) => name)).not.toContain("grep");
}, 90_000);

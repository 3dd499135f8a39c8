/** A real agent process that is killed with SIGKILL at each step of a rule's change, and its job that says events. */
import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RuleChange, WatchCondition } from "@edgecall/core/protocol/rules.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { type House, house } from "../testing/house.ts";
import { put } from "../testing/skill-folder.ts";

const ROOT = join(import.meta.dirname, "../..");
/** The repository's own Node, which strips types, whichever Node runs the tests. */
const OWN_NODE = join(ROOT, "node_modules/.bin/node");
const NODE = existsSync(OWN_NODE) ? OWN_NODE : process.execPath;
/** Processes start slowly on a busy machine. */
const WITHIN_MS = 300_000;
/** Each step once. */
const ROUNDS = 4;

let home: House;
let folder: string;
let config: string;
const processes: ChildProcess[] = [];
/** The changes that came, by their ids. The gateway has them all: it stores one before it acknowledges it. */
const stored = new Map<string, RuleChange>();

beforeEach(async () => {
  home = await house();
  stored.clear();
  folder = mkdtempSync(join(tmpdir(), "edgecall-agent-"));
  config = join(folder, "agent.toml");
  put(join(folder, "skills"), {
    "fridge/skill.toml": `[[tools]]
name = "fridge"
description = "Read the freezer"
permissions = []
[[tools]]
name = "lid"
description = "Watch the lid"
permissions = []
job_timeout_s = 600
events = ["opened"]
`,
    "fridge/bin/dt-fridge": `#!/bin/sh\nexec cat '${join(folder, "celsius")}'\n`,
    "fridge/bin/dt-lid": `#!/bin/sh\nexec tail -n +1 -f '${join(folder, "lid")}'\n`,
  });
  mkdirSync(join(folder, "workspace"));
  writeFileSync(
    config,
    `agent_id = "eye"
[mqtt]
url = "mqtt://127.0.0.1:${home.port}"
[tools]
sandboxing = "none"
workspace = "${join(folder, "workspace")}"
skills_path = "${join(folder, "skills")}"
`,
  );
});
afterEach(async () => {
  for (const child of processes.splice(0)) await kill(child);
  await home.stop();
});

async function run(): Promise<ChildProcess> {
  const births = () =>
    home.peer.received.filter(({ kind, payload }) => kind === "presence" && payload.state === "online")
      .length;
  const before = births();
  const child = spawn(NODE, [join(ROOT, "pi-agent/main.ts"), "--config", config], {
    stdio: "ignore",
    env: { PATH: process.env.PATH },
  });
  processes.push(child);
  await until(() => births() > before, { within: WITHIN_MS, what: "the agent is online" });
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await gone;
}

function condition(more: Partial<WatchCondition> = {}): WatchCondition {
  return {
    id: "w-0001",
    version: 1,
    reading: "fridge",
    type: "number",
    is: "above",
    value: -15,
    hysteresis: 0.3,
    hold_ms: 0,
    clear_hold_ms: 0,
    repeat: "each_time",
    tell_own: false,
    ...more,
  };
}

const set = (one: WatchCondition) => home.send("watch_set", { set: [{ condition: one, check_s: 10 }] });
const says = (celsius: number) => writeFileSync(join(folder, "celsius"), `${celsius}\n`);
const onDisk = (): RuleChange[] => {
  const file = join(folder, "eye.state/rules.json");
  return existsSync(file)
    ? (JSON.parse(readFileSync(file, "utf8")) as { changes: RuleChange[] }).changes
    : [];
};

/** Takes what came, as the gateway: the same id is the same change, or one of them would be lost. */
function take(): void {
  for (const { kind, payload } of home.peer.received) {
    if (kind !== "events" || payload.type !== "event") continue;
    const id = String(payload.request_id);
    const change = payload.change as RuleChange;
    if (stored.has(id)) expect(change).toEqual(stored.get(id));
    stored.set(id, change);
  }
}

function came(id: string): boolean {
  take();
  return stored.has(id);
}

async function acknowledge(): Promise<void> {
  take();
  for (const id of stored.keys()) await home.send("ack", { request_id: id });
}

test(
  "each change that was on the disk comes, under one number, and none is made up",
  async () => {
    says(-18);
    let child = await run();
    await home.result(await set(condition()));
    const steps: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const isWarm = round % 2 === 0;
      says(isWarm ? -11 - round / 100 : -18 - round / 100);
      // What is read for the gateway's rules counts, without the wait for the next check.
      await set(condition());
      const step = ["at once", "on the disk", "published", "acknowledged"][round % 4] ?? "";
      if (step === "on the disk")
        await until(() => onDisk().some(({ seq }) => seq === round + 1) || stored.has(`w-0001:${round + 1}`));
      if (step === "published" || step === "acknowledged")
        await until(() => home.peer.events(`w-0001:${round + 1}`).length > 0, { within: WITHIN_MS });
      if (step === "acknowledged") await acknowledge();
      steps.push(step);
      await kill(child);
      const written = onDisk();
      child = await run();
      await until(() => came(`w-0001:${round + 1}`), {
        within: WITHIN_MS,
        what: `change ${round + 1}, killed ${step}`,
      });
      for (const change of written) expect(stored.get(`w-0001:${change.seq}`)).toEqual(change);
      await acknowledge();
    }
    expect([...stored.values()].map(({ seq, state, occurrence }) => [seq, state, occurrence])).toEqual(
      steps.map((_, n) => [n + 1, n % 2 === 0 ? "firing" : "idle", n % 2 === 0 ? n + 1 : n]),
    );
  },
  WITHIN_MS,
);

test(
  "a job's events count once each, also when its output is read again after a kill",
  async () => {
    writeFileSync(join(folder, "lid"), '{"event":"opened"}\n');
    let child = await run();
    // Said before there was a rule for it.
    const { job } = await home.result(await home.tool("lid", {}, { watch: true }));
    await until(() => home.peer.events(String(job), "progress").length > 0, { within: WITHIN_MS });
    const rule = condition({ reading: "opened", is: "happens", type: "text", value: undefined });
    expect(await home.result(await set(rule))).toMatchObject({ rules: { "w-0001": 1 } });
    await kill(child);
    child = await run();
    appendFileSync(join(folder, "lid"), '{"event":"opened","value":1}\n');
    await until(() => came("w-0001:1"), { within: WITHIN_MS, what: "the first event" });
    expect(stored.get("w-0001:1")).toMatchObject({ value: "1", count: 1 });
    await kill(child);
    child = await run();
    await acknowledge();
    await kill(child);
    child = await run();
    await home.result(await set(rule));
    take();
    expect([...stored.keys()]).toEqual(["w-0001:1"]);
  },
  WITHIN_MS,
);

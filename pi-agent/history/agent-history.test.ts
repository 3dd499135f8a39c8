/** A real agent process that keeps readings of its own: it is asked, killed, started again, and told to forget. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PastQuestion } from "@edgecall/core/protocol/past-question.ts";
import { askToForget } from "@edgecall/node/history/forgotten.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { type House, house } from "../testing/house.ts";
import { put } from "../testing/skill-folder.ts";

const ROOT = join(import.meta.dirname, "../..");
/** The repository's own Node, which strips types, whichever Node runs the tests. */
const OWN_NODE = join(ROOT, "node_modules/.bin/node");
const NODE = existsSync(OWN_NODE) ? OWN_NODE : process.execPath;
/** Processes start slowly on a busy machine. */
const WITHIN_MS = 120_000;

let home: House;
let folder: string;
let config: string;
let child: ChildProcess | undefined;

beforeEach(async () => {
  home = await house();
  folder = mkdtempSync(join(tmpdir(), "edgecall-agent-"));
  config = join(folder, "agent.toml");
  const tool = (name: string) => `[[tools]]\nname = "${name}"\ndescription = "Read it"\npermissions = []\n`;
  put(join(folder, "skills"), {
    "cold/skill.toml": `${tool("fridge")}${tool("cellar")}`,
    "cold/bin/dt-fridge": `#!/bin/sh\nexec cat '${join(folder, "fridge")}'\n`,
    "cold/bin/dt-cellar": `#!/bin/sh\nexec cat '${join(folder, "cellar")}'\n`,
  });
  mkdirSync(join(folder, "workspace"));
  says("fridge", -18);
  says("cellar", 9);
});
afterEach(async () => {
  await end("SIGKILL");
  await home.stop();
});

function says(name: string, celsius: number): void {
  writeFileSync(join(folder, name), `${celsius} °C\n`);
}

async function run(history: string): Promise<void> {
  writeFileSync(
    config,
    `agent_id = "eye"
[mqtt]
url = "mqtt://127.0.0.1:${home.port}"
[tools]
sandboxing = "none"
workspace = "${join(folder, "workspace")}"
skills_path = "${join(folder, "skills")}"
${history}
`,
  );
  const births = () =>
    home.peer.received.filter(({ kind, payload }) => kind === "presence" && payload.state === "online")
      .length;
  const before = births();
  child = spawn(NODE, [join(ROOT, "pi-agent/main.ts"), "--config", config], {
    stdio: "ignore",
    env: { PATH: process.env.PATH },
  });
  await until(() => births() > before, { within: WITHIN_MS, what: "the agent is online" });
}

async function end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  const one = child;
  child = undefined;
  if (!one || one.exitCode !== null || one.signalCode !== null) return;
  const gone = new Promise((resolve) => one.once("exit", resolve));
  one.kill(signal);
  await gone;
}

async function past(more: Partial<PastQuestion>): Promise<string> {
  const question = { agent: "eye", name: "Eye", reading: "fridge", ask: "min_max", zone: "UTC", ...more };
  const { past: reply } = await home.result(await home.send("past", question));
  const { text, error } = reply as { text?: string; error?: string };
  return text ?? error ?? "";
}

const answers = async (words: string | RegExp, more: Partial<PastQuestion> = {}) => {
  let last = "";
  const fits = async () => {
    last = await past(more);
    return typeof words === "string" ? last.includes(words) : words.test(last);
  };
  await until(fits, { within: WITHIN_MS, every: 300, what: String(words) }).catch((error: unknown) => {
    throw new Error(`${error}: ${last}`);
  });
  return last;
};

test(
  "what it reads is kept over restarts, with the time in which it was off, until it is told to forget",
  async () => {
    await run('[history]\nreadings = ["fridge"]');
    await answers("lowest -18 °C");
    // What a rule looks at is kept too.
    expect(await past({ reading: "cellar" })).toContain("nothing is kept of 'cellar'; it has fridge");
    const condition = {
      ...{ id: "w-0001", version: 1, reading: "cellar", type: "number", is: "above", value: 20 },
      ...{ hysteresis: 0.3, hold_ms: 0, clear_hold_ms: 0, repeat: "each_time", tell_own: false },
    };
    await home.result(await home.send("watch_set", { set: [{ condition, check_s: 10 }] }));
    await answers("lowest 9 °C", { reading: "cellar" });
    await end("SIGTERM");
    says("fridge", -12);
    await run('[history]\nreadings = ["fridge"]');
    const text = await answers("highest -12 °C");
    expect(text).toContain("lowest -18 °C");
    // It says "kept since today" of the days before.
    expect(text).toContain("Not known: ");
    expect(await past({ period: "tomorrow" })).toMatch(/^period: /);
    await askToForget(join(folder, "eye.state/history"), "eye", Date.now(), () => {});
    await answers(/nothing is kept|highest -12 °C.*lowest -12|lowest -12/);
    expect(await past({})).not.toContain("-18");
  },
  2 * WITHIN_MS,
);

test(
  "without named readings it keeps nothing, and says so",
  async () => {
    await run("");
    expect(await past({})).toContain("this agent keeps no readings: its agent.toml names none");
    expect(readdirSync(join(folder, "eye.state"))).not.toContain("history");
    const capabilities = home.peer.received.findLast(({ kind }) => kind === "capabilities")?.payload;
    expect(capabilities?.features).not.toContain("history");
  },
  WITHIN_MS,
);

/** A bridge as a process, killed with SIGKILL at each step of a rule's change. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RuleChange } from "@edgecall/core/protocol/rules.ts";
import { beforeEach, expect, test } from "vitest";
import { bundleBridge } from "../../local/bundles.ts";
import { NODE_ENVIRONMENT, NODE_FLAGS } from "../../pi-agent/config/node-options.ts";
import { until } from "../../test/wait.ts";
import { usePlayedDevices } from "../testkit/devices.ts";

const hosted = usePlayedDevices();
const { played } = hosted;

/** Processes start slowly on a busy machine. */
const WITHIN_MS = 300_000;
const STEPS = ["at once", "on the disk", "sent", "acknowledged"] as const;
/** Each step at the beginning and at the end of a firing. */
const ROUNDS = 2 * STEPS.length;

let program: string;
/** As Home stores them, by rule and number. */
let stored: Map<string, RuleChange>;

beforeEach(async () => {
  program = join(mkdtempSync(join(tmpdir(), "bridge-")), "bridge.mjs");
  writeFileSync(program, await bundleBridge());
  stored = new Map();
  played.home.rules = true;
});

/** Starts a bridge, and waits until it is connected to both sides. */
async function run(): Promise<ChildProcess> {
  const own = { HEALTH_PORT: "0", BRIDGE_STATE: hosted.folder };
  const env = { PATH: process.env.PATH, ...NODE_ENVIRONMENT, ...own, ...played.environment() };
  const child = spawn(process.execPath, [...NODE_FLAGS, program], {
    env,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  played.after(() => child.kill("SIGKILL"));
  await once(child, "message");
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

function onDisk(): RuleChange[] {
  const file = join(hosted.folder, "device-rules.json");
  return existsSync(file)
    ? (JSON.parse(readFileSync(file, "utf8")) as { changes: RuleChange[] }).changes
    : [];
}

/** Takes what came, as Home does: the same number is the same change, or one of them would be lost. */
function came(seq: number): boolean {
  for (const { changes } of played.home.of("changes"))
    for (const change of changes) {
      const id = `${change.rule}:${change.seq}`;
      if (stored.has(id)) expect(change).toEqual(stored.get(id));
      stored.set(id, change);
    }
  return stored.has(`w-0001:${seq}`);
}

function acknowledge(seq: number): void {
  played.home.send({ t: "changed", upto: { "w-0001": seq } });
}

test(
  "each change that was on the disk comes, under one number, and none is made up",
  async () => {
    const { publisher } = hosted;
    await publisher.config("sensor/freezer", {
      name: "Temperature",
      unique_id: "freezer-t",
      state_topic: "rtl/freezer",
      device_class: "temperature",
      device: { identifiers: ["freezer"], name: "Freezer" },
    });
    let child = await run();
    const device = (await hosted.agentIn("freezer")).hosted?.key ?? "";
    const condition = {
      id: "w-0001",
      version: 1,
      reading: "Temperature",
      type: "number" as const,
      is: "above" as const,
      value: -15,
      hysteresis: 0.3,
      hold_ms: 0,
      clear_hold_ms: 0,
      repeat: "each_time" as const,
      tell_own: false,
    };
    await publisher.say("rtl/freezer", "-18.2", true);
    played.home.send({ t: "rules", set: [{ condition, device }], drop: [] });
    const id = crypto.randomUUID();
    played.home.send({ t: "states", id });
    await played.home.next("states", (frame) => frame.id === id);
    await until(() => existsSync(join(hosted.folder, "device-rules.json")));
    for (let round = 0; round < ROUNDS; round += 1) {
      const seq = round + 1;
      const step = STEPS[round % STEPS.length];
      // The broker keeps it, so a bridge that was killed before it read the message finds it too.
      await publisher.say("rtl/freezer", round % 2 === 0 ? `-11.${round}` : `-18.${round}`, true);
      if (step === "on the disk") await until(() => onDisk().some((one) => one.seq === seq) || came(seq));
      if (step === "sent" || step === "acknowledged") await until(() => came(seq), { within: WITHIN_MS });
      if (step === "acknowledged") acknowledge(seq);
      await kill(child);
      const written = onDisk();
      child = await run();
      await until(() => came(seq), { within: WITHIN_MS, what: `change ${seq}, killed ${step}` });
      for (const change of written) expect(stored.get(`w-0001:${change.seq}`)).toEqual(change);
      acknowledge(seq);
    }
    const numbers = Array.from({ length: ROUNDS }, (_, n) => n + 1);
    expect([...stored.values()].map(({ seq, state, occurrence }) => [seq, state, occurrence])).toEqual(
      numbers.map((seq) => (seq % 2 === 1 ? [seq, "firing", seq] : [seq, "idle", seq - 1])),
    );
  },
  WITHIN_MS,
);

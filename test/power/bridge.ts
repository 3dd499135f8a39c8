/**
 * Cuts the power of the bridge's machine repeatedly. The bridge is killed while it writes the broker's logins, its
 * files lose what was not synced, and it is started again. Then its files must be complete, as its home described them.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { mosquittoAcl, newPassword, passwordHash } from "@edgecall/core/broker/mosquitto.ts";
import type { AgentKey } from "@edgecall/core/protocol/home-frames.ts";
import { writeBrokerFiles } from "../../bridge/ops/broker-files.ts";
import { startAedes } from "../../bridge/testkit/brokers.ts";
import { PlayedHome } from "../../bridge/testkit/home.ts";
import { bundleBridge } from "../../local/bundles.ts";
import { type Dice, dice } from "../chaos/dice.ts";
import { until } from "../wait.ts";
import { type Cut, cutPower } from "./cut.ts";

const ONLINE_WITHIN_MS = 30_000;
const AGENTS = ["arm", "eye", "hub", "pi"];
/** The most lists of keys that change before a power cut, and the longest time from the last change to the cut. */
const CHANGES = 4;
const WORK_MS = 40;
/** Two files, each synced; a disk takes a millisecond or two for that. */
const WRITE_MS = 6;

export type BridgeFound = {
  rounds: number;
  /** Rounds after which the files differed from the home's list. */
  wrong: string[];
  cuts: Record<Cut["what"], number>;
};

/**
 * @param dir an empty folder
 * @throws when the bridge does not come back
 */
export async function bridgePowerCuts(options: {
  dir: string;
  times: number;
  seed: number;
  say(line: string): void;
}): Promise<BridgeFound> {
  const { dir, times, seed, say } = options;
  const files = join(dir, "broker");
  const [program, report] = [join(dir, "bridge.mjs"), join(dir, "bridge-synced.jsonl")];
  mkdirSync(dir, { recursive: true });
  writeFileSync(report, "");
  writeFileSync(program, await bundleBridge());
  await writeBrokerFiles({ dir: files, agents: [] });
  const own = readFileSync(join(files, "passwords"), "utf8").split("\n")[0] ?? "";
  const logins = await Promise.all(AGENTS.map(() => passwordHash(newPassword())));
  const broker = await startAedes();
  const home = new PlayedHome();
  const url = await home.start();
  const found: BridgeFound = { rounds: 0, wrong: [], cuts: { truncated: 0, zeroed: 0, hole: 0, gone: 0 } };
  let running: ChildProcess | undefined;

  const someKeys = (throws: Dice): AgentKey[] =>
    AGENTS.flatMap((id, index) => {
      const login = logins[index];
      return login !== undefined && throws.chance(0.6) ? [{ id, key: "k", n: 0, login }] : [];
    });
  const spawned = (): ChildProcess => {
    running = spawn(process.execPath, ["--import", join(import.meta.dirname, "synced.ts"), program], {
      stdio: "ignore",
      env: {
        PATH: process.env.PATH,
        GATEWAY_URL: url,
        BRIDGE_TOKEN: "secret",
        MQTT_URL: broker.url,
        HEALTH_PORT: "0",
        BROKER_FILES: files,
        EDGECALL_TEST_SYNCED: report,
      },
    });
    return running;
  };
  const start = async (): Promise<ChildProcess> => {
    const before = home.of("hello").length;
    const child = spawned();
    await until(() => child.exitCode !== null || home.of("hello").length > before, {
      within: ONLINE_WITHIN_MS,
      what: "the bridge is there again",
    });
    if (child.exitCode !== null) throw new Error(`the bridge does not start: ${child.exitCode}`);
    return child;
  };
  const cut = async (child: ChildProcess, throws: Dice) => {
    await kill(child);
    for (const { what } of cutPower(files, report, throws)) found.cuts[what] += 1;
  };
  const isWhole = (keys: readonly AgentKey[]): boolean => {
    const lines = [own, ...keys.map(({ id, login }) => `${id}:${login}`), ""].join("\n");
    return (
      textOf(join(files, "passwords")) === lines && textOf(join(files, "acl")) === mosquittoAcl("evoclaw")
    );
  };

  try {
    // Earlier content is safe, because another process synced it.
    for (const name of ["passwords", "acl", "bridge-password", "mosquitto.conf", "acl.local"])
      noteSafe(join(files, name), report);
    let bridge = await start();
    for (let round = 0; round < times; round += 1) {
      const throws = dice(seed, `bridge round ${round}`);
      for (let change = throws.whole(1, CHANGES); change > 0; change -= 1) {
        home.send({ t: "keys", keys: someKeys(throws) });
        await pause(throws.whole(0, WORK_MS / CHANGES));
      }
      // Usually while a file is being written, which takes a moment.
      await pause(throws.chance(0.8) ? throws.next() * WRITE_MS : throws.whole(0, WORK_MS));
      await cut(bridge, throws);
      const keys = someKeys(throws);
      home.keys = keys;
      bridge = await start();
      await until(() => isWhole(keys), { within: ONLINE_WITHIN_MS, what: "the files are whole" }).catch(() =>
        found.wrong.push(`round ${round}: ${textOf(join(files, "passwords"))}`),
      );
      found.rounds += 1;
      if (found.rounds % 20 === 0) say(`${found.rounds} of ${times}, of the bridge`);
    }
    return found;
  } finally {
    if (running) await kill(running);
    await home.stop();
    await broker.stop();
  }
}

function noteSafe(file: string, report: string): void {
  if (!existsSync(file)) return;
  const { ino, size } = statSync(file);
  appendFileSync(report, `${JSON.stringify({ ino, size })}\n`);
}

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await gone;
}

/**
 * Cuts the power of an agent's machine repeatedly. A working agent is killed, its files lose what was not synced, and
 * it is started again. Then it is asked again for every earlier call.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { bundleAgent } from "../../local/bundles.ts";
import { Peer, startBroker } from "../../pi-agent/testing/home.ts";
import { dice } from "../chaos/dice.ts";
import { until } from "../wait.ts";
import { type Cut, cutPower } from "./cut.ts";

const ROOT = join(import.meta.dirname, "../..");
const OWN_NODE = join(ROOT, "node_modules/.bin/node");
/** A loaded machine takes longer. */
const ONLINE_WITHIN_MS = 30_000;
const ANSWER_WITHIN_MS = 20_000;
/** The time from the program's first instruction until it works, on an idle machine. */
const START_MS = 600;
/** The most calls of one round. They arrive within WORK_MS, and the power cut comes meanwhile. */
const CALLS = 6;
const WORK_MS = 60;

export type Found = {
  rounds: number;
  /** The number of calls that took effect, and the ids of those that took effect twice. */
  executed: number;
  twice: string[];
  /** Calls that took effect although the agent reports that nothing was run. */
  forgotten: string[];
  /** Calls whose outcome after the cut differs from the one that was reported before. */
  changed: string[];
  cuts: Record<Cut["what"], number>;
  /** The number of times that the agent's log reports each kind of repair to its files. */
  mended: Record<string, number>;
};

/**
 * @param dir an empty folder
 * @throws when the agent does not come back
 */
export async function powerCuts(options: {
  dir: string;
  times: number;
  seed: number;
  say(line: string): void;
}): Promise<Found> {
  const { dir, times, seed, say } = options;
  const broker = await startBroker();
  const peer = await Peer.connect(broker.port);
  const house = new House(dir, broker.port, peer);
  // As one file the agent starts in a third of the time.
  writeFileSync(house.program, await bundleAgent({ testTools: true }));
  const found: Found = {
    rounds: 0,
    executed: 0,
    twice: [],
    forgotten: [],
    changed: [],
    cuts: { truncated: 0, zeroed: 0, hole: 0, gone: 0 },
    mended: {},
  };
  try {
    let agent = await house.start();
    for (let round = 0; round < times; round += 1) {
      const throws = dice(seed, `round ${round}`);
      const asked = await house.work(throws);
      const outcomes = new Map(asked.map((id) => [id, house.outcomeOf(id)]));
      await house.kill(agent);
      const cut = () => {
        for (const { what } of cutPower(house.state, house.report, throws)) found.cuts[what] += 1;
      };
      cut();
      if (throws.chance(0.3)) {
        // A second cut comes while the agent starts and repairs its files.
        const early = house.spawn();
        await pause(throws.whole(0, START_MS));
        await house.kill(early);
        cut();
      }
      agent = await house.start();
      await house.askAgain(asked);
      for (const id of asked) {
        const marks = house.marks(id);
        const answer = house.outcomeOf(id);
        if (marks > 0) found.executed += 1;
        if (marks > 1) found.twice.push(id);
        if (marks > 0 && answer === "nothing was run") found.forgotten.push(id);
        const before = outcomes.get(id);
        if (before !== undefined && before !== answer) found.changed.push(`${id}: ${before}, then ${answer}`);
      }
      found.rounds += 1;
      if (found.rounds % 20 === 0) say(`${found.rounds} of ${times}`);
    }
    await house.kill(agent);
    for (const event of house.logged()) found.mended[event] = (found.mended[event] ?? 0) + 1;
    return found;
  } finally {
    await house.stop();
    await peer.stop();
    await broker.stop();
  }
}

class House {
  readonly state: string;
  readonly report: string;
  readonly program: string;
  readonly #config: string;
  readonly #marks: string;
  readonly #peer: Peer;
  readonly #log: string[] = [];
  #running: ChildProcess | undefined;

  constructor(dir: string, port: number, peer: Peer) {
    mkdirSync(dir, { recursive: true });
    this.#peer = peer;
    this.state = join(dir, "eye.state");
    this.report = join(dir, "synced.jsonl");
    this.program = join(dir, "agent.cjs");
    this.#marks = join(dir, "marks");
    this.#config = join(dir, "agent.toml");
    writeFileSync(this.report, "");
    writeFileSync(
      this.#config,
      `agent_id = "eye"
[mqtt]
url = "mqtt://127.0.0.1:${port}"
[tools]
sandboxing = "none"
[policy]
append = "allow"
todowrite = "allow"
job = "allow"
`,
    );
  }

  spawn(): ChildProcess {
    const child = spawn(
      existsSync(OWN_NODE) ? OWN_NODE : process.execPath,
      ["--import", join(import.meta.dirname, "synced.ts"), this.program, "--config", this.#config],
      {
        stdio: ["ignore", "ignore", "pipe"],
        env: {
          PATH: process.env.PATH,
          EDGECALL_TEST_TOOLS: "1",
          EDGECALL_TEST_FILE: this.#marks,
          EDGECALL_TEST_SYNCED: this.report,
        },
      },
    );
    child.stderr.on("data", (chunk: Buffer) => this.#log.push(chunk.toString("utf8")));
    this.#running = child;
    return child;
  }

  async start(): Promise<ChildProcess> {
    const births = () => this.#peer.received.filter(({ kind }) => kind === "tools").length;
    const before = births();
    const child = this.spawn();
    await until(() => child.exitCode !== null || births() > before, {
      within: ONLINE_WITHIN_MS,
      what: "the agent is online again",
    });
    if (child.exitCode !== null)
      throw new Error(`the agent does not start:\n${this.#log.slice(-20).join("")}`);
    return child;
  }

  /** Sends various calls until the power cut. @returns the ids of those that must not run twice */
  async work(throws: ReturnType<typeof dice>): Promise<string[]> {
    const asked: string[] = [];
    const calls = throws.whole(1, CALLS);
    for (let call = 0; call < calls; call += 1) {
      if (throws.chance(0.6)) {
        const id = crypto.randomUUID();
        asked.push(id);
        void this.#call(id, "append", throws.chance(0.5) ? {} : { wait_ms: throws.whole(1, WORK_MS) });
      } else if (throws.chance(0.4)) {
        const content = `item ${throws.whole(1, 1_000)}`;
        void this.#call(crypto.randomUUID(), "todowrite", { todos: [{ content, status: "pending" }] });
      } else if (throws.chance(0.5)) void this.#call(crypto.randomUUID(), "memory", {});
      else void this.#teach(throws.whole(1, 1_000));
      await pause(throws.whole(0, WORK_MS / CALLS));
      // Acknowledges the outcomes, as the gateway does; it does not wait for that.
      for (const id of asked) if (this.outcomeOf(id) !== undefined) void this.#ack(id);
    }
    await pause(throws.whole(0, WORK_MS));
    return asked;
  }

  async askAgain(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const before = this.#peer.reports(id).length;
      await this.#call(id, "append", {});
      await until(() => this.#peer.reports(id).length > before, {
        within: ANSWER_WITHIN_MS,
        what: `an answer about ${id}`,
      });
    }
  }

  /** Returns the last reported outcome of a call; undefined: none yet. */
  outcomeOf(id: string): "done" | "unknown" | "nothing was run" | undefined {
    const payload = this.#peer.reports(id).at(-1)?.payload;
    if (!payload) return undefined;
    if (payload.status === "success") return "done";
    return payload.error_type === "outcome_unknown" ? "unknown" : "nothing was run";
  }

  marks(id: string): number {
    if (!existsSync(this.#marks)) return 0;
    return readFileSync(this.#marks, "utf8").split(id).length - 1;
  }

  logged(): string[] {
    return this.#log
      .join("")
      .split("\n")
      .flatMap((line) => /"event":"((?:ledger|profile|audit)\.\w+)"/.exec(line)?.[1] ?? []);
  }

  async kill(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
  }

  async stop(): Promise<void> {
    if (this.#running) await this.kill(this.#running);
  }

  #call(id: string, tool: string, parameters: Record<string, unknown>): Promise<void> {
    return this.#peer.command("eye", {
      command: "tool",
      payload: { tool, parameters },
      request_id: id,
      n: 1,
    });
  }

  #ack(id: string): Promise<void> {
    return this.#peer.command("eye", { command: "ack", payload: { request_id: id }, request_id: id, n: 1 });
  }

  #teach(number: number): Promise<void> {
    const payload = { action: "add_mean_reversion", support_level: number };
    return this.#peer.command("eye", {
      command: "update_strategy",
      payload,
      request_id: crypto.randomUUID(),
      n: 1,
    });
  }
}

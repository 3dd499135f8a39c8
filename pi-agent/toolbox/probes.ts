/** Finds out which groups of tools can be offered. A group that did not answer is tried again, with growing pauses. */
import { setTimeout as pause } from "node:timers/promises";
import { backoffMs } from "@edgecall/core/backoff.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";
import type { Group } from "./group.ts";

/** The agent waits at most this long for slow programs before it goes online; their tools follow later. */
const START_WITHIN_MS = 10_000;
const PAUSE_FIRST_MS = 2_000;
const PAUSE_MAX_MS = 5 * 60_000;

export type ProbesOptions = {
  log: Log;
  /** Called when further tools can be offered. */
  changed(): void;
  startWithinMs?: number;
  pauseMs?: { first: number; max: number };
};

export type Probed = {
  names: readonly string[];
  /** The reason why they are not offered; undefined when they are. */
  why: string | undefined;
  tools: readonly Tool[];
};

export class Probes {
  readonly #groups: readonly Group[];
  readonly #options: ProbesOptions;
  readonly #stop = new AbortController();
  readonly #probed: Probed[];
  #isStarting = true;

  constructor(groups: readonly Group[], options: ProbesOptions) {
    this.#groups = groups;
    this.#options = options;
    const why = "it is still being looked for: the program has not answered yet";
    this.#probed = groups.map(({ names }) => ({ names, why, tools: [] }));
  }

  /** In the order of the groups. */
  get all(): readonly Probed[] {
    return this.#probed;
  }

  /** Resolves when each group was tried once, or after a time limit without the slow ones. Never rejects. */
  async start(): Promise<void> {
    const tried = Promise.all(this.#groups.map((group, index) => this.#try(group, index)));
    const over = new AbortController();
    const late = pause(this.#options.startWithinMs ?? START_WITHIN_MS, undefined, { signal: over.signal });
    await Promise.race([tried, late.catch(() => {})]);
    over.abort();
    this.#isStarting = false;
  }

  close(): void {
    this.#stop.abort();
  }

  async #try(group: Group, index: number): Promise<void> {
    const error = await this.#probe(group, index);
    if (error === undefined) return;
    this.#options.log("warn", "tools.no_answer", { tools: group.names, error });
    void this.#again(group, index).catch(() => {});
  }

  async #again(group: Group, index: number): Promise<void> {
    const { first, max } = this.#options.pauseMs ?? { first: PAUSE_FIRST_MS, max: PAUSE_MAX_MS };
    for (let attempt = 0; ; attempt += 1) {
      await pause(backoffMs({ baseMs: first, capMs: max }, attempt), undefined, {
        signal: this.#stop.signal,
        ref: false,
      });
      if ((await this.#probe(group, index)) === undefined) return;
    }
  }

  /** @returns why it must be tried again, or undefined */
  async #probe({ names, missing, make }: Group, index: number): Promise<string | undefined> {
    const result = (why: string | undefined, tools: readonly Tool[] = []) => {
      this.#probed[index] = { names, why, tools };
    };
    try {
      const why = await missing();
      result(why, why === undefined ? await make() : []);
    } catch (error) {
      const why = messageOf(error);
      result(`${why}; it is tried again from time to time`);
      return why;
    }
    if (!this.#isStarting && !this.#stop.signal.aborted) this.#options.changed();
    return undefined;
  }
}

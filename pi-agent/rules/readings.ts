/** What a rule can watch at this agent: the actions that only read and need no arguments, with the values that they return. */
import { randomUUID } from "node:crypto";
import type { ReadingOption } from "@edgecall/core/rules/make-watch.ts";
import type { Tool, ToolResult } from "@edgecall/core/tools/contract.ts";
import { parseCall, type RunnerOptions, runTool } from "@edgecall/core/tools/runner.ts";
import type { OfferedTools } from "../calls/offered-tools.ts";
import { decide } from "../calls/policy.ts";
import type { ProfileInForce } from "../calls/profile-in-force.ts";
import type { ProgramEvents } from "../calls/program-events.ts";
import { Semaphore } from "../calls/semaphore.ts";
import type { Settings } from "../config/settings.ts";
import { type NamedValue, typeOf, valuesIn } from "./values.ts";

/** The parts of the agent that a reading needs. */
export type ReadingParts = {
  settings: Pick<Settings, "policy">;
  tools: Pick<OfferedTools, "registry" | "skillOf">;
  runner: RunnerOptions;
  profile: Pick<ProfileInForce, "blocks">;
  events: ProgramEvents;
};

/** A reading that takes longer counts as none. */
const READ_WITHIN_MS = 20_000;
/** Readings at once: a small device has other work. */
const AT_ONCE = 2;
/** Actions of which the values are listed. */
const LISTED_MAX = 40;
/** The wire's bound. */
const OPTIONS_MAX = 200;
const CALLER = { principal: "a rule", role: "guest", channel: "rules" };

export type Read = { ok: true; values: NamedValue[]; result: ToolResult } | { ok: false; why: string };

export class Readings {
  readonly #parts: ReadingParts;
  readonly #semaphore = new Semaphore(AT_ONCE);
  readonly #stopped = new AbortController();

  constructor(parts: ReadingParts) {
    this.#parts = parts;
  }

  /**
   * Tells why no rule can watch this action, in words; undefined: one can. It has to run without arguments, without a question
   * and without an effect.
   */
  problem(name: string): string | undefined {
    const { tools, settings, profile } = this.#parts;
    const { registry } = tools;
    const tool = registry.get(name);
    if (!tool) return `this device has no action '${name}' now`;
    const parsed = parseCall(registry, { name, args: {} });
    if (tool.own || tool.plan || "fault" in parsed) return `'${name}' needs arguments, so it is no reading`;
    const effect = tool.effectIn?.(parsed.input) ?? tool.effect;
    if (effect !== "read") return `'${name}' does more than read`;
    if (profile.blocks(tool, name)) return `'${name}' is blocked by this agent's genome`;
    const decision = decide({ ...tool, effect }, settings.policy, {
      danger: tool.danger?.(parsed.input, CALLER),
    });
    return decision.do === "allow" ? undefined : `this device's policy does not let '${name}' run unasked`;
  }

  /** Runs an action for its values: by the policy, without a model, and without a line in the record of calls. */
  async read(name: string): Promise<Read> {
    const problem = this.problem(name);
    if (problem !== undefined) return { ok: false, why: problem };
    const { runner, tools } = this.#parts;
    const { registry } = tools;
    const tool = registry.get(name);
    const events = tool && this.#parts.events.reader(tool);
    // It is in the log of neither tool nor call: it runs each minute.
    const { log: _, ...quiet } = runner;
    const { signal } = this.#stopped;
    const release = await this.#semaphore.acquire(signal).catch(() => undefined);
    if (!release) return { ok: false, why: "the agent is stopping" };
    try {
      const update = (output: string) => events?.add(output);
      const of = { callId: randomUUID(), name, args: {}, caller: CALLER };
      const request = { ...of, timeoutMs: READ_WITHIN_MS, signal, update };
      const { result } = await runTool(registry, request, quiet);
      if (result.fault) return { ok: false, why: result.fault.message };
      events?.end();
      const isProgram = tool !== undefined && tools.skillOf(tool) !== undefined;
      return { ok: true, values: valuesIn(result, isProgram), result };
    } finally {
      release();
    }
  }

  /** Ends what runs. */
  stop(): void {
    this.#stopped.abort(new Error("the agent is stopping"));
  }

  /**
   * Lists what can be watched, with the values of now.
   * @param only this action alone
   * @param everyMs how often a rule reads it, unless it says otherwise
   */
  async list(only: string | undefined, everyMs: number): Promise<ReadingOption[]> {
    const tools = this.#parts.tools.registry.all().filter((tool) => this.#isListed(tool, only));
    const events = this.#eventsOf(only);
    const listed = await Promise.all(
      tools.slice(0, LISTED_MAX).map(async ({ name }) => {
        const read = await this.read(name);
        const at = Date.now();
        const values = read.ok ? read.values : [];
        return values.map((value) => optionOf(name, value, at, everyMs));
      }),
    );
    return [...listed.flat(), ...events].slice(0, OPTIONS_MAX);
  }

  /** Names of the tools whose program may say this event. */
  toolsWithEvent(event: string): string[] {
    return this.#parts.tools.registry
      .all()
      .flatMap((tool) => (tool.events?.includes(event) ? [tool.name] : []));
  }

  /** A file, the journal or the web is read when it is asked for by name, and not to make a list. */
  #isListed(tool: Tool, only: string | undefined): boolean {
    if (only !== undefined && tool.name !== only) return false;
    if (only === undefined && tool.taints && !this.#parts.tools.skillOf(tool)) return false;
    return this.problem(tool.name) === undefined;
  }

  #eventsOf(only: string | undefined): ReadingOption[] {
    const names = new Set(this.#parts.tools.registry.all().flatMap(({ events = [] }) => events));
    return [...names]
      .filter((name) => only === undefined || name === only)
      .map((name) => ({ name, type: "text", event: true }));
  }
}

function optionOf(name: string, value: NamedValue, at: number, everyMs: number): ReadingOption {
  const { field, unit } = value;
  return {
    name,
    ...(field !== undefined && { field }),
    type: typeOf(value),
    ...(unit !== undefined && { unit }),
    now: { value: value.value, at },
    every_ms: everyMs,
  };
}

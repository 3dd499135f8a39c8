/** Judges a house: what its rules allow, what the switches got, what the bridge has of each run, and what was told. Pure. */
import { WHY_WORDS } from "@edgecall/core/automations/words/news-words.ts";
import type { AutomationRun, StepRun } from "@edgecall/core/protocol/automation.ts";
import type { ActingFault } from "./fault-names.ts";
import { plugOf } from "./gateway.ts";
import type {
  ActingHistory,
  ActingRecord,
  ActingViolation,
  ActingViolationKind,
  SaidHome,
  StartAhead,
} from "./history.ts";
import type { PlannedPresence } from "./plan.ts";

const ON = "ON";
const OFF = "OFF";
/** A command that was due is sent so long after at most. */
const ON_ITS_WAY_MS = 3_000;
/** All sources have to say for so long that nobody is there. */
const AWAY_MS = 1_900;
/** From what the sources say to a command that rests on it, without a fault of the bridge, its files, or the broker. */
const SOON_MS = 1_500;
/** The same with one, or where a step before has no report. */
const LATE_MS = 30_000;
/** Faults that change nothing of what the bridge sees and does by itself. */
const HARMLESS: readonly ActingFault[] = [
  ...(["none", "kill:worker", "kill:workerd", "away:gateway", "cut:gateway", "half-open:gateway"] as const),
  ...(["deaf:device", "late:device", "kill:agent", "away:agent", "cut:agent-broker"] as const),
];

/** The bridge's word for it, and the gateway's. */
const ONLY_IF: readonly unknown[] = ["only_if", WHY_WORDS.only_if];

export function judgeHouse(history: ActingHistory): ActingViolation[] {
  const { house, rules, quiet, commands } = history;
  const found: ActingViolation[] = [];
  const plugs = new Map(rules.flatMap((rule) => rule.steps.map((_, n) => [plugOf(rule.name, n), rule])));
  for (const { device, payload, at } of commands) {
    const rule = plugs.get(device);
    const wrong = rule
      ? (disallowed(rule, payload, at, history.startsAhead) ??
        (payload === ON ? absent(rule, device, at, history.home) : undefined))
      : "no rule that may act now is about it";
    if (wrong !== undefined)
      found.push({ kind: "disallowed", house, what: `${device} ${payload}: ${wrong}` });
  }
  for (const { name, kind } of quiet)
    for (const run of history.runs.get(name) ?? [])
      found.push({ kind: "again", house, rule: name, what: `'${kind}' has a run: ${JSON.stringify(run)}` });
  for (const rule of rules) found.push(...new Rule(rule, history).judge());
  return found;
}

function disallowed(
  rule: ActingRecord,
  payload: string,
  at: number,
  startsAhead: readonly StartAhead[],
): string | undefined {
  if (payload === ON) return at < rule.crossedAt ? "it came before the value crossed" : undefined;
  if (payload !== OFF) return "no rule asks for that";
  if (rule.over === "leave") return "its rule leaves it on";
  const isPast = startsAhead.some(
    ({ from, to }) => from >= rule.crossedAt && from <= at && at <= to + ON_ITS_WAY_MS,
  );
  if (isPast && rule.atMostMs !== undefined) return undefined;
  const from = Math.min(
    rule.backAt ?? Number.POSITIVE_INFINITY,
    rule.crossedAt + (rule.atMostMs ?? Infinity),
  );
  return at < from ? "the rule was not over" : undefined;
}

/** @returns why who is at home did not allow the command */
function absent(
  rule: ActingRecord,
  device: string,
  at: number,
  home: readonly SaidHome[],
): string | undefined {
  const { presence, steps, name } = rule;
  if (!presence) return undefined;
  const step = steps.findIndex((_, n) => plugOf(name, n) === device);
  const isLooked = step === 0 || (steps[step]?.waitMs ?? 0) > 0;
  const from = at - (isUndisturbed(rule) && isLooked ? SOON_MS : LATE_MS);
  return wasSo(presence.needs, home, from, at) ? undefined : `it was not so that ${presence.needs}`;
}

/** Tells whether it was so at some time between. */
function wasSo(
  needs: PlannedPresence["needs"],
  home: readonly SaidHome[],
  from: number,
  to: number,
): boolean {
  // A repeated word changes nothing.
  const changes = home.filter(({ somebody }, n) => home[n - 1]?.somebody !== somebody);
  return changes.some(({ at, somebody }, n) => {
    if (somebody !== (needs === "somebody_home")) return false;
    const begins = somebody ? at : at + AWAY_MS;
    const ends = changes[n + 1]?.at ?? Number.POSITIVE_INFINITY;
    return begins <= to && begins < ends && ends >= from;
  });
}

/** Nothing kept the bridge from seeing the values, the moment, and who is at home. */
function isUndisturbed({ fault, ready }: ActingRecord): boolean {
  return ready && fault.patient && HARMLESS.includes(fault.name);
}

class Rule {
  readonly #rule: ActingRecord;
  readonly #history: ActingHistory;
  readonly #found: ActingViolation[] = [];

  constructor(rule: ActingRecord, history: ActingHistory) {
    this.#rule = rule;
    this.#history = history;
  }

  judge(): ActingViolation[] {
    const { name } = this.#rule;
    const runs = this.#runs();
    for (const n of this.#rule.steps.keys()) this.#judgeCount(plugOf(name, n));
    if (runs.length > 1) this.#say("again", `${runs.length} runs: ${JSON.stringify(runs)}`);
    const [run] = runs;
    if (!run) {
      if (this.#isNamed() || this.#mayBeMissed()) return this.#found;
      this.#say("lost", "");
      return this.#found;
    }
    if (run.ended === undefined) this.#say("open", JSON.stringify(run));
    for (const step of run.steps) this.#judgeStep(step);
    this.#judgeTold(run);
    this.#judgeEnd(run);
    return this.#found;
  }

  /** A moment that comes while the bridge sees or begins nothing is none. */
  #mayBeMissed(): boolean {
    const { name, trigger, steps, fault, ready } = this.#rule;
    if (trigger !== "event" || steps.some((_, n) => this.#commands(plugOf(name, n), ON).length > 0))
      return false;
    return !isUndisturbed(this.#rule) && (!ready || fault.moment === "crosses");
  }

  /** What the bridge and its news have of each firing, the news only where the bridge has it no more. */
  #runs(): AutomationRun[] {
    const { name } = this.#rule;
    const byFiring = new Map<string, AutomationRun>();
    for (const { run } of this.#history.news.get(name) ?? [])
      if (run) byFiring.set(`${run.version}:${run.firing}`, run);
    for (const run of this.#history.runs.get(name) ?? []) byFiring.set(`${run.version}:${run.firing}`, run);
    return [...byFiring.values()];
  }

  #judgeCount(plug: string): void {
    for (const payload of [ON, OFF]) {
      const count = this.#commands(plug, payload).length;
      if (count > 1) this.#say("twice", `${plug} was told ${payload} ${count} times`);
    }
  }

  #judgeStep({ step, outcome, text }: StepRun): void {
    const { name, steps } = this.#rule;
    const isEnd = step >= steps.length;
    // The end switches off in the order of its own, so any of its switches may be meant.
    const plugs = isEnd ? steps.map((_, n) => plugOf(name, n)) : [plugOf(name, step)];
    const payload = isEnd ? OFF : ON;
    const told = plugs.filter((plug) => this.#commands(plug, payload).length > 0);
    const reported = plugs.filter((plug) => this.#states(plug, payload).length > 0);
    const wrong = () => {
      switch (outcome) {
        case "confirmed":
        case "late":
          return reported.length === 0 && "no device reported it";
        case "not_sent":
          return !isEnd && told.length > 0 && "its device was told";
        case "sent":
          if (isEnd || steps[step]?.device === "blind") return false;
          if (steps[step]?.device !== "agent") return "its device could have confirmed it";
          return told.length === 0 && "the agent did not do it";
        default:
          return false;
      }
    };
    const what = wrong();
    if (what) this.#say("untrue", `step ${step} is '${outcome}' (${text}), and ${what}`);
  }

  #judgeTold(run: AutomationRun): void {
    const { steps, says, backAt, atMostMs, presence } = this.#rule;
    // A rule that was over before its next step has ended as it should.
    const mayEnd = (backAt !== undefined || atMostMs !== undefined) && run.steps.length > 0;
    const done = new Map(run.steps.map((one) => [one.step, one.outcome]));
    const isFine = (n: number) =>
      done.get(n) === "confirmed" || (done.get(n) === "sent" && steps[n]?.device !== "plain");
    if (
      presence &&
      ONLY_IF.includes(run.why) &&
      run.steps.every(({ step }) => step >= steps.length || isFine(step))
    ) {
      // It was so, and nothing hid it.
      const isWrong = run.state === "not_run" && presence.isSo && isUndisturbed(this.#rule);
      if (isWrong) this.#say("lost", JSON.stringify(run));
      return;
    }
    const isOver = run.state === "done" || run.state === "undone";
    const isAll = isOver && steps.every((_, n) => isFine(n) || (mayEnd && !done.has(n)));
    const isWhole = isAll && run.steps.every(({ outcome }) => outcome === "confirmed" || outcome === "sent");
    if (isWhole && !says) return;
    if (this.#isNamed()) return;
    this.#say(isWhole ? "silent" : "untold", JSON.stringify(run));
  }

  /** A device that is on after the rule was over has been told off, or somebody was told of it. */
  #judgeEnd(run: AutomationRun): void {
    const { name, over, steps, backAt, atMostMs } = this.#rule;
    if (over === "leave" || (backAt === undefined && atMostMs === undefined)) return;
    const left = steps
      .flatMap(({ device }, n) => (device === "agent" ? [] : [plugOf(name, n)]))
      .filter((plug) => this.#commands(plug, ON).length > this.#commands(plug, OFF).length);
    if (left.length > 0 && !this.#isNamed()) this.#say("end", `${left.join(", ")}: ${JSON.stringify(run)}`);
  }

  /** A message to people names the rule. */
  #isNamed(): boolean {
    const { name } = this.#rule;
    return this.#history.told.some((text) => text.includes(name));
  }

  #commands(plug: string, payload: string) {
    return this.#history.commands.filter((one) => one.device === plug && one.payload === payload);
  }

  #states(plug: string, state: string) {
    return this.#history.states.filter((one) => one.device === plug && one.state === state);
  }

  #say(kind: ActingViolationKind, what: string): void {
    const { name, fault } = this.#rule;
    const about = `${fault.name} when it ${fault.moment}${what === "" ? "" : `: ${what}`}`;
    this.#found.push({ kind, house: this.#history.house, rule: name, what: about });
  }
}

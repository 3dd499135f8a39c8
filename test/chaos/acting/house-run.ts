/** Runs a house: rules that fire one after the other, each with its fault, until each is over and everything is told. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AutomationNews } from "@edgecall/core/protocol/automation.ts";
import { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import { until } from "../../wait.ts";
import { dice } from "../dice.ts";
import { HIGH, LOW } from "./devices.ts";
import { inject } from "./faults.ts";
import { plugOf, type Rules } from "./gateway.ts";
import type { ActingHistory, ActingRecord, SaidHome } from "./history.ts";
import type { ActingHouse } from "./house.ts";
import type { ActingMoment, PlannedHouse, PlannedPresence, PlannedRule } from "./plan.ts";

/** A moment that does not come in this time, as behind an earlier fault, is not waited for longer. */
const MOMENT_WITHIN_MS = 6_000;
/** A rule that waits for everything to be connected waits so long at most. */
const WHOLE_WITHIN_MS = 15_000;
/** The bridge waits for a device, tries again what was not sent, and says again what the gateway did not store. */
const OVER_WITHIN_MS = 240_000;
/** Longer than any wait of the bridge: what did not change for so long stays so. */
const STILL_MS = 60_000;
/** A value goes back at the latest after this, whatever became of its rule. */
const BACK_WITHIN_MS = 20_000;
/** What comes twice comes within this time after everything was told. */
const AFTER_MS = 4_000;
const LATE_MS = 20_000;
const GONE_WITHIN_MS = 10_000;
/** Nobody is at home when all have said so for a while. */
const HOME_WITHIN_MS = 10_000;
/** Longer than nothing begins after a new connection. */
const QUIET_MS = 1_200;

/** @param options.seed of the run */
export async function runHouse(
  house: ActingHouse,
  plan: PlannedHouse,
  options: { dir: string; seed: number; say: (line: string) => void },
): Promise<ActingHistory> {
  return await new HouseRun(house, plan, options).run();
}

class HouseRun {
  readonly #house: ActingHouse;
  readonly #plan: PlannedHouse;
  readonly #options: { dir: string; seed: number; say: (line: string) => void };
  readonly #records = new Map<string, ActingRecord>();
  readonly #troubles: string[] = [];
  readonly #goingBack: Promise<void>[] = [];
  readonly #home: SaidHome[] = [{ at: 0, somebody: true }];
  /** A person has said a word. */
  #hasSaid = false;
  #turning: Promise<void> = Promise.resolve();
  #rules: Rules = new Map();

  constructor(
    house: ActingHouse,
    plan: PlannedHouse,
    options: { dir: string; seed: number; say: (line: string) => void },
  ) {
    this.#house = house;
    this.#plan = plan;
    this.#options = options;
  }

  async run(): Promise<ActingHistory> {
    const { rules, quiet, house: n } = this.#plan;
    const { say } = this.#options;
    this.#rules = await this.#house.gateway.make(this.#house.devices, this.#plan);
    say(`house ${n}: ${this.#rules.size} rules are allowed`);
    for (const { name, kind } of quiet)
      if (kind === "dropped") {
        await this.#house.gateway.drop(this.#idOf(name));
        const isGone = async () => (await this.#house.gateway.rules())?.get(name)?.runs === undefined;
        await until(isGone, { within: GONE_WITHIN_MS, every: 100, what: "the bridge has dropped the rule" });
        this.#house.devices.number(name, HIGH);
      }
    for (const [at, rule] of rules.entries()) {
      await this.#fire(rule);
      if (at % 10 === 9) say(`house ${n}: ${at + 1} of ${rules.length}`);
      this.#flicker();
    }
    await Promise.all([...this.#goingBack, this.#turning]);
    say(`house ${n}: all have fired`);
    await this.#untilOver();
    return await this.#gather();
  }

  /** The value of a quiet rule is gone for a moment, and is what it was; another one comes near its limit. */
  #flicker(): void {
    const { devices } = this.#house;
    for (const { name, kind } of this.#plan.quiet) {
      if (kind === "never") devices.number(name, 30 + (this.#records.size % 19));
      if (kind === "unknown") devices.number(name, LOW);
    }
  }

  async #fire(rule: PlannedRule): Promise<void> {
    const { name, fault, steps } = rule;
    const { devices } = this.#house;
    const why = `${name}, ${fault.name} when it ${fault.moment}`;
    if (fault.patient)
      await until(() => this.#house.gateway.isWhole(), { within: WHOLE_WITHIN_MS, every: 50 }).catch(
        () => {},
      );
    if (fault.name === "deaf:device" || fault.name === "late:device")
      for (const n of steps.keys())
        devices.behave(
          plugOf(name, n),
          fault.name === "deaf:device" ? { is: "deaf" } : { is: "late", ms: LATE_MS },
        );
    const isAtHome = rule.presence === undefined || (await this.#come(rule.presence));
    const isQuiet = rule.trigger !== "event" || (fault.patient && (await this.#quiet()));
    const ending = new AbortController();
    const moment = this.#moment(rule, fault.moment, ending.signal);
    const record: ActingRecord = {
      ...rule,
      met: false,
      crossedAt: Date.now(),
      ready: isAtHome && isQuiet,
    };
    this.#records.set(name, record);
    this.#cross(rule, true);
    this.#goingBack.push(this.#goBack(record));
    if (rule.presence?.turns) this.#turning = this.#leave(rule, rule.presence);
    record.met = await Promise.race([moment.then(() => true), sleep(MOMENT_WITHIN_MS + rule.holdMs, false)]);
    ending.abort();
    await sleep(fault.jitter);
    const began = Date.now();
    await inject(this.#house, fault, why, dice(this.#options.seed, `fault ${rule.k}`)).catch(
      (error: unknown) => {
        this.#troubles.push(`${why}: ${error instanceof Error ? error.message : String(error)}`);
      },
    );
    appendFileSync(
      join(this.#options.dir, "firings.jsonl"),
      `${JSON.stringify({ at: new Date(began).toISOString(), ms: Date.now() - began, ...record })}\n`,
    );
  }

  #cross({ name, trigger }: PlannedRule, isSo: boolean): void {
    const { devices } = this.#house;
    if (trigger === "event") {
      if (isSo) devices.press(name);
      return;
    }
    if (trigger !== "contact") devices.number(name, isSo ? HIGH : LOW);
    if (trigger !== "number") devices.contact(name, isSo ? "ON" : "OFF");
  }

  /** Who is at home is as a rule has it. @returns whether the bridge says so */
  async #come({ needs, by, isSo }: PlannedPresence): Promise<boolean> {
    await this.#turning;
    const somebody = (needs === "somebody_home") === isSo;
    await this.#say(somebody, by);
    const wanted = somebody ? "somebody" : "nobody";
    const isShown = async () => (await this.#house.gateway.presence()) === wanted;
    return await until(isShown, { within: HOME_WITHIN_MS, every: 100 }).catch(() => false);
  }

  /** It is so no longer once the first action was done. */
  async #leave({ name }: PlannedRule, { needs, by }: PlannedPresence): Promise<void> {
    const { devices } = this.#house;
    const end = performance.now() + BACK_WITHIN_MS;
    const isDone = () => devices.commands.some((one) => one.device === plugOf(name, 0));
    while (performance.now() < end && !isDone()) await Promise.race([devices.next(), sleep(250)]);
    await this.#say(needs === "nobody_home", by);
  }

  /** Both sources say it where nobody is there. Otherwise one alone says that somebody is. */
  async #say(somebody: boolean, by: PlannedPresence["by"]): Promise<void> {
    const { devices, gateway } = this.#house;
    const isWord = by === "word";
    const add = () => this.#home.push({ at: Date.now(), somebody });
    // What is true for a while meanwhile is neither.
    if (somebody) add();
    devices.hall(somebody && !isWord ? "ON" : "OFF");
    if (isWord || this.#hasSaid) {
      this.#hasSaid = true;
      await gateway.say(!(somebody && isWord)).catch((error: unknown) => {
        this.#troubles.push(error instanceof Error ? error.message : String(error));
      });
    }
    if (!somebody) add();
  }

  /** Waits until the bridge has the values of its devices, and for the time in which nothing begins. @returns whether it has */
  async #quiet(): Promise<boolean> {
    const first = this.#plan.quiet[0]?.name ?? "";
    const isKnown = async () => (await this.#house.gateway.rules())?.get(first)?.state === "armed";
    const has = await until(isKnown, { within: WHOLE_WITHIN_MS, every: 100 }).catch(() => false);
    await sleep(QUIET_MS);
    return has;
  }

  /** Its value goes back when its actions are over, or nothing comes of them. */
  async #goBack(record: ActingRecord): Promise<void> {
    if (!record.recovers) return;
    const end = performance.now() + BACK_WITHIN_MS + record.holdMs;
    const last = record.steps.length - 1;
    const isDone = () => this.#house.devices.commands.some((one) => one.device === plugOf(record.name, last));
    while (performance.now() < end && !isDone()) await Promise.race([this.#house.devices.next(), sleep(250)]);
    // Its device reports.
    await sleep(500);
    record.backAt = Date.now();
    this.#cross(record, false);
  }

  /** Resolves at a moment of a rule's run. */
  async #moment(rule: PlannedRule, moment: ActingMoment, signal: AbortSignal): Promise<void> {
    const { devices, files, links } = this.#house;
    const id = this.#idOf(rule.name);
    const [first, last] = [plugOf(rule.name, 0), plugOf(rule.name, rule.steps.length - 1)];
    const isAgents = (step: number) => rule.steps.at(step)?.device === "agent";
    const firstSwitch = plugOf(rule.name, isAgents(0) ? 1 : 0);
    const came = async (isSo: () => boolean) => {
      while (!signal.aborted && !isSo()) await Promise.race([devices.next(), sleep(100)]);
    };
    const got = (device: string, payload = "ON") =>
      devices.commands.some((one) => one.device === device && one.payload === payload);
    // What was kept from before is said again after a reconnect.
    const said = (device: string) =>
      devices.states.some((one) => one.device === device && one.state === "ON");
    const isBlind = rule.steps[0]?.device !== "plain";
    const before = files.rules();
    switch (moment) {
      case "crosses":
        return;
      case "fired":
        return await files.until(() => runIn(files.rules(), id) && files.rules() !== before, signal);
      case "begun":
        if (!isAgents(0)) return await files.until(() => files.ledger(`${id}:`).length > 0, signal);
        await files.until(() => runIn(files.rules(), id) && files.rules() !== before, signal);
        return await links.gateway.nextBytes("toServer");
      case "sent":
        return await came(() => got(first));
      case "reported":
        return await came(() => (isBlind ? got(first) : said(first)));
      case "waits": {
        const waiting = rule.steps.findIndex(({ waitMs }) => waitMs > 0);
        await came(() => got(plugOf(rule.name, waiting - 1)));
        return await sleep(400);
      }
      case "ended":
        await came(() => got(last));
        if (isAgents(-1)) return await links.gateway.nextBytes("toClient");
        return await files.until(() => files.ledger(`${id}:`).some(({ t }) => t === "done"), signal);
      case "news":
        await came(() => got(last));
        return await links.gateway.nextBytes("toServer");
      case "over":
        return await came(() => got(firstSwitch, "OFF"));
    }
  }

  async #untilOver(): Promise<void> {
    const end = performance.now() + OVER_WITHIN_MS;
    let isQuiet = 0;
    let [before, since] = ["", performance.now()];
    while (performance.now() < end && isQuiet < 2 && performance.now() - since < STILL_MS) {
      const rules = await this.#house.gateway.rules();
      const now = JSON.stringify([...(rules ?? [])]);
      if (now !== before) [before, since] = [now, performance.now()];
      const isOver = [...this.#records.values()].every(({ name, trigger }) => {
        const { runs = [], state } = rules?.get(name) ?? {};
        // A moment may be missed. A run shows only when it is told, which may be at its end.
        if (runs.length === 0 && trigger === "event") return state !== undefined && state !== "running";
        // A run that failed is told as stopped before its end is carried out.
        return runs.every(({ ended }) => ended !== undefined) && runs.length > 0;
      });
      isQuiet = isOver ? isQuiet + 1 : 0;
      await sleep(1_500);
    }
    await sleep(AFTER_MS);
  }

  async #gather(): Promise<ActingHistory> {
    const house = this.#house;
    const rules = await until(() => house.gateway.rules(), {
      within: 30_000,
      every: 200,
      what: "the gateway answers",
    });
    const nameOf = new Map([...this.#rules.values()].map(({ id, name }) => [id, name]));
    const news = new Map<string, AutomationNews[]>();
    for (const one of house.gateway.news() ?? newsOnLine(house)) {
      const name = nameOf.get(one.rule) ?? one.rule;
      news.set(name, [...(news.get(name) ?? []), one]);
    }
    const told = await house.gateway.told();
    house.agent?.read();
    return {
      house: this.#plan.house,
      rules: [...this.#records.values()],
      quiet: this.#plan.quiet,
      commands: house.devices.commands,
      states: house.devices.states,
      home: this.#home,
      startsAhead: house.startsAhead,
      news,
      runs: new Map([...rules].map(([name, { runs }]) => [name, runs ?? []])),
      told,
      troubles: this.#troubles,
    };
  }

  #idOf(name: string): string {
    return this.#rules.get(name)?.id ?? name;
  }
}

/** The rules' file has a firing of this rule. */
function runIn(text: string, id: string): boolean {
  try {
    const { rules } = JSON.parse(text) as { rules: Array<{ text: string; state: { firing: number } }> };
    return rules.some((rule) => rule.text.includes(`"id":"${id}"`) && rule.state.firing > 0);
  } catch {
    return false;
  }
}

/** The bridge's news, as their frames reached the gateway. */
function newsOnLine({ tap }: ActingHouse): AutomationNews[] {
  const seen = new Map<string, AutomationNews>();
  for (const { way, text } of tap.frames) {
    if (way !== "up" || !text.startsWith('{"t":"news"')) continue;
    const frame = checkJson(BridgeFrame, text);
    if (!frame.ok || frame.value.t !== "news") continue;
    for (const one of frame.value.news) seen.set(JSON.stringify(one), one);
  }
  return [...seen.values()];
}

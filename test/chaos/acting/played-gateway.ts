/** A gateway that the run plays: a WebSocket server that signs rules, answers as the real one, and forgets nothing. */
import { setTimeout as sleep } from "node:timers/promises";
import type {
  AllowedAutomation,
  AutomationCondition,
  AutomationNews,
  AutomationStep,
} from "@edgecall/core/protocol/automation.ts";
import type { AgentState } from "@edgecall/core/protocol/frames.ts";
import { automationBytes, withSignature } from "@edgecall/core/protocol/signing.ts";
import { KeyPair } from "@edgecall/node/keypair.ts";
import { PlayedHome } from "../../../bridge/testkit/home.ts";
import { until } from "../../wait.ts";
import { type ActingDevices, LIMIT } from "./devices.ts";
import {
  type ActingGateway,
  announce,
  type GatewayFault,
  type KnownRule,
  plugOf,
  type Rules,
} from "./gateway.ts";
import type { PlannedHouse, PlannedRule } from "./plan.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const KNOWN_WITHIN_MS = 60_000;
/** A killed gateway takes about this long to come back. */
const KILLED_MS = 400;
const ORDERED_WITHIN_MS = 3_000;

type Found = { key: string; allow: string; id: string };

export class PlayedGateway implements ActingGateway {
  readonly #home = new PlayedHome();
  readonly #pair = KeyPair.make();
  readonly #token: string;
  /** Signed texts by id, as its rows. */
  readonly #texts = new Map<string, string>();
  readonly #names = new Map<string, string>();
  readonly #news = new Map<number, AutomationNews>();
  #url = "";
  #taken = 0;
  #taking: NodeJS.Timeout | undefined;

  constructor(token: string) {
    this.#token = token;
    const home = this.#home;
    home.devices = true;
    home.rules = true;
    home.texts = [];
    home.gatewayKey = this.#pair.publicKey;
  }

  get url(): string {
    return this.#url;
  }

  async start(): Promise<void> {
    if (this.#url === "") {
      this.#url = await this.#home.start(this.#token);
      this.#taking = setInterval(() => this.#take(), 20);
    }
    this.#home.refuseWith = undefined;
  }

  async stop(): Promise<void> {
    clearInterval(this.#taking);
    await this.#home.stop();
  }

  async kill(): Promise<void> {
    this.#home.refuseWith = 503;
    this.#home.drop();
  }

  async make(devices: ActingDevices, plan: PlannedHouse): Promise<Rules> {
    const names = announce(devices, plan);
    const found = await until(
      () => {
        const all = this.#devices();
        return names.every((name) => all.has(name)) && all;
      },
      { within: KNOWN_WITHIN_MS, every: 100, what: "the bridge has the devices" },
    );
    for (const rule of plan.rules) this.#sign(ruleOf(rule, found));
    for (const { name, kind } of plan.quiet) {
      const rule = ruleOf({ name, trigger: "number", holdMs: 0, steps: [ONE_STEP], over: "leave" }, found);
      this.#sign(kind === "later" ? { ...rule, when: [], at: inThreeHours() } : rule);
    }
    this.#place();
    return await until(
      async () => {
        const all = await this.rules();
        return all && [...this.#names.values()].every((name) => all.get(name)?.runs) && all;
      },
      { within: KNOWN_WITHIN_MS, every: 200, what: "the bridge has all rules" },
    );
  }

  async drop(id: string): Promise<void> {
    this.#texts.delete(id);
    this.#place();
  }

  async rules(): Promise<Rules | undefined> {
    const id = crypto.randomUUID();
    const rules = [...this.#names.keys()];
    this.#home.send({ t: "order", id, order: { do: "status", rules, language: "en" } });
    const answer = () => this.#home.of("ordered").find((frame) => frame.id === id);
    const frame = await until(answer, { within: ORDERED_WITHIN_MS }).catch(() => undefined);
    if (!frame || !("status" in frame.ordered)) return undefined;
    const status = new Map(frame.ordered.status.map((one) => [one.rule, one]));
    return new Map(
      [...this.#names].map(([rule, name]): [string, KnownRule] => [
        name,
        { id: rule, name, state: status.get(rule)?.state, runs: status.get(rule)?.runs },
      ]),
    );
  }

  async presence(): Promise<undefined> {}

  async say(): Promise<void> {}

  async told(): Promise<string[]> {
    this.#take();
    return [...this.#news.values()].map((one) => `${this.#names.get(one.rule)}: ${JSON.stringify(one)}`);
  }

  news(): readonly AutomationNews[] {
    return [...this.#news.values()];
  }

  async isWhole(): Promise<boolean> {
    return (await this.rules()) !== undefined;
  }

  async fault(name: GatewayFault, lasts: number): Promise<void> {
    await this.kill();
    await sleep(name === "away:gateway" ? lasts : KILLED_MS);
    await this.start();
  }

  /** Stores what came, once by its number, and says so. A bridge that comes again gets all rules. */
  #take(): void {
    const { frames } = this.#home;
    for (; this.#taken < frames.length; this.#taken += 1) {
      const frame = frames[this.#taken];
      if (frame?.t === "hello" && this.#texts.size > 0) this.#place();
      if (frame?.t !== "news") continue;
      for (const one of frame.news) this.#news.set(one.n, one);
      this.#home.send({ t: "news_stored", upto: Math.max(...frame.news.map(({ n }) => n)) });
    }
  }

  #place(): void {
    this.#home.send({ t: "automations", set: [...this.#texts.values()], drop: [], all: true });
  }

  #sign(rule: Omit<AllowedAutomation, "id" | "home" | "allowed">): void {
    const id = `a-${(this.#names.size + 1).toString(16).padStart(4, "0")}`;
    const now = Date.now();
    const allowed = { by: "anna", at: now, until: now + 30 * DAY_MS };
    const body = JSON.stringify({ id, ...rule, home: "h1", allowed });
    this.#names.set(id, rule.name);
    this.#texts.set(id, withSignature(body, this.#pair.sign(automationBytes(body))));
  }

  /** Devices that are online, by name. */
  #devices(): Map<string, Found> {
    const states = new Map<string, AgentState>();
    for (const frame of this.#home.frames)
      if (frame.t === "snapshot" || frame.t === "agents")
        for (const agent of frame.agents) states.set(agent.id, agent);
    return new Map(
      [...states.values()].flatMap(({ id, online, hosted }): [string, Found][] =>
        online && hosted ? [[hosted.name, { id, key: hosted.key, allow: hosted.allow }]] : [],
      ),
    );
  }
}

const ONE_STEP = { device: "plain", waitMs: 0 } as const;

function inThreeHours(): NonNullable<AllowedAutomation["at"]> {
  const then = new Date(Date.now() + 3 * HOUR_MS + MINUTE_MS);
  return { of: "clock", minutes: then.getUTCHours() * 60 + then.getUTCMinutes() };
}

type Wanted = Pick<PlannedRule, "name" | "trigger" | "holdMs" | "steps" | "over"> &
  Partial<Pick<PlannedRule, "atMostMs" | "says">>;

function ruleOf(
  { name, trigger, holdMs, steps, over, atMostMs, says }: Wanted,
  found: ReadonlyMap<string, Found>,
): Omit<AllowedAutomation, "id" | "home" | "allowed"> {
  const of = (device: string): Found => {
    const one = found.get(device);
    if (!one) throw new Error(`no device ${device}`);
    return one;
  };
  const sensor = of(`Sensor ${name}`);
  const common = {
    version: 1,
    hysteresis: 0,
    hold_ms: holdMs,
    clear_hold_ms: 0,
    repeat: "each_time",
    tell_own: false,
  } as const;
  const condition = (n: number, more: object): AutomationCondition => ({
    of: "hosted",
    key: sensor.key,
    agent: sensor.id,
    condition: { ...common, id: `w-000${n}`, ...more } as AutomationCondition["condition"],
  });
  const number = condition(1, {
    reading: "Temperature",
    type: "number",
    is: "above",
    value: LIMIT,
    unit: "°C",
    hysteresis: 1,
  });
  const contact = condition(2, { reading: "Contact", type: "boolean", is: "equal", value: true });
  const step = (n: number, on: boolean): AutomationStep => {
    const plug = of(`Plug ${plugOf(name, n)}`);
    const waitMs = on ? (steps[n]?.waitMs ?? 0) : 0;
    return {
      of: "hosted",
      key: plug.key,
      agent: plug.id,
      action: "set",
      parameters: { on },
      allow: plug.allow,
      ...(waitMs > 0 && { wait_minutes: waitMs / MINUTE_MS }),
    };
  };
  return {
    version: 1,
    name,
    ...(says && { say: `${name} did its work.` }),
    match: "all",
    when: trigger === "number" ? [number] : trigger === "contact" ? [contact] : [number, contact],
    do: steps.map((_, n) => step(n, true)),
    over,
    end: over === "leave" ? [] : steps.map((_, n) => step(n, false)),
    ...(atMostMs !== undefined && { at_most_minutes: atMostMs / MINUTE_MS }),
    go_on: false,
    pause_ms: MINUTE_MS,
    an_hour: 12,
    zone: "UTC",
  };
}

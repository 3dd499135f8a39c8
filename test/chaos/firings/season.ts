/** Runs a season: volleys of firings, each with a fault around it, until everything that has to be told is told. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../../wait.ts";
import { request } from "../client.ts";
import { inject } from "./faults.ts";
import type { FiringRecord, SeasonHistory } from "./history.ts";
import { AGENT, type House, shownIn, takenBy } from "./house.ts";
import { linesOf } from "./lines.ts";
import type { Moment, PlannedFiring, PlannedSeason, PlannedVolley } from "./plan.ts";
import { makeReminder, makeRules, poke, type Rules, type StoredTurn, storedRules, turnsOf } from "./rules.ts";

/** A step that does not come in this time, as behind an earlier fault, is not waited for longer. */
const STEP_WITHIN_MS = 1_500;
/** Told at the latest: an agent reads each minute, a bridge says again after 30 s, a chat app is tried again after pauses. */
const TOLD_WITHIN_MS = 150_000;
/** What comes twice comes within this time after everything was told. */
const AFTER_MS = 5_000;
/** A volley that waits for everything to be connected waits so long at most. */
const WHOLE_WITHIN_MS = 15_000;
const POKE_EVERY_MS = 6_000;
/** A fault may lose the answer to a message that the platform took so long before. */
const LOST_BEFORE_MS = 2_000;
const LOST_AFTER_MS = 500;
/** No volley begins so shortly before a reminder is due. */
const BEFORE_DUE_MS = 12_000;
type Due = { volley: PlannedVolley; at: number };

export async function runSeason(
  house: House,
  plan: PlannedSeason,
  { dir, say }: { dir: string; say: (line: string) => void },
): Promise<SeasonHistory> {
  const season = new Season(house, plan, dir);
  return await season.run(say);
}

/** Tells whether everything is connected. */
async function isWhole({ gatewayUrl }: House): Promise<boolean> {
  const read = async (path: string) => {
    const response = await request(gatewayUrl, path).catch(() => undefined);
    return response?.ok ? await response.json() : undefined;
  };
  const status = (await read("/v1/status")) as { bridge: { online: boolean } } | undefined;
  if (!status?.bridge.online) return false;
  const fleet = (await read("/v1/agents")) as { agents: Array<{ id: string; online: boolean }> } | undefined;
  return fleet?.agents.some(({ id, online }) => id === AGENT && online) === true;
}

class Season {
  readonly #house: House;
  readonly #plan: PlannedSeason;
  readonly #dir: string;
  readonly #records = new Map<string, FiringRecord>();
  readonly #troubles: string[] = [];
  readonly #brokerAway: number[] = [];
  readonly #lossy: Array<{ from: number; to: number }> = [];
  #rules: Rules = new Map();
  #conversations: string[] = [];
  readonly #turns = new Map<string, StoredTurn[]>();

  constructor(house: House, plan: PlannedSeason, dir: string) {
    this.#house = house;
    this.#plan = plan;
    this.#dir = dir;
  }

  async run(say: (line: string) => void): Promise<SeasonHistory> {
    const { volleys, season } = this.#plan;
    this.#rules = await makeRules(this.#house, this.#plan);
    const firings = volleys.flatMap((volley) => volley.firings);
    this.#conversations = [
      ...new Set(
        firings
          .filter(({ told }) => told === "api")
          .map(({ name }) => this.#rules.get(name)?.conversation ?? `c-${name}`),
      ),
    ];
    say(`season ${season}: ${this.#rules.size} rules are made`);
    const isReminder = ({ firings }: PlannedVolley) => firings.some(({ kind }) => kind === "reminder");
    const left = volleys.filter((volley) => !isReminder(volley));
    const toMake = volleys.filter(isReminder);
    const due: Due[] = [];
    for (;;) {
      const reminder = toMake.shift();
      const [first] = reminder?.firings ?? [];
      if (reminder && first) due.push({ volley: reminder, at: await makeReminder(this.#house, first) });
      const [next] = due;
      if (next && (left.length === 0 || next.at - Date.now() < BEFORE_DUE_MS)) {
        due.shift();
        await sleep(Math.max(0, next.at - Date.now() - STEP_WITHIN_MS));
        await this.#volley(next.volley, next.at);
        continue;
      }
      const volley = left.shift();
      if (!volley) break;
      await this.#volley(volley, undefined);
      await this.#recover();
    }
    say(`season ${season}: ${volleys.length} volleys are over`);
    await this.#untilTold();
    return await this.#gather();
  }

  async #volley(volley: PlannedVolley, dueAt: number | undefined): Promise<void> {
    const { k, firings, fault } = volley;
    const why = `volley ${k}, ${fault.name} when it ${fault.moment}`;
    const [lead] = firings;
    if (!lead) return;
    if (volley.patient && dueAt === undefined)
      await until(() => isWhole(this.#house), { within: WHOLE_WITHIN_MS, every: 50 }).catch(() => {});
    const step = this.#step(fault.moment, lead, dueAt);
    for (const firing of firings) this.#cross(firing, volley, dueAt);
    const isLate = dueAt !== undefined && dueAt < Date.now();
    const came = await Promise.race([
      step.then(() => !isLate),
      sleep(STEP_WITHIN_MS * (dueAt ? 2 : 1), false),
    ]);
    await sleep(Math.max(0, fault.jitter));
    const from = performance.now();
    if (/^(kill:broker|away:broker|power)$/.test(fault.name)) this.#brokerAway.push(Date.now());
    await inject(this.#house, fault, why).catch((error: unknown) => {
      this.#troubles.push(`${why}: ${error instanceof Error ? error.message : String(error)}`);
    });
    if (/worker|gateway|power|platform/.test(fault.name))
      this.#lossy.push({ from: from - LOST_BEFORE_MS, to: performance.now() + LOST_AFTER_MS });
    for (const { name } of firings) {
      const record = this.#records.get(name);
      if (record) record.met = came;
    }
    appendFileSync(
      join(this.#dir, "volleys.jsonl"),
      `${JSON.stringify({ ended: new Date().toISOString(), came, ...volley })}\n`,
    );
  }

  #cross(firing: PlannedFiring, { k, fault }: PlannedVolley, dueAt: number | undefined): void {
    const { name, kind, value } = firing;
    const { devices } = this.#house;
    const crossedAt = dueAt ?? Date.now();
    this.#records.set(name, { ...firing, k, fault: fault.name, moment: fault.moment, crossedAt, met: false });
    if (kind === "hosted") devices.turnHosted(name, value);
    if (kind === "presence") devices.hostedIs(name, "offline");
    if (kind === "agent") {
      devices.turnAgents(name, value);
      void poke(this.#house, this.#rules);
    }
  }

  /** Resolves at a step of a firing. */
  async #step(moment: Moment, { kind, name, told }: PlannedFiring, dueAt: number | undefined): Promise<void> {
    const { links } = this.#house;
    const out = kind === "agent" ? links["agent-broker"] : links.gateway;
    switch (moment) {
      case "crosses":
        return;
      case "on disk": {
        const at = kind === "agent" ? "agent" : "bridge";
        const id = this.#rules.get(name)?.id ?? name;
        await until(() => this.#house.onDisk(at).includes(id), { every: 2, within: STEP_WITHIN_MS }).catch(
          () => new Promise(() => {}),
        );
        return;
      }
      case "leaves":
        return await out.nextBytes("toServer");
      case "acked":
        await out.nextBytes("toServer");
        return await out.nextBytes("toClient");
      case "sent":
      case "answered": {
        if (told === "api") return;
        return await links[told].nextBytes(moment === "sent" ? "toServer" : "toClient");
      }
      case "due":
        await sleep(Math.max(0, (dueAt ?? 0) - Date.now()));
    }
  }

  /** The value of what was told goes back, where the plan says so. */
  async #recover(): Promise<void> {
    const waiting = [...this.#records.values()].filter((one) => one.recovers && one.backAt === undefined);
    if (waiting.length === 0) return;
    await this.#look();
    for (const record of waiting) {
      if (!this.#isTold(record.name)) continue;
      record.backAt = Date.now();
      const { devices } = this.#house;
      if (record.kind === "agent") devices.turnAgents(record.name);
      else if (record.kind === "presence") devices.hostedIs(record.name, "online");
      else devices.turnHosted(record.name);
    }
  }

  async #look(): Promise<void> {
    for (const conversation of this.#conversations) {
      const turns = await turnsOf(this.#house, conversation);
      if (turns) this.#turns.set(conversation, turns);
    }
  }

  #isTold(name: string): boolean {
    const told = this.#records.get(name)?.told ?? "api";
    const texts = told === "api" ? this.#noticed().map(({ text }) => text) : shownIn(this.#house, told);
    return texts.flatMap(linesOf).some(({ rule, says }) => rule === name && says === "firing");
  }

  #noticed(): Array<{ text: string; at: number; conversation: string }> {
    return [...this.#turns].flatMap(([conversation, turns]) =>
      turns
        .filter(({ text }) => text === "")
        .map(({ answer, created_at: at }) => ({ text: answer ?? "", at, conversation })),
    );
  }

  async #untilTold(): Promise<void> {
    const end = performance.now() + TOLD_WITHIN_MS;
    let pokedAt = 0;
    while (performance.now() < end) {
      await this.#look();
      await this.#recover();
      const untold = [...this.#records.values()].filter(({ name }) => !this.#isTold(name));
      if (untold.length === 0) break;
      if (untold.some(({ kind }) => kind === "agent") && performance.now() - pokedAt > POKE_EVERY_MS) {
        pokedAt = performance.now();
        void poke(this.#house, this.#rules);
      }
      await sleep(500);
    }
    await sleep(AFTER_MS);
  }

  async #gather(): Promise<SeasonHistory> {
    await until(async () => (await storedRules(this.#house)) !== undefined, {
      within: 30_000,
      every: 200,
      what: "the gateway answers",
    });
    await this.#look();
    const rules = (await storedRules(this.#house)) ?? new Map();
    const house = this.#house;
    return {
      season: this.#plan.season,
      firings: [...this.#records.values()],
      noticed: this.#noticed(),
      shown: { telegram: shownIn(house, "telegram"), generic: shownIn(house, "generic") },
      taken: { telegram: takenBy(house, "telegram"), generic: takenBy(house, "generic") },
      brokerAway: this.#brokerAway,
      lossy: this.#lossy,
      occurrences: new Map([...rules.values()].map(({ name, history }) => [name, history.length])),
      troubles: this.#troubles,
    };
  }
}

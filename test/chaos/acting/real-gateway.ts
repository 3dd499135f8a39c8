/**
 * The real Worker. Rules are made as people make them: a question for which the model calls `automate`, and an owner's yes to its card.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { HomePresence } from "@edgecall/core/protocol/automation.ts";
import type { AutomationList } from "../../../worker/features/automations/contract.ts";
import { script } from "../../scripted-model.ts";
import { until } from "../../wait.ts";
import { request, type SeenTurn } from "../client.ts";
import { killWorkerd } from "../faults.ts";
import type { Program } from "../program.ts";
import { AGENT, MARK } from "./agent.ts";
import { type ActingDevices, LIMIT } from "./devices.ts";
import {
  type ActingGateway,
  announce,
  type GatewayFault,
  type KnownRule,
  plugOf,
  type Rules,
} from "./gateway.ts";
import type { PlannedHouse, PlannedRule, QuietRule } from "./plan.ts";

const MADE_WITHIN_MS = 120_000;
/** Rules that one turn makes. */
const AT_ONCE = 4;
const MINUTE = 60_000;
/** A clock that is set 3 h ahead is just past it, and it truly comes after the run. */
const LATER_MS = 3 * 60 * MINUTE;

const ANSWERS_WITHIN_MS = 20_000;

type StoredTurn = SeenTurn & { text: string };

export class RealGateway implements ActingGateway {
  readonly url: string;
  readonly #worker: Program;
  #conversations: ReadonlySet<string> = new Set();

  constructor(url: string, worker: Program) {
    this.url = url;
    this.#worker = worker;
  }

  start(): Promise<void> {
    return this.#worker.start();
  }

  stop(): Promise<void> {
    return this.#worker.kill("the end");
  }

  kill(why: string): Promise<void> {
    return this.#worker.kill(why);
  }

  async make(devices: ActingDevices, plan: PlannedHouse): Promise<Rules> {
    const names = announce(devices, plan);
    devices.addHall();
    await until(() => this.#hasAgent(), {
      within: MADE_WITHIN_MS,
      every: 250,
      what: "the home has the agent",
    });
    const ids = await knownDevices(this.url, [...names, "Hall"]);
    const { rules, quiet } = plan;
    const inputs = [
      ...rules.map((rule) => inputOf(rule, ids)),
      ...quiet.map((rule) => quietInput(rule, ids)),
    ];
    const wanted = [...rules, ...quiet].map(({ name }) => name);
    const approving = new AbortController();
    const approved = approveAll(this.url, approving.signal);
    try {
      for (let at = 0; at < inputs.length; at += AT_ONCE)
        await makeHere(this.url, inputs.slice(at, at + AT_ONCE), at / AT_ONCE);
      return await until(
        async () => {
          const all = await this.rules();
          // The bridge says how each is.
          return all && wanted.every((name) => all.get(name)?.runs) && all;
        },
        { within: MADE_WITHIN_MS, every: 250, what: "the bridge has all rules" },
      );
    } finally {
      approving.abort();
      await approved;
    }
  }

  async drop(id: string): Promise<void> {
    const response = await request(this.url, `/v1/automations/${id}`, { method: "DELETE" });
    if (!response.ok) throw new Error(`${id} is not dropped: ${response.status} ${await response.text()}`);
  }

  async rules(): Promise<Rules | undefined> {
    const response = await request(this.url, "/v1/automations").catch(() => undefined);
    if (!response?.ok) return undefined;
    const { automations } = (await response.json()) as AutomationList;
    this.#conversations = new Set([
      ...this.#conversations,
      ...automations.map(({ conversation }) => conversation),
    ]);
    return new Map(
      automations.map(({ id, name, now }): [string, KnownRule] => [
        name,
        { id, name, state: now?.state, runs: now?.runs },
      ]),
    );
  }

  async presence(): Promise<HomePresence["home"] | undefined> {
    const response = await request(this.url, "/v1/automations").catch(() => undefined);
    return response?.ok ? ((await response.json()) as AutomationList).presence?.home : undefined;
  }

  async say(away: boolean): Promise<void> {
    const init = { method: "PUT", body: JSON.stringify({ away }) };
    const said = async () => (await request(this.url, "/v1/presence", init).catch(() => undefined))?.ok;
    await until(said, { within: ANSWERS_WITHIN_MS, every: 200, what: "the gateway takes a person's word" });
  }

  async told(): Promise<string[]> {
    const told: string[] = [];
    for (const conversation of this.#conversations)
      for (const { text, answer } of (await turnsOf(this.url, conversation)) ?? [])
        if (text === "") told.push(answer ?? "");
    return told;
  }

  news(): undefined {
    return undefined;
  }

  async isWhole(): Promise<boolean> {
    const response = await request(this.url, "/v1/status").catch(() => undefined);
    if (!response?.ok) return false;
    const { bridge } = (await response.json()) as { bridge: { online: boolean } };
    return bridge.online && (await this.#hasAgent());
  }

  async fault(name: GatewayFault, lasts: number, why: string): Promise<void> {
    if (name === "kill:workerd") {
      // Miniflare gives up when workerd is killed while it starts.
      await until(() => this.#answers(), { within: ANSWERS_WITHIN_MS, what: "the gateway answers" });
      await killWorkerd({ worker: this.#worker }, why);
      await until(() => this.#answers(), { within: ANSWERS_WITHIN_MS, what: "the gateway answers" });
      return;
    }
    await this.#worker.kill(why);
    if (name === "away:gateway") await sleep(lasts);
    await this.#worker.start();
  }

  async #hasAgent(): Promise<boolean> {
    const response = await request(this.url, "/v1/agents").catch(() => undefined);
    if (!response?.ok) return false;
    const { agents } = (await response.json()) as {
      agents: Array<{ id: string; online: boolean; actions: string[] }>;
    };
    return agents.some(({ id, online, actions }) => id === AGENT && online && actions.includes(MARK));
  }

  async #answers(): Promise<boolean> {
    const response = await request(this.url, "/v1/status").catch(() => undefined);
    return response?.ok === true;
  }
}

function conditionsOf(name: string, trigger: PlannedRule["trigger"], sensor: string | undefined, holdMs = 0) {
  const hold = { for_minutes: holdMs / MINUTE };
  const number = { agent_id: sensor, reading: "Temperature", is: "above", value: LIMIT, ...hold };
  const contact = { agent_id: sensor, reading: "Contact", is: "equal", value: "open", ...hold };
  if (sensor === undefined) throw new Error(`no sensor of ${name}`);
  if (trigger === "event") return [{ agent_id: sensor, reading: "Button", is: "happens", value: "press" }];
  return trigger === "number" ? [number] : trigger === "contact" ? [contact] : [number, contact];
}

function inputOf(rule: PlannedRule, ids: ReadonlyMap<string, string>): object {
  const { name, trigger, holdMs, steps, over, atMostMs, says, presence } = rule;
  return {
    name,
    when: conditionsOf(name, trigger, ids.get(`Sensor ${name}`), holdMs),
    ...(presence && { only_if: presence.needs }),
    do: steps.map(({ device, waitMs }, n) => ({
      ...(device === "agent"
        ? { agent_id: AGENT, action: MARK, parameters: { id: plugOf(name, n) } }
        : { agent_id: ids.get(`Plug ${plugOf(name, n)}`), action: "set", parameters: { on: true } }),
      ...(waitMs > 0 && { wait_minutes: waitMs / MINUTE }),
    })),
    over,
    ...(atMostMs !== undefined && { at_most_minutes: atMostMs / MINUTE }),
    ...(says && { say: `${name} did its work.` }),
  };
}

function quietInput({ name, kind }: QuietRule, ids: ReadonlyMap<string, string>): object {
  const steps = [{ agent_id: ids.get(`Plug ${plugOf(name, 0)}`), action: "set", parameters: { on: true } }];
  if (kind !== "later")
    return { name, when: conditionsOf(name, "number", ids.get(`Sensor ${name}`)), do: steps, over: "leave" };
  const time = new Date(Date.now() + LATER_MS).toLocaleTimeString("de-DE", {
    timeZone: "Europe/Berlin",
    hour: "2-digit",
    minute: "2-digit",
  });
  return { name, at: time, do: steps, over: "leave" };
}

/** Waits until the home has these devices, online. @returns their ids by their names */
async function knownDevices(url: string, names: readonly string[]): Promise<Map<string, string>> {
  return await until(
    async () => {
      const response = await request(url, "/v1/devices?all=yes").catch(() => undefined);
      if (!response?.ok) return undefined;
      const { devices } = (await response.json()) as {
        devices: Array<{ id: string; name: string; online: boolean }>;
      };
      const ids = new Map(devices.filter(({ online }) => online).map(({ id, name }) => [name, id]));
      return names.every((name) => ids.has(name)) && ids;
    },
    { within: MADE_WITHIN_MS, every: 250, what: "the home has the devices" },
  );
}

async function makeHere(url: string, inputs: readonly object[], n: number): Promise<void> {
  const text = script(
    { calls: inputs.map((one) => ({ name: "automate", arguments: one })) },
    { text: "done" },
  );
  const conversation = `c-${n}`;
  const posted = await request(url, `/v1/conversations/${conversation}/messages`, {
    method: "POST",
    body: JSON.stringify({ text }),
  });
  if (!posted.ok) throw new Error(`${conversation}: ${posted.status} ${await posted.text()}`);
  const turn = await until(
    async () =>
      (await turnsOf(url, conversation))?.find((one) => one.text === text && one.status !== "running"),
    { within: MADE_WITHIN_MS, every: 100, what: `the turn of ${conversation}` },
  );
  const refused = turn.calls.filter(({ status }) => status !== "success");
  if (refused.length > 0 || turn.calls.length !== inputs.length)
    throw new Error(`rules were not made: ${JSON.stringify(turn)}`);
}

/** Says yes to all that is asked; twice where a second tap is wanted. */
async function approveAll(url: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const response = await request(url, "/v1/questions").catch(() => undefined);
    const { questions } = (response?.ok ? await response.json() : { questions: [] }) as {
      questions: Array<{ id: string }>;
    };
    for (const { id } of questions)
      await request(url, `/v1/questions/${id}`, {
        method: "POST",
        body: JSON.stringify({ answer: "approve" }),
      });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** @returns undefined: the gateway does not answer now */
async function turnsOf(url: string, conversation: string): Promise<StoredTurn[] | undefined> {
  const response = await request(url, `/v1/conversations/${conversation}`).catch(() => undefined);
  if (response?.status === 404) return [];
  return response?.ok ? ((await response.json()) as { turns: StoredTurn[] }).turns : undefined;
}

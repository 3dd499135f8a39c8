/** Makes the rules of a house, as people do: a question for which the model calls `automate`, and an owner's yes to its card. */
import type { AutomationList, AutomationView } from "../../../worker/features/automations/contract.ts";
import { script } from "../../scripted-model.ts";
import { until } from "../../wait.ts";
import { request, type SeenTurn } from "../client.ts";
import { HIGH, LIMIT } from "./devices.ts";
import type { ActingHouse } from "./house.ts";
import type { PlannedHouse, PlannedRule, QuietRule } from "./plan.ts";

const MADE_WITHIN_MS = 120_000;
/** Rules that one turn makes. */
const AT_ONCE = 4;
const MINUTE = 60_000;
/** A clock that is set 3 h ahead is just past it, and it truly comes after the run. */
const LATER_MS = 3 * 60 * MINUTE;

export type StoredTurn = SeenTurn & { text: string; created_at: number };
/** By name. */
export type Rules = ReadonlyMap<string, AutomationView>;

/** The switch of a step, as its device is named behind "Plug ". */
export const plugOf = (rule: string, step: number) => `${rule}${"abc"[step] ?? "z"}`;

/** Announces the devices, makes the rules, has them allowed, and waits until the bridge has them. */
export async function makeRules(house: ActingHouse, { rules, quiet }: PlannedHouse): Promise<Rules> {
  const { devices } = house;
  for (const { name, steps } of rules) {
    devices.addTrigger(name);
    for (const [n, { device }] of steps.entries()) devices.addSwitch(plugOf(name, n), device);
  }
  for (const { name, kind } of quiet) {
    devices.addTrigger(name);
    devices.addSwitch(plugOf(name, 0), "plain");
    if (kind === "from the start") devices.number(name, HIGH);
  }
  const ids = await knownDevices(house, [
    ...rules.flatMap(({ name, steps }) => [
      `Sensor ${name}`,
      ...steps.map((_, n) => `Plug ${plugOf(name, n)}`),
    ]),
    ...quiet.flatMap(({ name }) => [`Sensor ${name}`, `Plug ${plugOf(name, 0)}`]),
  ]);
  const inputs = [...rules.map((rule) => inputOf(rule, ids)), ...quiet.map((rule) => quietInput(rule, ids))];
  const names = [...rules, ...quiet].map(({ name }) => name);
  const approving = new AbortController();
  const approved = approveAll(house, approving.signal);
  try {
    for (let at = 0; at < inputs.length; at += AT_ONCE)
      await makeHere(house, inputs.slice(at, at + AT_ONCE), at / AT_ONCE);
    return await until(
      async () => {
        const all = await storedRules(house);
        // The bridge says how each is.
        return all && names.every((name) => all.get(name)?.now) && all;
      },
      { within: MADE_WITHIN_MS, every: 250, what: "the bridge has all rules" },
    );
  } finally {
    approving.abort();
    await approved;
  }
}

/** Takes a rule away. */
export async function dropRule(house: ActingHouse, id: string): Promise<void> {
  const response = await request(house.gatewayUrl, `/v1/automations/${id}`, { method: "DELETE" });
  if (!response.ok) throw new Error(`${id} is not dropped: ${response.status} ${await response.text()}`);
}

function conditionsOf(name: string, trigger: PlannedRule["trigger"], sensor: string | undefined, holdMs = 0) {
  const hold = { for_minutes: holdMs / MINUTE };
  const number = { agent_id: sensor, reading: "Temperature", is: "above", value: LIMIT, ...hold };
  const contact = { agent_id: sensor, reading: "Contact", is: "equal", value: "open", ...hold };
  if (sensor === undefined) throw new Error(`no sensor of ${name}`);
  return trigger === "number" ? [number] : trigger === "contact" ? [contact] : [number, contact];
}

function inputOf(rule: PlannedRule, ids: ReadonlyMap<string, string>): object {
  const { name, trigger, holdMs, steps, over, atMostMs, says } = rule;
  return {
    name,
    when: conditionsOf(name, trigger, ids.get(`Sensor ${name}`), holdMs),
    do: steps.map(({ waitMs }, n) => ({
      agent_id: ids.get(`Plug ${plugOf(name, n)}`),
      action: "set",
      parameters: { on: true },
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
async function knownDevices(house: ActingHouse, names: readonly string[]): Promise<Map<string, string>> {
  return await until(
    async () => {
      const response = await request(house.gatewayUrl, "/v1/devices?all=yes").catch(() => undefined);
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

async function makeHere(house: ActingHouse, inputs: readonly object[], n: number): Promise<void> {
  const text = script(
    { calls: inputs.map((one) => ({ name: "automate", arguments: one })) },
    { text: "done" },
  );
  const conversation = `c-${n}`;
  const posted = await request(house.gatewayUrl, `/v1/conversations/${conversation}/messages`, {
    method: "POST",
    body: JSON.stringify({ text }),
  });
  if (!posted.ok) throw new Error(`${conversation}: ${posted.status} ${await posted.text()}`);
  const turn = await until(
    async () =>
      (await turnsOf(house, conversation))?.find((one) => one.text === text && one.status !== "running"),
    { within: MADE_WITHIN_MS, every: 100, what: `the turn of ${conversation}` },
  );
  const refused = turn.calls.filter(({ status }) => status !== "success");
  if (refused.length > 0 || turn.calls.length !== inputs.length)
    throw new Error(`rules were not made: ${JSON.stringify(turn)}`);
}

/** Says yes to all that is asked; twice where a second tap is wanted. */
async function approveAll(house: ActingHouse, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const response = await request(house.gatewayUrl, "/v1/questions").catch(() => undefined);
    const { questions } = (response?.ok ? await response.json() : { questions: [] }) as {
      questions: Array<{ id: string }>;
    };
    for (const { id } of questions)
      await request(house.gatewayUrl, `/v1/questions/${id}`, {
        method: "POST",
        body: JSON.stringify({ answer: "approve" }),
      });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** @returns undefined: the gateway does not answer now */
export async function turnsOf(
  { gatewayUrl }: ActingHouse,
  conversation: string,
): Promise<StoredTurn[] | undefined> {
  const response = await request(gatewayUrl, `/v1/conversations/${conversation}`).catch(() => undefined);
  if (response?.status === 404) return [];
  return response?.ok ? ((await response.json()) as { turns: StoredTurn[] }).turns : undefined;
}

/** @returns undefined: the gateway does not answer now */
export async function storedRules({ gatewayUrl }: ActingHouse): Promise<Rules | undefined> {
  const response = await request(gatewayUrl, "/v1/automations").catch(() => undefined);
  if (!response?.ok) return undefined;
  const { automations } = (await response.json()) as AutomationList;
  return new Map(automations.map((rule) => [rule.name, rule]));
}

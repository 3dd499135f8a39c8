/** Makes the rules of a season, as people do: a question for which the model calls `watch` or `remind`, and an approval where one is asked. */
import { OWNER } from "../../platforms/person.ts";
import { script } from "../../scripted-model.ts";
import { until } from "../../wait.ts";
import { request, type SeenTurn } from "../client.ts";
import { AGENT, type House, OWNERS, READING } from "./house.ts";
import type { PlannedFiring, PlannedSeason } from "./plan.ts";

/** Above every value that does not cross, and below every one that does. */
const LIMIT = 50;
/** Its value never crosses. */
const POKE = "F-poke";
const MADE_WITHIN_MS = 60_000;
/** Rules that one turn makes. */
const AT_ONCE = 6;

export type StoredTurn = SeenTurn & { text: string; created_at: number };
/** A rule as Home shows it, with its firings. */
type StoredRule = {
  id: string;
  name: string;
  status: string;
  conversation: string;
  next?: number[];
  history: Array<{ occurrence: number; at: number }>;
};
/** By name. */
export type Rules = ReadonlyMap<string, StoredRule>;

/** Announces the devices and makes the watches. Resolves when every place has its rules. */
export async function makeRules(house: House, { volleys, quiet }: PlannedSeason): Promise<Rules> {
  const firings = volleys.flatMap((volley) => volley.firings);
  const { devices } = house;
  for (const { name, kind } of firings) {
    if (kind === "agent") devices.turnAgents(name);
    else if (kind !== "reminder") devices.addHosted(name);
  }
  for (const name of quiet) devices.addHosted(name);
  devices.turnAgents(POKE);
  const ids = await knownDevices(house, [
    ...firings.filter(({ kind }) => kind === "hosted" || kind === "presence").map(({ name }) => name),
    ...quiet,
  ]);
  const critical = { severity: "critical", for_minutes: 0 };
  const watches = firings
    .filter(({ kind }) => kind !== "reminder")
    .map((one) => ({ one, watch: watchOf(one, ids) }));
  const others = [
    ...quiet.map((name) => ({
      ...critical,
      name,
      agent_id: ids.get(name),
      reading: "Temperature",
      is: "above",
      value: LIMIT,
    })),
    { ...critical, name: POKE, agent_id: AGENT, reading: READING, field: POKE, is: "above", value: 900 },
  ];
  const own = [...watches.filter(({ one }) => one.told === "api").map(({ watch }) => watch), ...others];
  const approving = new AbortController();
  const approved = approveAll(house, approving.signal);
  try {
    const made: Array<Promise<unknown>> = [];
    for (let at = 0; at < own.length; at += AT_ONCE)
      made.push(makeHere(house, own.slice(at, at + AT_ONCE), at / AT_ONCE));
    for (const chat of ["telegram", "generic"] as const) {
      const told = watches.filter(({ one }) => one.told === chat).map(({ watch }) => watch);
      if (told.length > 0) made.push(house.people[chat].say(script(...stepsOf("watch", told)), OWNER));
    }
    await Promise.all(made);
    const rules = await until(
      async () => {
        const all = await storedRules(house);
        return (
          all && [...watches.map(({ one }) => one.name), ...quiet, POKE].every((name) => all.has(name)) && all
        );
      },
      { within: MADE_WITHIN_MS, every: 100, what: "all watches are made" },
    );
    const placed = (kind: "hosted" | "agent") =>
      firings.filter((one) => one.kind === kind).map(({ name }) => rules.get(name)?.id ?? name);
    await until(
      () =>
        placed("hosted").every((id) => house.placed("bridge").includes(id)) &&
        placed("agent").every((id) => house.placed("agent").includes(id)),
      { within: MADE_WITHIN_MS, what: "bridge and agent have their rules" },
    );
    return rules;
  } finally {
    approving.abort();
    await approved;
  }
}

/** Makes a reminder for the time in a minute. @returns when it is due, epoch ms */
export async function makeReminder(house: House, { name }: PlannedFiring): Promise<number> {
  await ask(house, OWNERS[0], `c-${name}`, stepsOf("remind", [{ text: name, in_minutes: 1 }]));
  const due = async () => (await storedRules(house))?.get(name)?.next?.[0];
  return await until(due, { within: MADE_WITHIN_MS, every: 100, what: `the reminder ${name}` });
}

/** Makes the agent read its dials at once, and not within a minute. */
export async function poke({ gatewayUrl }: House, rules: Rules): Promise<void> {
  const id = rules.get(POKE)?.id;
  pokes += 1;
  const body = JSON.stringify({ value: 900 + (pokes % 2) });
  // Where a fault is in the way, the agent reads by itself.
  await request(gatewayUrl, `/v1/rules/${id}`, { method: "PATCH", body }).catch(() => {});
}
let pokes = 0;

function watchOf({ name, kind, told, once }: PlannedFiring, ids: ReadonlyMap<string, string>): object {
  const common = {
    name,
    for_minutes: 0,
    ...(told === "api" && { severity: "critical" }),
    ...(once && { repeat: "once" }),
  };
  if (kind === "agent")
    return { ...common, agent_id: AGENT, reading: READING, field: name, is: "above", value: LIMIT };
  const device = { ...common, agent_id: ids.get(name) };
  return kind === "presence"
    ? { ...device, reading: "presence", is: "offline" }
    : { ...device, reading: "Temperature", is: "above", value: LIMIT };
}

/** Waits until the home has these devices, online. @returns their ids by the dials' names */
async function knownDevices(house: House, names: readonly string[]): Promise<Map<string, string>> {
  return await until(
    async () => {
      const response = await request(house.gatewayUrl, "/v1/devices?all=yes").catch(() => undefined);
      if (!response?.ok) return undefined;
      const { devices } = (await response.json()) as {
        devices: Array<{ id: string; name: string; online: boolean; readings: Array<{ value: unknown }> }>;
      };
      const there = devices.filter(
        ({ online, readings }) => online && readings.some(({ value }) => value === 10),
      );
      const ids = new Map(there.map(({ id, name }) => [name.replace("Dial ", ""), id]));
      const agent = await request(house.gatewayUrl, "/v1/agents");
      const { agents } = (await agent.json()) as { agents: Array<{ id: string; online: boolean }> };
      const isAgentThere = agents.some(({ id, online }) => id === AGENT && online);
      return isAgentThere && names.every((name) => ids.has(name)) && ids;
    },
    { within: MADE_WITHIN_MS, every: 100, what: "the home has the devices" },
  );
}

async function makeHere(house: House, watches: readonly object[], n: number): Promise<void> {
  const owner = OWNERS[n % OWNERS.length] ?? OWNERS[0];
  const { calls } = await ask(house, owner, `c-${n}`, stepsOf("watch", watches));
  const refused = calls.filter(({ status }) => status !== "success");
  if (refused.length > 0) throw new Error(`watches were not made: ${JSON.stringify(refused)}`);
}

function stepsOf(name: "watch" | "remind", args: readonly object[]) {
  return [{ calls: args.map((one) => ({ name, arguments: one })) }, { text: "done" }];
}

async function ask(
  house: House,
  owner: string,
  conversation: string,
  steps: Parameters<typeof script>,
): Promise<StoredTurn> {
  const text = script(...steps);
  const posted = await request(house.gatewayUrl, `/v1/conversations/${conversation}/messages`, {
    method: "POST",
    body: JSON.stringify({ text }),
    headers: { authorization: `Bearer ${owner}` },
  });
  if (!posted.ok) throw new Error(`${conversation}: ${posted.status} ${await posted.text()}`);
  const isDone = async () =>
    (await turnsOf(house, conversation))?.find((turn) => turn.text === text && turn.status !== "running");
  return await until(isDone, { within: MADE_WITHIN_MS, every: 100, what: `the turn of ${conversation}` });
}

async function approveAll(house: House, signal: AbortSignal): Promise<void> {
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
  { gatewayUrl }: House,
  conversation: string,
): Promise<StoredTurn[] | undefined> {
  const response = await request(gatewayUrl, `/v1/conversations/${conversation}`).catch(() => undefined);
  if (response?.status === 404) return [];
  return response?.ok ? ((await response.json()) as { turns: StoredTurn[] }).turns : undefined;
}

/** @returns undefined: the gateway does not answer now */
export async function storedRules({ gatewayUrl }: House): Promise<Rules | undefined> {
  const response = await request(gatewayUrl, "/v1/rules").catch(() => undefined);
  if (!response?.ok) return undefined;
  const { rules } = (await response.json()) as { rules: StoredRule[] };
  return new Map(rules.map((rule) => [rule.name, rule]));
}

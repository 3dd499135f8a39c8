/** Brings rules to the bridge. It says in its hello which it has, as a hash: so a reconnect costs nothing. */
import { AUTOMATIONS_FEATURE, type Automation } from "@edgecall/core/protocol/automation.ts";
import type { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import { rulesHash } from "@edgecall/core/rules/rules-hash.ts";
import { bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { emit } from "../../../kernel/home/feature.ts";
import { endAllOver } from "../../../kernel/home/permissions/ends.ts";
import { type AutomationRow, automationsOf } from "./automation-store.ts";
import { idOf } from "./faithful.ts";

/** @param all those that are not among them go @returns false: the bridge is away */
export function sendRules(
  home: HomeContext,
  rows: readonly AutomationRow[],
  drop: string[],
  all?: true,
): boolean {
  const now = Date.now();
  if (!bridgeOf(home).has(AUTOMATIONS_FEATURE, now)) return false;
  const set = rows.map(({ signed }) => signed);
  return bridgeOf(home).send({ t: "automations", set, drop, ...(all && { all }) }, now);
}

/** Agents evaluate their conditions of rules, and are told of others. */
export function placeConditions(home: HomeContext, ...rules: readonly (Automation | undefined)[]): void {
  const own = rules.flatMap((rule) => rule?.when.filter(({ of }) => of === "agent") ?? []);
  const agents = new Set(own.flatMap((one) => idOf(home, one) ?? []));
  if (agents.size > 0) void emit("conditionsChanged", home, [...agents]);
}

/** The bridge has come. */
export async function syncRules(
  home: HomeContext,
  { features, automations: hash }: BridgeFrame & { t: "hello" },
): Promise<void> {
  if (!features?.includes(AUTOMATIONS_FEATURE)) return;
  if (automationsOf(home).all().length > 0) await endAllOver(home, Date.now());
  const [own, none] = await Promise.all([hashOf(automationsOf(home).active()), hashOf([])]);
  // What a person stopped meanwhile is not among them.
  const rows = automationsOf(home).active();
  if (automationsOf(home).said().length > 0) sendPresence(home);
  // A bridge that has none may have lost its numbers, too, also where it is to have none: else news of the next rule were no news.
  if ((hash === undefined || hash === none) && automationsOf(home).newsStored() > 0)
    automationsOf(home).storeNews(0);
  if (hash === own && !rows.some(({ unsent }) => unsent)) return;
  if (!sendRules(home, rows, [], true)) return;
  for (const { unsent, ...row } of rows) if (unsent) automationsOf(home).put(row);
}

async function hashOf(rows: readonly AutomationRow[]): Promise<string> {
  return await rulesHash(rows.map(({ automation }) => automation));
}

/** Persons' last words about who is at home. */
export function sendPresence(home: HomeContext): void {
  const now = Date.now();
  const all = automationsOf(home).said();
  if (bridgeOf(home).has(AUTOMATIONS_FEATURE, now)) bridgeOf(home).send({ t: "presence_said", all }, now);
}

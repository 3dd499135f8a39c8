/** Rules that act as the API shows and changes them. */

import { whyText } from "@edgecall/core/automations/news-text.ts";
import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { canonicalHash } from "@edgecall/core/protocol/approval.ts";
import {
  AUTOMATIONS_FEATURE,
  type AutomationRun,
  type AutomationStatus,
} from "@edgecall/core/protocol/automation.ts";
import { seesAll, type Viewer } from "../../../kernel/api/may-see.ts";
import { bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import { clockOf } from "../../../kernel/home/clock.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import type { HomePart } from "../../../kernel/home/part.ts";
import { personText } from "../../../kernel/home/people/person-name.ts";
import { phrasesOf, readLanguage } from "../../../kernel/phrases.ts";
import type { AutomationsApi } from "../automations-api.ts";
import type { AutomationRefused, AutomationView } from "../contract.ts";
import { allow, type Draft, rowsOf, sign } from "./allow.ts";
import { statusOf, undo } from "./ask-bridge.ts";
import { type AutomationRow, automationsOf } from "./automation-store.ts";
import { mayEnd, sayPresence } from "./by-name.ts";
import { draftRule, inputOf } from "./draft.ts";
import { idOf } from "./faithful.ts";
import { stopRule } from "./pause.ts";
import { sendRules } from "./sync.ts";

export const automationsRpc: HomePart<AutomationsApi> = {
  async list({ home }, viewer) {
    const rows = viewer.role === "guest" ? [] : automationsOf(home).all();
    const now = Date.now();
    await Promise.all(rows.map(({ maker }) => readLanguage(home.env, maker.language)));
    const acts = bridgeOf(home).has(AUTOMATIONS_FEATURE, now);
    const rules = rows.filter(({ status }) => status === "active").map(({ automation }) => automation.id);
    const said = acts && viewer.role !== "guest" ? await statusOf(home, rules) : undefined;
    const status = new Map(said?.status.map((one) => [one.rule, one]));
    return {
      automations: rows.map((row) => viewOf(home, row, viewer, status.get(row.automation.id))),
      bridge: acts ? "online" : bridgeOf(home).isConnected(now) ? "older" : "offline",
      zone: clockOf(home).read().zone,
      away:
        viewer.role === "guest"
          ? []
          : automationsOf(home)
              .said()
              .flatMap(({ away, ...one }) => (away ? one : [])),
      presence: said?.presence ?? null,
      allows: mayAllow(viewer),
    };
  },
  async card({ home }, id, viewer) {
    const row = found(home, id, viewer);
    if (!row) return NOT_FOUND;
    const drafted = await draftAgain(home, row);
    if ("ok" in drafted) return drafted;
    return { ok: true, allow: await hashOf(drafted), card: drafted.card, second_tap: drafted.second_tap };
  },
  async change({ home }, id, { status, allow: hash, second_tap: again, name, say }, viewer) {
    let row = found(home, id, viewer);
    if (!row) return NOT_FOUND;
    if (name !== undefined || say !== undefined) {
      if (!mayEnd(viewer, row)) return forbidden;
      const next = await renamed(home, row, name, say);
      if (!next) return refused(409, "changed", "it was changed meanwhile; read it again");
      row = next;
    }
    if (status === "paused" && row.status === "active") row = stopRule(home, row);
    if (status !== "active" || row.status === "active")
      return { ok: true, automation: viewOf(home, row, viewer) };
    if (!mayAllow(viewer)) return forbidden;
    const drafted = await draftAgain(home, row);
    if ("ok" in drafted) return drafted;
    if (hash !== (await hashOf(drafted)))
      return refused(409, "changed", "allow: expected that of the card as it is now; read it again");
    if (drafted.second_tap.length > 0 && !again)
      return refused(409, "second_tap", "second_tap: expected true, after a second yes to what it names");
    const by = { principal: viewer.name, how: "press" as const, question: null };
    const made = await allow(home, { ...drafted, input: row.input }, by, row.maker);
    return typeof made === "string"
      ? refused(422, "invalid_request", made)
      : { ok: true, automation: viewOf(home, made, viewer) };
  },
  async remove({ home }, id, viewer) {
    const row = found(home, id, viewer);
    if (!row || !mayEnd(viewer, row)) return false;
    stopRule(home, row, "gone");
    return true;
  },
  async undo({ home }, id, firing, viewer) {
    const row = found(home, id, viewer);
    if (!row) return NOT_FOUND;
    if (!mayEnd(viewer, row)) return forbidden;
    const by = personText(home, { principal: viewer.name });
    const done = await undo(home, row, firing, by);
    if (!done || "status" in done)
      return refused(409, "bridge_offline", "the bridge, which runs it, did not answer");
    return "error" in done ? refused(422, "invalid_request", done.error) : { ok: true, ...done };
  },
  async say({ home }, away, viewer) {
    sayPresence(home, viewer, away);
  },
};

function refused(status: AutomationRefused["status"], code: string, message: string): AutomationRefused {
  return { ok: false, status, code, message };
}
const NOT_FOUND = refused(404, "not_found", "no such rule");
const forbidden = refused(
  403,
  "forbidden",
  "an owner of the home may do that, with the scopes 'admin' and 'approve'",
);

/** Guests see none. */
function found(home: HomeContext, id: string, viewer: Viewer): AutomationRow | undefined {
  const row = automationsOf(home).get(id);
  return viewer.role === "guest" || row?.status === "gone" ? undefined : row;
}

function mayAllow({ role, scopes }: Viewer): boolean {
  return role === "owner" && scopes.includes("admin") && scopes.includes("approve");
}

async function draftAgain(
  home: HomeContext,
  { automation, input, maker }: AutomationRow,
): Promise<Draft | AutomationRefused> {
  const { id, version, name, say } = automation;
  const { say: _, ...asked } = inputOf(input);
  const next = { ...asked, name, ...(say !== undefined && { say }) };
  const drafted = await draftRule(home, next, { id, version: version + 1 }, maker.language);
  if (!drafted)
    return refused(409, "bridge_offline", "the bridge, which runs it, is not connected, or did not answer");
  return drafted.ok ? drafted.value : refused(422, "invalid_request", drafted.error);
}

/** Of all that would be signed. */
async function hashOf({ automation }: Draft): Promise<string> {
  return await canonicalHash({ domain: "edgecall automation card v1", automation });
}

/** Its name and its words are no part of what was allowed. @returns undefined: it was stopped or changed meanwhile */
async function renamed(
  home: HomeContext,
  row: AutomationRow,
  name: string | undefined,
  say: string | null | undefined,
): Promise<AutomationRow | undefined> {
  const { say: before, ...own } = row.automation;
  const words = say === undefined ? before : say;
  const automation = { ...own, name: name ?? own.name, ...(words && { say: words }) };
  const signed = await sign(home, automation, row.allowed);
  // Else a rule that a person has just stopped would run again.
  if (automationsOf(home).get(own.id) !== row) return undefined;
  const next: AutomationRow = { ...row, automation, signed };
  next.unsent = next.status === "active" && !sendRules(home, [next], []);
  automationsOf(home).put(next);
  return next;
}

function viewOf(
  home: HomeContext,
  row: AutomationRow,
  viewer: Viewer,
  now?: AutomationStatus,
): AutomationView {
  const { automation, status, why, card, maker, allowed, madeAt } = row;
  const { id, name, version, say = null, when, do: steps } = automation;
  // A member does not learn where others talk.
  const isTheirs = seesAll(viewer) || maker.principal === viewer.name;
  const [, channel = "", ...conversation] = ((isTheirs && maker.conversation) || "").split("/");
  const ids = (of: ReadonlyArray<Parameters<typeof idOf>[1]>) => [
    ...new Set(of.flatMap((one) => idOf(home, one) ?? [])),
  ];
  return {
    ...{ id, name, version, status: status === "active" ? "active" : "paused", say, card },
    why,
    ...{
      reads: ids(when),
      changes: ids(steps),
      by: maker.principal,
      channel,
      conversation: conversation.join("/"),
    },
    ...{ made_at: madeAt, allowed_by: allowed.by, allowed_at: allowed.at, until: allowed.until },
    permissions: rowsOf(home, automation).map((one) => one.id),
    now: now ? { ...now, runs: now.runs.map((run) => withWords(run, phrasesOf(maker.language))) } : null,
  };
}

/** The bridge names reasons, also of ends that were meant. */
function withWords({ why, ...run }: AutomationRun, phrases: Phrases): AutomationRun {
  const isAsked = run.state === "stopped" || run.state === "not_run";
  return { ...run, ...(why !== undefined && isAsked && { why: whyText(why, phrases) }) };
}

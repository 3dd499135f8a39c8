/**
 * Calls that name no agent: `any`, or a group of agents that do the same work. The choice stands in the call's row before the
 * call is sent. A call goes to another agent only when the one before has certainly not run it.
 */

import type { Caller } from "@edgecall/core/protocol/mqtt.ts";
import type { Advised } from "@edgecall/core/tools/advice.ts";
import type { ErrorType } from "@edgecall/core/tools/errors.ts";
import { ANY, type CallTarget, type EdgeCallArgs, FIND_AGENTS, toAgentCommand } from "../../api/edge-call.ts";
import { LISTED_MAX, type RosterAgent } from "../../api/roster.ts";
import type { Limits } from "../../api/turns.ts";
import { logError, logInfo } from "../../log.ts";
import { readSettings } from "../../settings/settings.ts";
import { rosterOf } from "../agents/home-roster.ts";
import { hostedDevicesOf } from "../agents/hosted-devices.ts";
import { servedAgentsOf } from "../agents/served-agents.ts";
import type { HomeContext } from "../context.ts";
import { JOB, type LedgerCall, ledgerOf, OPEN_MAX } from "../ledger/ledger.ts";
import { loadOf } from "./agent-load.ts";
import { sendElsewhere, type Unreachable } from "./dispatch.ts";
import { lifeSignsOf, probe } from "./life-signs.ts";
import { isOpen } from "./taint-reason.ts";

/** Agents that get a call one after the other. */
const AGENTS_A_CALL = 3;
/** Asked at once whether they are there, and how often others are asked when none of them is. */
const PROBED_AT_ONCE = 3;
const ROUNDS = 3;
/** Of agents that are asked in words: so many that fit the words best. */
const FOUND_MAX = 8;
/** With less time left, no other agent is tried. */
const LEFT_MIN_MS = 6_000;
/** Below this, one agent is not slower than another. */
const QUICK_MS = 50;

/** The call that an agent is chosen for. `tried`: agents that certainly have not run it. */
export type Wanted = {
  args: EdgeCallArgs;
  caller: Caller;
  limits: Limits;
  tainted: boolean;
  /** Only agents that are open. */
  openOnly?: boolean;
  tried: readonly string[];
};
export type Choice = { ok: true; target: CallTarget; why: string } | Unreachable;

/** `timeMs`: how long it takes for such calls; undefined: not known. `given`: calls that it was given lately. */
export type Candidate = {
  id: string;
  foreign: boolean;
  isSilent: boolean;
  open: number;
  timeMs: number | undefined;
  given: number;
};

/** True if this names no agent: a group, or any. No agent has such a name. */
export function isRouted(home: HomeContext, id: string): boolean {
  return id === ANY || servedAgentsOf(home).isGroup(id);
}

/**
 * Puts the best agent first: it answers, has the fewest open calls, is not much slower, and was given the fewest lately. One
 * of another make cannot be asked whether it is there, so it comes last.
 */
export function inOrder(candidates: readonly Candidate[]): Candidate[] {
  const times = candidates.flatMap(({ timeMs }) => timeMs ?? []);
  const quickest = Math.max(QUICK_MS, Math.min(...times));
  // Four times as slow is slower: a finer measure would give everything to the quickest.
  const slowness = ({ timeMs = 0 }: Candidate) => Math.floor(Math.log2(Math.max(1, timeMs / quickest)) / 2);
  return candidates.toSorted(
    (a, b) =>
      Number(a.foreign) - Number(b.foreign) ||
      Number(a.isSilent) - Number(b.isSilent) ||
      a.open - b.open ||
      slowness(a) - slowness(b) ||
      a.given - b.given ||
      (a.id < b.id ? -1 : 1),
  );
}

/**
 * Chooses an agent for a call.
 * @param accept gets the choice, and writes it into the call's row before it awaits anything: else two calls take the same place
 */
export async function choose<T>(
  home: HomeContext,
  wanted: Wanted,
  accept: (choice: Choice) => Promise<T>,
): Promise<T> {
  const found = await candidatesOf(home, wanted);
  if (!Array.isArray(found)) return await accept(found);
  const asked = new Set<string>();
  for (let round = 0; round <= ROUNDS; round += 1) {
    const now = Date.now();
    const mayAsk = round < ROUNDS;
    const counts = (one: Candidate) => isThere(home, one, now) || (mayAsk && !asked.has(one.id));
    const first = firstFitting(home, wanted, found, now, counts);
    const [best] = first;
    if (!best) break;
    if (isThere(home, best.candidate, now))
      return await accept(chosen(home, wanted, best, found.length, now));
    const unsure = first.filter(({ candidate }) => !isThere(home, candidate, now));
    const ids = unsure.map(({ candidate }) => candidate.id);
    for (const id of ids) asked.add(id);
    await firstAnswer(home, ids);
  }
  return await accept(asked.size === 0 ? unfit(home, wanted, found) : silent([...asked]));
}

type Fitting = { candidate: Candidate; target: CallTarget };

/** One of another make cannot be asked. */
function isThere(home: HomeContext, { id, foreign }: Candidate, now: number): boolean {
  return foreign || lifeSignsOf(home).isAlive(id, now);
}

function chosen(
  home: HomeContext,
  { args }: Wanted,
  { candidate, target }: Fitting,
  of: number,
  now: number,
): Choice {
  loadOf(home).gave(target.id, now);
  const { open } = candidate;
  const calls = open === 0 ? "no open call" : `${open} open ${open === 1 ? "call" : "calls"}`;
  const can = asksInWords(args, target) ? "takes questions" : `has '${args.action}'`;
  return { ok: true, target, why: `chosen of ${of}: online, ${can}, ${calls}` };
}

/** Asks all of them at once whether they are there. Resolves when one has answered and none before it may answer any more. */
async function firstAnswer(home: HomeContext, ids: readonly string[]): Promise<void> {
  const asking = ids.map((id) =>
    probe(home, id).catch((error: unknown) => logError("probe.failed", error, { agent: id })),
  );
  for (const [at, id] of ids.entries()) {
    await asking[at];
    if (lifeSignsOf(home).isAlive(id, Date.now())) return;
  }
}

/** The agents that the words of the call fit, by what lists hold of them; or why there is none. */
async function candidatesOf(home: HomeContext, wanted: Wanted): Promise<RosterAgent[] | Unreachable> {
  const { args, caller, limits, tried } = wanted;
  const { agent_id: of, query, action } = args;
  if (query === undefined && action === undefined)
    return unreachable("invalid_params", `A call to '${of}' needs an 'action' or a 'query'.`);
  const now = Date.now();
  const among = limits.agents && new Set(limits.agents);
  // Each hosted device is a thing of its own: one lamp does not do another one's work.
  const served = servedAgentsOf(home);
  const ids = (of === ANY ? served.ids() : served.idsOfGroup(of)).filter(
    (id) => (among?.has(id) ?? true) && !hostedDevicesOf(home).get(id),
  );
  const able = served
    .rosterOf(ids, now)
    .filter((agent) => asksInWords(args, agent) || (action !== undefined && agent.actions.includes(action)));
  const can = query === undefined ? `has the action '${action}'` : "can be asked in words";
  if (able.length === 0)
    return unreachable(
      "not_found",
      `No agent ${of === ANY ? "in reach" : `of group '${of}'`} ${can}.`,
      `Find one with ${FIND_AGENTS} if you have it, or explain to the user.`,
    );
  const online = able.filter((agent) => agent.online);
  if (online.length === 0)
    return unreachable(
      "offline",
      `None of the ${able.length} agents that fit is online (${named(idsOf(able))}).`,
    );
  const fitting = of === ANY && query !== undefined ? await agentsFitting(home, query, online) : online;
  const before = new Set([...tried, ...(caller.chain?.via ?? [])]);
  const open = ledgerOf(home).openByAgent();
  const free = fitting.filter(({ id }) => !before.has(id) && (open.get(id)?.open ?? 0) < OPEN_MAX);
  if (free.length > 0) return free;
  return unreachable("execution_failed", `None of the ${online.length} agents that fit can take it now.`);
}

/** Those that the question fits. Of a few agents, all that can be asked fit when it fits none by its words. */
async function agentsFitting(
  home: HomeContext,
  text: string,
  online: readonly RosterAgent[],
): Promise<readonly RosterAgent[]> {
  const ids = new Set(idsOf(online));
  const found = await rosterOf(home).search({ text, among: (id) => ids.has(id), limit: FOUND_MAX });
  if (found.length === 0 && online.length <= LISTED_MAX) return online;
  const fits = new Set(idsOf(found));
  return online.filter(({ id }) => fits.has(id));
}

/** The first few, in order, that can take the call. Schemas are read of these alone. */
function firstFitting(
  home: HomeContext,
  wanted: Wanted,
  found: readonly RosterAgent[],
  now: number,
  counts: (candidate: Candidate) => boolean,
): Fitting[] {
  const open = ledgerOf(home).openByAgent();
  const { action = "prompt", query } = wanted.args;
  const candidates = found.map(({ id, foreign }) => ({
    id,
    foreign,
    isSilent: lifeSignsOf(home).isSilent(id, now),
    open: open.get(id)?.open ?? 0,
    timeMs: loadOf(home).timeOf(id, query === undefined ? action : "prompt", now),
    given: loadOf(home).given(id, now),
  }));
  const fitting: Fitting[] = [];
  for (const candidate of inOrder(candidates)) {
    if (fitting.length === PROBED_AT_ONCE) break;
    const target = counts(candidate) ? servedAgentsOf(home).target(candidate.id, now) : undefined;
    if (target && problemOf(home, wanted, target) === undefined) fitting.push({ candidate, target });
  }
  return fitting;
}

/** Returns the reason why the agent cannot take the call; undefined: it can. */
function problemOf(home: HomeContext, wanted: Wanted, target: CallTarget): Unreachable | undefined {
  const { args, limits, tainted } = wanted;
  if (!target.online || target.incompatibleWith !== undefined)
    return unreachable("execution_failed", "None of the agents that fit can take it now.");
  const command = toAgentCommand(args, target, readSettings(home.env));
  if (!command.ok) return { ok: false, errorType: "invalid_params", text: command.text };
  if (command.order.readOnly) return undefined;
  if (limits.readsOnly)
    return unreachable(
      "permission_denied",
      "Permission denied: in this chat only actions that read are allowed.",
    );
  if (wanted.openOnly && !isOpen(home, target.id))
    return unreachable(
      "permission_denied",
      "A person has to approve this first at the agents that are left.",
    );
  // The person approves what one certain agent does, and the gateway cannot promise that it will be this one.
  if (tainted && !target.asks)
    return unreachable(
      "permission_denied",
      "A person has to approve this first, and none of the agents that fit can ask.",
      "Name one agent: then the gateway asks.",
    );
  return undefined;
}

function silent(ids: readonly string[]): Unreachable {
  return unreachable(
    "offline",
    `None of the ${ids.length} agents that fit answers now (${named(ids)}).`,
    "Try again later or explain to the user.",
  );
}

/** None that was found can take it. */
function unfit(home: HomeContext, wanted: Wanted, found: readonly RosterAgent[]): Unreachable {
  const now = Date.now();
  for (const { id } of found) {
    const target = servedAgentsOf(home).target(id, now);
    const problem = target && problemOf(home, wanted, target);
    if (problem) return problem;
  }
  return unreachable("execution_failed", "None of the agents that fit can take it now.");
}

/** As `toAgentCommand` decides. */
function asksInWords({ query }: EdgeCallArgs, { hasModel }: RosterAgent): boolean {
  return query !== undefined && hasModel;
}

function unreachable(errorType: ErrorType, why: string, advice = "Explain this to the user."): Unreachable {
  const words: Advised = { text: `Error: ${why} Nothing was run.`, advice };
  return { ok: false, errorType, ...words };
}

function idsOf(agents: ReadonlyArray<{ id: string }>): string[] {
  return agents.map(({ id }) => id);
}

const NAMED_MAX = 8;
function named(ids: readonly string[]): string {
  return ids.length > NAMED_MAX ? `${ids.slice(0, NAMED_MAX).join(", ")}, …` : ids.join(", ");
}

/**
 * The proofs that an agent has certainly not run a call, each with the states in which it counts: the bridge refused it, Home itself
 * never sent it, the agent reports `not_run`. Nothing else does. A call that was sent a second time has no proof.
 */
const PROOFS = { refused: ["sent"], unsent: ["waiting"], not_run: ["sent", "taken"] } as const;
type Proof = keyof typeof PROOFS;

/**
 * Another agent gets the call, if this is a call for any, and there is one and time for it.
 * @param why what was the matter with the one before, for the model: "was not online"
 * @returns the call as it stands, to be settled by what is known of it; undefined: another agent has it, or it is over
 */
export async function tryNext(
  home: HomeContext,
  call: LedgerCall,
  proof: Proof,
  why: string,
): Promise<LedgerCall | undefined> {
  const { any, limits = {}, tainted = false, because = [] } = call.flags;
  if (!any || !mayGoOn(call, proof, Date.now())) return call;
  const tried = [...any.tried, call.agent];
  const args = argsOf(call, any.of);
  // It went to an open agent untainted. At another one the same texts would taint it.
  const openOnly = !tainted && because.length > 0;
  const wanted = { args, caller: call.caller, limits, tainted, openOnly, tried };
  const isMoved = await choose(home, wanted, async (choice) => {
    if (!choice.ok) return false;
    const agent = choice.target.id;
    const command = toAgentCommand(args, choice.target, readSettings(home.env));
    if (!command.ok) return false;
    const { order } = command;
    const reason = `${choice.why}; before it ${call.agent}, which ${why}`;
    const flags = { asks: tainted && !order.readOnly, any: { of: any.of, tried, why: reason } };
    logInfo("call.rerouted", { call: call.id, agent, before: call.agent, why });
    return await sendElsewhere(home, call, PROOFS[proof], { agent, order, flags });
  });
  if (isMoved) return undefined;
  // Much may have happened meanwhile.
  const now = ledgerOf(home).get(call.id);
  return now && !now.outcome && now.agent === call.agent ? now : undefined;
}

function mayGoOn({ command, flags, sends, state, endsAt }: LedgerCall, proof: Proof, now: number): boolean {
  const { any, delegates } = flags;
  if (!any || command === JOB || delegates !== undefined) return false;
  if (sends > 1 || !(PROOFS[proof] as readonly string[]).includes(state)) return false;
  return any.tried.length + 1 < AGENTS_A_CALL && endsAt - now > LEFT_MIN_MS;
}

/** The arguments of which the call was made. */
function argsOf({ command, payload }: LedgerCall, of: string): EdgeCallArgs {
  if (command === "prompt") return { agent_id: of, query: String(payload.prompt) };
  const params = payload.parameters as Record<string, unknown> | undefined;
  return { agent_id: of, action: String(payload.tool), ...(params && { params }) };
}

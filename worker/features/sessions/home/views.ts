/** The tools that read sessions and agents, and `session_status`, which may end a turn. api/may-see.ts decides who sees what. */

import { STRANGER } from "@edgecall/core/loop/taint.ts";
import { headOf } from "@edgecall/core/loop/tokens.ts";
import { oneLine } from "@edgecall/core/tools/one-line.ts";
import type { SessionToolInputs } from "@edgecall/core/tools/session-tools.ts";
import type { AgentView, PastTurn } from "../../../kernel/api/answers.ts";
import { LINE_MAX, NAMES_CHARS_MAX, namesWithin } from "../../../kernel/api/find-agents.ts";
import { type HomeToolRequest, SESSION_PREFIX } from "../../../kernel/api/home-tools.ts";
import { seesAll } from "../../../kernel/api/may-see.ts";
import { unreadSources } from "../../../kernel/api/roster.ts";
import { conversationOf } from "../../../kernel/api/stubs.ts";
import { noSession, refused, type ToolAnswer } from "../../../kernel/api/tool-answer.ts";
import type { SessionInfo } from "../../../kernel/api/turns.ts";
import { servedAgentsOf } from "../../../kernel/home/agents/served-agents.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { conversationListOf } from "../../../kernel/home/people/conversation-list.ts";
import { agentPage } from "../../../kernel/home/rpc/agent-page.ts";
import { sessionIn } from "../conversation-api.ts";
import { hasReaders, isSeen } from "./seen.ts";

const LISTED = 20;
const LISTED_MAX = 50;
const TURNS = 10;
/** Characters of all texts in one answer. */
const TEXTS_MAX = 12_000;
const MINUTE_MS = 60_000;

/** JSON of somebody's words. */
function foundAnswer(value: unknown): ToolAnswer {
  return { status: "success", text: JSON.stringify(value), sources: [STRANGER] };
}

export function list(
  home: HomeContext,
  request: HomeToolRequest,
  { limit = LISTED, active_minutes, q, all = false }: SessionToolInputs["sessions_list"],
): ToolAnswer {
  const { name } = home;
  const { viewer, from } = request;
  if (hasReaders(home, request))
    return refused("permission_denied", "Others read this conversation, so no sessions are listed in it.");
  if (all && !seesAll(viewer))
    return refused("permission_denied", "Only owners see everybody's sessions.", "Leave 'all' out.");
  const since = active_minutes === undefined ? 0 : Date.now() - active_minutes * MINUTE_MS;
  const found = conversationListOf(home)
    .of(viewer.name, { limit, all, words: q, seenBy: from.agent?.person })
    .filter(({ last_at }) => last_at >= since)
    .map(({ id, title, last_at, principal }) => ({
      session: id,
      title,
      last_at: new Date(last_at).toISOString(),
      ...(principal !== undefined && { began_by: principal }),
      ...(id.startsWith(SESSION_PREFIX) && { spawned: true }),
      ...(`${name}/api/${id}` === from.conversation && { this: true }),
    }));
  return foundAnswer({ sessions: found });
}

export async function history(
  home: HomeContext,
  request: HomeToolRequest,
  { session, limit = TURNS, before, tools = false }: SessionToolInputs["sessions_history"],
): Promise<ToolAnswer> {
  const name = nameOf(home, session);
  const info = await sessionIn(home.env, name).info();
  if (!info || !isSeen(home, request, session, info)) return noSession(session);
  const page = await conversationOf(home.env, name).history({
    before: before ?? Number.MAX_SAFE_INTEGER,
    limit,
  });
  const each = Math.floor(TEXTS_MAX / Math.max(1, page.turns.length));
  return foundAnswer({
    session,
    turns: page.turns.map((turn) => shownTurn(turn, each, tools)),
    ...(page.before !== null && { before: page.before }),
  });
}

/** @param max characters of its texts */
function shownTurn({ text, answer, status, created_at, calls }: PastTurn, max: number, tools: boolean) {
  const shown = tools ? calls.map(({ name, agent, status: of }) => ({ name, agent, status: of })) : [];
  const room = Math.max(0, max - JSON.stringify(shown).length);
  const asked = cutTo(text, Math.max(room / 2, room - (answer?.length ?? 0)));
  return {
    at: new Date(created_at).toISOString(),
    status,
    ...(text !== "" && { asked }),
    ...(answer !== null && { answer: cutTo(answer, room - asked.length) }),
    ...(shown.length > 0 && { calls: shown }),
  };
}

function cutTo(text: string, max: number): string {
  return text.length <= max ? text : `${headOf(text, Math.floor(max))}… [${text.length} characters]`;
}

export async function status(
  home: HomeContext,
  request: HomeToolRequest,
  { session, cancel = false }: SessionToolInputs["session_status"],
): Promise<ToolAnswer> {
  const { from } = request;
  const own = from.agent ? undefined : (from.conversation ?? undefined);
  const name = session === undefined ? own : nameOf(home, session);
  if (name === undefined) return refused("invalid_params", "'session' is missing.", "Name a session.");
  const info = await sessionIn(home.env, name).info();
  // A turn sees its own conversation, also where somebody else began it.
  if (!info || (name !== own && !isSeen(home, request, idOf(name), info))) return noSession(idOf(name));
  if (!cancel) return { status: "success", text: JSON.stringify(shownInfo(idOf(name), info)), sources: [] };
  if (name === own) return refused("invalid_params", "A session cannot end its own turn.", "Answer instead.");
  if (!isSeen(home, request, idOf(name), info, true))
    return refused("permission_denied", "Only a session that is the user's own can be cancelled.");
  if (info.turn === undefined) return refused("execution_failed", "No turn of that session runs.");
  const ended = await conversationOf(home.env, name).cancel(info.turn);
  const text = `The turn of session ${idOf(name)} has ended: ${ended?.status ?? "it is gone"}.`;
  return { status: "success", text, session: idOf(name), sources: [] };
}

function shownInfo(
  id: string,
  { status: state, turns, tokens, session, parent, tokensLeft, lastAt, waitsFor }: SessionInfo,
) {
  return {
    session: id,
    status: state,
    ...(waitsFor !== undefined && { waits_for: waitsFor }),
    turns,
    tokens,
    ...(tokensLeft !== undefined && { tokens_left: tokensLeft }),
    last_at: new Date(lastAt).toISOString(),
    ...(session && { depth: session.depth }),
    ...(parent !== undefined && { parent: parent && idOf(parent) }),
  };
}

export async function agentsList(
  home: HomeContext,
  { origin }: HomeToolRequest,
  { query, group, limit = LISTED, after }: SessionToolInputs["agents_list"],
): Promise<ToolAnswer> {
  const reach = origin.limits?.agents;
  const isInReach = (id: string) => reach?.includes(id) ?? true;
  const ids = group === undefined ? reach : servedAgentsOf(home).idsOfGroup(group).filter(isInReach);
  const most = Math.min(limit, LISTED_MAX);
  const page = await agentPage(home, { limit: most, after, words: query, ids });
  if (!page) return refused("invalid_params", "'after' is no agent that fits.", "Begin without it.");
  return {
    status: "success",
    text: JSON.stringify({
      agents: page.agents.map(shownAgent),
      of: page.total,
      ...(page.next !== null && { after: page.next }),
    }),
    // As in a roster, only words that no owner has accepted are a stranger's.
    sources: unreadSources(
      servedAgentsOf(home).rosterOf(
        page.agents.map(({ id }) => id),
        Date.now(),
      ),
    ),
  };
}

function shownAgent({ id, status: state, group, capabilities, actions }: AgentView) {
  return {
    agent_id: id,
    status: state,
    ...(group !== undefined && { group }),
    capabilities: oneLine(capabilities, LINE_MAX),
    actions: namesWithin(actions, NAMES_CHARS_MAX),
  };
}

function nameOf({ name }: HomeContext, session: string): string {
  return `${name}/api/${session}`;
}

function idOf(name: string): string {
  return name.split("/").slice(2).join("/");
}

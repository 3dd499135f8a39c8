/** What the commands of a chat answer. */

import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import type { AgentPage } from "../../../kernel/api/agent-list.ts";
import type { HomeStatus } from "../../../kernel/api/answers.ts";
import { oneLine } from "../../../kernel/api/roster.ts";
import type { Turn } from "../../../kernel/conversation/store/rows.ts";

export function helpText(phrases: Phrases): string {
  return [
    phrases.say("helpAsk"),
    `/stop – ${phrases.say("helpStop")}`,
    `/status – ${phrases.say("helpStatus")}`,
    `/agents – ${phrases.say("helpAgents")}`,
    `/rules – ${phrases.say("helpRules")}`,
    `/ack – ${phrases.say("helpAck")}`,
    `/new – ${phrases.say("helpNew")}`,
    `/answer – ${phrases.say("helpAnswer")}`,
    `/approve CODE – ${phrases.say("helpApprove")}`,
  ].join("\n");
}

/** The number of agents that a chat shows at once. */
export const AGENTS_SHOWN = 30;

export function statusText(
  running: readonly Turn[],
  { bridge, agents }: HomeStatus,
  phrases: Phrases,
): string {
  const [oldest] = running;
  const now = Date.now();
  const turns =
    oldest === undefined
      ? phrases.say("nothingRuns")
      : phrases.say("runsHere", { count: running.length, span: phrases.span(now - oldest.createdAt) });
  const online = { count: agents.online, total: String(agents.known) };
  const home = bridge.online
    ? phrases.sentences(phrases.say("homeConnected"), phrases.say("devicesOnline", online))
    : phrases.say("homeNotConnected", { since: lastSeenText(bridge.last_seen, now, phrases) });
  return `${turns}\n${home}`;
}

function lastSeenText(at: number | null, now: number, phrases: Phrases): string {
  return at === null ? phrases.say("neverSeen") : phrases.say("lastSeen", { span: phrases.span(now - at) });
}

/** @param page the first one, of those in reach */
export function agentsText(page: AgentPage | undefined, phrases: Phrases): string {
  if (!page || page.total === 0) return phrases.say("noDevices");
  const now = Date.now();
  const lines = page.agents.map(({ id, online, last_seen, capabilities }) => {
    const state = online
      ? phrases.value("online")
      : phrases.parts(phrases.value("offline"), lastSeenText(last_seen, now, phrases));
    return `${online ? "●" : "○"} ${id} (${state}): ${oneLine(capabilities, 100)}`;
  });
  const left = page.total - page.agents.length;
  const more = left > 0 ? [phrases.say("andMore", { count: left })] : [];
  return [...lines, ...more].join("\n");
}

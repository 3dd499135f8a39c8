/** While the bridge is gone nothing can be watched: that is said once to each conversation that watches, and so is its return. */
import { timeWords } from "@edgecall/core/rules/time-words.ts";
import { isInside, nextEdge } from "@edgecall/core/rules/window.ts";
import { readSettings } from "../../settings/settings.ts";
import type { HomeContext, HomeStores } from "../context.ts";
import type { RuleRow, WatchRow } from "./rule-store.ts";
import { tell } from "./telling.ts";

/** Longer than a restart or an update. */
const TOLD_AFTER_MS = 5 * 60_000;

/** When it has to be said, epoch ms. A Home that was rebuilt says it again, and the conversation recognises it. */
export function nextGone(home: HomeStores): number | undefined {
  const goneAt = home.bridge.goneAt();
  if (goneAt === undefined || goneAt === home.rules.toldGone || watching(home).length === 0) return undefined;
  return afterQuiet(home, goneAt + TOLD_AFTER_MS);
}

export function tellGone(home: HomeContext, now: number): void {
  const due = nextGone(home);
  const goneAt = home.bridge.goneAt();
  if (due === undefined || goneAt === undefined || due > now) return;
  home.rules.toldGone = goneAt;
  const { zone } = readSettings(home.env).clock;
  const since = timeWords(goneAt, zone, now);
  for (const [conversation, rows] of byConversation(home)) {
    const count = rows.length === 1 ? "one watch" : `${rows.length} watches`;
    const text = `⚠ The home's bridge is offline since ${since}; ${count} cannot be checked meanwhile.`;
    say(home, conversation, `gone:${goneAt}`, text, now);
  }
}

/** @param goneAt of before; undefined: it was not gone */
export function tellBack(home: HomeContext, goneAt: number | undefined, now: number): void {
  if (goneAt === undefined || afterQuiet(home, goneAt + TOLD_AFTER_MS) > now) return;
  for (const [conversation] of byConversation(home))
    say(home, conversation, `back:${goneAt}`, "✓ The home's bridge is online again.", now);
}

function say(home: HomeContext, conversation: string, id: string, text: string, now: number): void {
  tell(home, conversation, {
    id: `${id}:${conversation}`,
    text,
    rules: [],
    buttons: [],
    critical: false,
    at: now,
  });
}

function afterQuiet({ env }: HomeStores, time: number): number {
  const { quiet } = readSettings(env).clock;
  return quiet && isInside(quiet, time) ? nextEdge(quiet, time) : time;
}

/** A conversation with a watch of the bridge itself hears of it by that one. */
function byConversation(home: HomeStores): Map<string, WatchRow[]> {
  const all = Map.groupBy(watching(home), ({ maker }) => maker.conversation);
  return new Map([...all].filter(([, rows]) => rows.every(({ rule }) => rule.source.of !== "bridge")));
}

function watching({ rules }: HomeStores): WatchRow[] {
  return rules
    .all()
    .filter((row: RuleRow): row is WatchRow => row.kind === "watch" && row.status === "active");
}

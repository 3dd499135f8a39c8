/** The tool `rules`, where it means a rule that acts, or a person's word about being at home. */
import { whyText } from "@edgecall/core/automations/news-text.ts";
import { NEWS_WORDS } from "@edgecall/core/automations/words/news-words.ts";
import { STRANGER } from "@edgecall/core/loop/taint.ts";
import { plainText } from "@edgecall/core/rules/plain-text.ts";
import { findRule } from "@edgecall/core/rules/rule-names.ts";
import type { HomeToolRequest } from "../../../kernel/api/home-tools.ts";
import type { Asker, SpokenRule } from "../../../kernel/api/roster.ts";
import { invalid, refused, type ToolAnswer, type ToolReply } from "../../../kernel/api/tool-answer.ts";
import { clockOf } from "../../../kernel/home/clock.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { spokenRules } from "../../../kernel/home/feature.ts";
import { personText } from "../../../kernel/home/people/person-name.ts";
import { phrasesOf, readLanguage } from "../../../kernel/phrases.ts";
import { AUTOMATE } from "../model-tools.ts";
import { statusOf } from "./ask-bridge.ts";
import { type AutomationRow, automationsOf } from "./automation-store.ts";
import { idOf } from "./faithful.ts";
import { automate, mayAsk, resumeByTool } from "./make.ts";
import { stopRule } from "./pause.ts";
import { sendPresence } from "./sync.ts";

const SHOWN_RUNS = 10;
/** Of a run's state, in any language; its reason says the rest. */
const MARKS = { running: "…", done: "✓", stopped: "⚠", not_run: "⚠", undone: "↩" } as const;

/** @returns undefined: the call means nothing of these */
export function runTool(home: HomeContext, request: HomeToolRequest): Promise<ToolReply> | undefined {
  if (request.name === AUTOMATE) return automate(home, request);
  if (request.name !== "rules") return undefined;
  const { do: what } = request.args;
  if (what === "away" || what === "back") return sayByTool(home, request, what === "away");
  const row = what === "list" ? undefined : meant(home, request);
  return row && change(home, request, row);
}

/** The rule of this id, or of this name where no other rule has it. */
function meant(
  home: HomeContext,
  { args: { id, name }, viewer, from }: HomeToolRequest,
): AutomationRow | undefined {
  const given = typeof id === "string" ? { id } : { name: String(name) };
  const found = findRule(spokenRules(home, { viewer, conversation: from.conversation ?? "" }), given);
  return found.ok ? automationsOf(home).get(found.value.id) : undefined;
}

async function change(home: HomeContext, request: HomeToolRequest, row: AutomationRow): Promise<ToolReply> {
  const { id, name } = row.automation;
  const phrases = await readLanguage(home.env, request.language ?? "en");
  const named = { name: `${id} (${plainText(name, 60)})` };
  switch (request.args.do) {
    case "history":
      return told(await historyText(home, row, request));
    case "resume":
      if (!mayAsk(request)) return refused("permission_denied", "A person of the home resumes it.");
      return row.status === "active"
        ? told(phrases.say("ruleResumed", named))
        : await resumeByTool(home, request, row);
    case "pause":
      if (row.status === "active") stopRule(home, row);
      return told(phrases.say("rulePaused", named));
    case "cancel":
      if (!mayEnd(request.viewer, row))
        return refused("permission_denied", "An owner, or its maker, cancels it.");
      if (request.sources.includes(STRANGER))
        return refused("permission_denied", "Others' words may ask for it. It can be paused.");
      stopRule(home, row, "gone");
      return told(phrases.say("ruleCancelled", named));
    default:
      return invalid("do: expected list, pause, resume, cancel or history");
  }
}

export function mayEnd({ role, name }: HomeToolRequest["viewer"], { maker }: AutomationRow): boolean {
  return role === "owner" || name === maker.principal;
}

function told(text: string): ToolAnswer {
  return { status: "success", text, sources: [] };
}

async function historyText(
  home: HomeContext,
  { automation: { id } }: AutomationRow,
  { language = "en" }: HomeToolRequest,
) {
  const answer = await statusOf(home, [id], language);
  const runs = answer?.status.find(({ rule }) => rule === id)?.runs;
  const phrases = phrasesOf(language);
  if (!runs) return "The home's bridge, which keeps its runs, did not answer.";
  if (runs.length === 0) return phrases.say("neverFired", { id });
  const { zone } = clockOf(home).read();
  const lines = runs
    .slice(-SHOWN_RUNS)
    .toReversed()
    .map(({ at, state, because, why }) => {
      const words = plainText([...because, why ? whyText(why, phrases) : []].flat().join("; "), 300);
      return `${phrases.time(at, zone, Date.now())}: ${MARKS[state]}${words && ` (${words})`}`;
    });
  return [phrases.say("newestFirst", { id }), ...lines].join("\n");
}

/** Owners and members may pause any; guests see none. */
export function spoken(home: HomeContext, { viewer }: Asker): SpokenRule[] {
  if (viewer.role === "guest") return [];
  return automationsOf(home)
    .all()
    .map(({ automation, status }) => {
      const [first] = automation.do;
      const agent = first && idOf(home, first);
      const { id, name } = automation;
      return {
        id,
        name,
        of: "automation",
        isPaused: status !== "active",
        ...(agent !== undefined && { agent }),
      };
    });
}

/** For the list of all rules: what each does, in the words of its card. */
export async function listed(home: HomeContext, { viewer, language }: HomeToolRequest): Promise<string[]> {
  if (viewer.role === "guest") return [];
  const phrases = phrasesOf(language);
  const rows = automationsOf(home).all();
  const ids = rows.map(({ automation }) => automation.id);
  const said = ids.length > 0 ? await statusOf(home, ids, language) : undefined;
  return rows.map(({ automation: { id, name }, status, why, card }) => {
    const is = said?.status.find(({ rule }) => rule === id);
    const state =
      status !== "active"
        ? phrases.parts(phrases.say("statePaused"), why ?? "")
        : // With a time its values are false already: it has not to be over any more.
          is && !is.over_at && phrases.sayOf(NEWS_WORDS, `is_${is.state}`);
    const named = `${id}: “${plainText(name, 60)}”${state ? ` (${state})` : ""}`;
    return [named, ...card.slice(1, 4), ...(is?.now ?? [])].join("\n  ");
  });
}

async function sayByTool(home: HomeContext, request: HomeToolRequest, away: boolean): Promise<ToolReply> {
  // A program may ask for it, or a stranger's words.
  if (!mayAsk(request) || request.sources.includes(STRANGER))
    return refused(
      "permission_denied",
      "A person of the home says this, with /away or /back in a new conversation, or in the console.",
    );
  const phrases = await readLanguage(home.env, request.language ?? "en");
  sayPresence(home, request.viewer, away);
  return told(phrases.sayOf(NEWS_WORDS, away ? "saidAway" : "saidBack"));
}

/** A person says that they are away, or back. */
export function sayPresence(
  home: HomeContext,
  { name: person, displayName }: HomeToolRequest["viewer"],
  away: boolean,
): void {
  const name = plainText(personText(home, { principal: person, displayName }), 60);
  automationsOf(home).say({ person, name, away, at: Date.now() });
  sendPresence(home);
  home.ctx.waitUntil(home.alarm.arm());
}

/** The tool `automate`: a rule is drafted, an owner allows it on a card, and the call is made again then. */

import { AUTOMATE_TOOL, type AutomateInput } from "@edgecall/core/automations/tool.ts";
import { NEWS_WORDS } from "@edgecall/core/automations/words/news-words.ts";
import { STRANGER } from "@edgecall/core/loop/taint.ts";
import { approvalHash, canonicalJson } from "@edgecall/core/protocol/approval.ts";
import { AUTOMATIONS_FEATURE, AUTOMATIONS_MAX, type Automation } from "@edgecall/core/protocol/automation.ts";
import { plainText, spaced } from "@edgecall/core/rules/plain-text.ts";
import { RULE_NAME_MAX } from "@edgecall/core/rules/watch-rule.ts";
import { errorText } from "@edgecall/core/tools/errors.ts";
import { GATEWAY_AGENT } from "../../../kernel/api/audit.ts";
import { checkArguments } from "../../../kernel/api/check-arguments.ts";
import { EDGE_CALL } from "../../../kernel/api/edge-call.ts";
import type { HomeToolRequest } from "../../../kernel/api/home-tools.ts";
import { HOW } from "../../../kernel/api/passkeys.ts";
import { AFTER_EXPIRY_MS, EXPIRED, type Question } from "../../../kernel/api/questions.ts";
import { invalid, refused, type ToolAnswer, type ToolReply } from "../../../kernel/api/tool-answer.ts";
import { bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { questionsOf } from "../../../kernel/home/ledger/questions.ts";
import { rightsOf } from "../../../kernel/home/notices/rights.ts";
import { askForOwnCall, OTHERS_WORDS } from "../../../kernel/home/questions/deliver-question.ts";
import { refusalText, refuserText } from "../../../kernel/home/questions/denials.ts";
import { describeApproval } from "../../../kernel/home/questions/describe-approval.ts";
import { readLanguage } from "../../../kernel/phrases.ts";
import { readSettings } from "../../../kernel/settings/settings.ts";
import { AUTOMATE } from "../model-tools.ts";
import { allow, type Draft } from "./allow.ts";
import { type AutomationMaker, type AutomationRow, automationsOf } from "./automation-store.ts";
import { draftRule, inputOf } from "./draft.ts";

/** In a large home the model was shown no schema. */
const SHAPE =
  'As in {"name":"…","when":[{"agent_id":"…","reading":"…","is":"equal","value":"open","for_minutes":5}],"do":[{"agent_id":"…","action":"set","parameters":{}}],"over":"leave"}';

/** Only a person of the home, in a conversation of their own, asks for a rule that acts. */
export async function automate(home: HomeContext, request: HomeToolRequest): Promise<ToolReply> {
  if (!readSettings(home.env).tools.rules || !mayAsk(request))
    return refused("not_found", errorText.unknownTool(AUTOMATE, [EDGE_CALL]));
  const checked = checkArguments(AUTOMATE_TOOL, request);
  if (!checked.ok) return { ...checked.outcome, text: `${checked.outcome.text}\n${SHAPE}` };
  // SAFETY: they were parsed with the schema of this tool.
  const input = checked.input as AutomateInput;
  const known = automationsOf(home)
    .all()
    .find(({ maker }) => maker.call === request.id);
  if (known) return await made(home, known, request);
  const all = automationsOf(home).all();
  const same = all.find(({ automation }) => isNamed(automation, input.name));
  if (!same && all.length >= AUTOMATIONS_MAX)
    return invalid(`this home has ${AUTOMATIONS_MAX} rules that act; cancel some first`);
  const id = same?.automation.id ?? `a-${request.id.replaceAll("-", "").slice(0, 12)}`;
  return await allowedRule(home, request, input, { id, version: (same?.automation.version ?? 0) + 1 });
}

export function mayAsk({ viewer, from, origin: { limits, channel } }: HomeToolRequest): boolean {
  // A session that a model began is not offered the tool either.
  const isPersons = from.conversation !== null && from.depth === 0 && from.agent === undefined;
  const isWhole = !limits?.agents && !limits?.readsOnly;
  return isPersons && isWhole && viewer.role !== "guest" && channel !== "mcp" && channel !== "openai";
}

function isNamed({ name }: Automation, other: string): boolean {
  return name.trim().toLowerCase() === other.trim().toLowerCase();
}

/** Asks the owners for exactly this rule, and makes it once they said yes. */
async function allowedRule(
  home: HomeContext,
  request: HomeToolRequest,
  input: AutomateInput,
  rule: Pick<Automation, "id" | "version">,
): Promise<ToolReply> {
  const [card, tap] = questionsOf(home).decisionsOf(request.id);
  const language = request.language ?? "en";
  const [open] = questionsOf(home).openOf(request.id);
  if (open) return { waitsUntil: open.expiresAt + AFTER_EXPIRY_MS, question: open.id };
  if (!card) {
    if (!bridgeOf(home).has(AUTOMATIONS_FEATURE, Date.now()))
      return refused(
        "offline",
        "The home's bridge, which runs such rules, is not connected, or is older than 0.5.",
      );
    const drafted = await draftRule(home, input, rule, language);
    if (!drafted) return refused("offline", "The home's bridge did not answer in time.");
    if (!drafted.ok) return invalid(drafted.error);
    const equal = equalRule(home, drafted.value.automation);
    if (equal) return await made(home, equal, request);
    return await ask(home, request, drafted.value, drafted.value.card);
  }
  const no = notAllowed(home, request, [card, tap]);
  if (no) return no;
  // SAFETY: `ask` wrote it.
  const draft = card.approval?.parameters as Draft;
  if (draft.second_tap.length > 0 && !tap) return await ask(home, request, draft, draft.second_tap, true);
  const last = tap ?? card;
  const by = { principal: last.answeredBy ?? "", how: howOf(last), question: last.id };
  const row = await allow(home, { ...draft, input: JSON.stringify(input) }, by, makerOf(request));
  return typeof row === "string" ? denied(row) : await made(home, row, request);
}

/** @param lines what the card says, the first one as its question @param isTap it is the second one, of what does harm */
async function ask(
  home: HomeContext,
  request: HomeToolRequest,
  draft: Draft,
  lines: readonly string[],
  isTap = false,
): Promise<ToolReply> {
  const { id, sources, origin, language, from } = request;
  const phrases = await readLanguage(home.env, language ?? "en");
  const tainted = sources.includes(STRANGER);
  const { principal, role, channel } = origin;
  const caller = { principal, role, channel };
  const parameters = { ...draft };
  const hash = await approvalHash(GATEWAY_AGENT, isTap ? `${AUTOMATE}!` : AUTOMATE, parameters);
  const reason = tainted ? OTHERS_WORDS : "it acts by itself";
  const approval = {
    tool: AUTOMATE,
    parameters,
    reason,
    hash,
    ...(tainted && { tainted }),
    forOwners: caller,
  };
  const { card } = describeApproval(home, { agent: GATEWAY_AGENT, approval }, { caller, language });
  const { partial: _, ...shown } = card;
  const name = spaced(plainText(draft.automation.name, RULE_NAME_MAX));
  const [text = "", ...rest] = isTap ? [name, ...lines] : lines;
  return await askForOwnCall(home, {
    call: id,
    conversation: from.conversation ?? "",
    text,
    approval: {
      ...approval,
      card: {
        ...shown,
        verb: phrases.sayOf(NEWS_WORDS, "verbAllow"),
        lines: rest,
        ...(isTap && { danger: true as const }),
      },
    },
  });
}

/** Whoever decided has to be an owner who may approve, also where the settings let others approve calls. */
function notAllowed(
  home: HomeContext,
  { viewer }: HomeToolRequest,
  decided: ReadonlyArray<Question | undefined>,
): ToolAnswer | undefined {
  const other = decided.find((one) => one && one.answer !== "approve");
  if (other?.answer === EXPIRED) return denied("no owner approved it in time");
  if (other) return denied(refusalText(refuserText(home, other, viewer.name)));
  const isOwners = decided.every((one) => !one || rightsOf(home, one.answeredBy ?? "")?.role === "owner");
  return isOwners ? undefined : denied("an owner of the home has to allow it");
}

function howOf({ answeredHow }: Question): "press" | "tap" | "verified" {
  if (answeredHow === HOW.passkey) return "verified";
  return answeredHow?.startsWith("tap") ? "tap" : "press";
}

/** One that does the same, whatever it is called. Other words for a rule of this name are no reason to have two, but to ask. */
function equalRule(home: HomeContext, wanted: Automation): AutomationRow | undefined {
  const what = whatOf(wanted);
  return automationsOf(home)
    .active()
    .find(
      ({ automation }) =>
        whatOf(automation) === what && (automation.id !== wanted.id || automation.say === wanted.say),
    );
}

/** All but its id, its name, its words and their language. Conditions have ids of their own. */
function whatOf({ id: _, version: _v, name: _n, say: _s, language: _l, when, ...rest }: Automation): string {
  const conditions = when.map(({ condition: { id: _i, version: _c, ...condition }, ...of }) => ({
    ...of,
    condition,
  }));
  return canonicalJson({ ...rest, when: conditions });
}

async function made(
  home: HomeContext,
  { automation: { id, name } }: AutomationRow,
  { language = "en" }: HomeToolRequest,
): Promise<ToolAnswer> {
  const phrases = await readLanguage(home.env, language);
  const text = phrases.sayOf(NEWS_WORDS, "ruleActs", { name: plainText(name, RULE_NAME_MAX), id });
  return {
    status: "success",
    text: `${id}: ${text}`,
    advice: "The person sees this text.",
    sources: [],
    shown: { text, undo: id },
  };
}

function makerOf({ id, origin, from, language = "en" }: HomeToolRequest): AutomationMaker {
  const { principal, role, channel, reply } = origin;
  return {
    ...{ principal, role, channel, language },
    conversation: from.conversation,
    call: id,
    // SAFETY: only chats set it, from an Address.
    ...(reply && { reply: reply as NonNullable<AutomationMaker["reply"]> }),
  };
}

function denied(why: string): ToolAnswer {
  return refused("permission_denied", {
    text: `Error: No rule was made: ${why}.`,
    advice: "Explain this to the user; do not try it another way.",
  });
}

/** A person resumes a rule: it is drafted and allowed anew, as another version. */
export async function resumeByTool(
  home: HomeContext,
  request: HomeToolRequest,
  { automation: { id, version, name, say }, maker, input }: AutomationRow,
): Promise<ToolReply> {
  if (maker.call === request.id)
    return await made(home, automationsOf(home).get(id) as AutomationRow, request);
  const { say: _, ...asked } = inputOf(input);
  const now = { ...asked, name, ...(say !== undefined && { say }) };
  return await allowedRule(home, request, now, { id, version: version + 1 });
}

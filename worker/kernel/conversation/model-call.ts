/**
 * The step of a turn that asks the model: which one, within which budget, with how much of the history, and
 * what becomes of its reply or its failure.
 */
import { keepsTools } from "@edgecall/core/loop/api.ts";
import { askFitting } from "@edgecall/core/loop/ask-fitting.ts";
import { type BudgetVerdict, checkBudget } from "@edgecall/core/loop/budget.ts";
import { agentOfCall, type Entry } from "@edgecall/core/loop/history.ts";
import { pictureIds, toMessages } from "@edgecall/core/loop/messages.ts";
import { callModel } from "@edgecall/core/loop/model.ts";
import { traceModelCall } from "@edgecall/core/loop/model-span.ts";
import { FAILURES_TO_COOL, isModelFailure, type NamedModel, pickModel } from "@edgecall/core/loop/models.ts";
import { limitNote, type Next } from "@edgecall/core/loop/next.ts";
import { withoutOldPictures } from "@edgecall/core/loop/old-pictures.ts";
import { MAX_ATTEMPTS, MAX_SLOW_ATTEMPTS, ModelError, retryDelay } from "@edgecall/core/loop/retry.ts";
import { assistantEntry } from "@edgecall/core/loop/run.ts";
import { estimateTokens, tokensBeside } from "@edgecall/core/loop/tokens.ts";
import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { timeText } from "@edgecall/core/rules/time-text.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import type { ToolDefinition } from "@edgecall/core/tools/registry.ts";
import type { Listing } from "../api/conversation-list.ts";
import { agentsNote, EDGE_CALL, edgeCallDefinition, offlineNote } from "../api/edge-call.ts";
import { findAgentsDefinition } from "../api/find-agents.ts";
import { asksSession, type HomeTools } from "../api/home-tools.ts";
import type { Plan, PlannedReply } from "../api/plan.ts";
import { type PersonsSentence, type Roster, type RosterQuestion, unreadSources } from "../api/roster.ts";
import { rowsProblem } from "../api/rows-state.ts";
import type { ClientContext } from "../api/turns.ts";
import type { Env } from "../env.ts";
import { logError, logInfo } from "../log.ts";
import { modelLimits } from "../models/limits.ts";
import { modelFetch } from "../models/workers-ai.ts";
import { phrasesOf, readLanguage } from "../phrases.ts";
import type { Settings } from "../settings/settings.ts";
import { withUnread } from "./briefing.ts";
import { turnsOfChat } from "./client-context.ts";
import { isClients, lastOffered, offered, withoutOthers } from "./client-tools.ts";
import type { ConversationContext } from "./context.ts";
import { correctSpending } from "./correct-spending.ts";
import { cutToFit } from "./cut-to-fit.ts";
import { featuresOf, offeredTools } from "./feature.ts";
import { habitsOf } from "./habits.ts";
import type { StoredEntry, Turn } from "./store/rows.ts";
import { modelAdvice, tryAgain } from "./texts.ts";
import { gatewayTools } from "./tools/registry.ts";
import { spanOfTurn } from "./trace.ts";
import { finishTurn } from "./turns.ts";
import { beginUnaided, continueUnaided, sentenceOf } from "./unaided.ts";

/** Home is asked for its plan anew after so long: much that it says is of the moment. */
const PLAN_FRESH_MS = 10_000;
/** Of the person's words, to find agents by; the search reads no more of them. */
const QUESTION_CHARS_MAX = 1_000;
/** Agents that the conversation used. */
const USED_MAX = 5;

/** A person who waits longer than this is told the reason. */
const WORTH_TELLING_MS = 1_500;

/** Asks the model for the next step of a turn, and stores its reply: text, and the calls that it wants made. */
export async function runModelStep(
  context: ConversationContext,
  turn: Turn,
  history: StoredEntry[],
  next: Next & { do: "model" },
  settings: Settings,
): Promise<void> {
  if (await continueUnaided(context, turn, history)) return;
  const sentence = sentenceOf(context, turn, history, settings);
  await context.alarm.lease();
  const attempts = context.transcript.countAttempt(turn.n);
  if (attempts > MAX_ATTEMPTS) {
    const phrases = phrasesOf(turn.origin.language);
    const gaveUp = phrases.say("gaveUp", { count: MAX_ATTEMPTS });
    const answer = phrases.sentences(gaveUp, tryAgain(history, undefined, phrases));
    return failTurn(context, turn, answer, "gave_up");
  }
  const abort = new AbortController();
  context.modelCall = { turn: turn.n, abort };
  try {
    await askModel({ context, turn, history, next, settings, attempts, sentence, signal: abort.signal });
  } finally {
    context.modelCall = undefined;
  }
}

/** One try of one step. */
type Step = {
  context: ConversationContext;
  turn: Turn;
  /** The history for the model, before it is cut to fit. */
  history: StoredEntry[];
  next: Next & { do: "model" };
  settings: Settings;
  /** Tries of this step, with this one. */
  attempts: number;
  /** The turn's, where it may need no model. */
  sentence: PersonsSentence | undefined;
  /** What Home makes of it. */
  reply?: PlannedReply | undefined;
  signal: AbortSignal;
};

async function askModel(step: Step): Promise<void> {
  const { context, turn, history, next, signal } = step;
  const { transcript, subscribers, chat, env } = context;
  const shown = withoutOldPictures(history);
  // What is sent beside the history is known only with the plan, and the endpoint's figure corrects this.
  const tokens = estimateTokens(shown);
  const reserved = Math.min(tokens, step.settings.history.maxTokens);
  const own = history.filter((entry) => entry.turn === turn.n);
  let model: NamedModel | undefined;
  let received = 0;
  const retract = () => {
    if (received === 0) return;
    subscribers.reset(turn);
    chat?.delta(turn, "", 0);
    received = 0;
  };
  try {
    const plan = await fetchPlan(step, step.settings.countsDays ? reserved : undefined);
    if (plan.models) step.settings = { ...step.settings, models: [...plan.models] };
    const { settings } = step;
    const hasModel = settings.models.length > 0;
    step.reply = plan.reply;
    if (plan.reply && (plan.reply.first || !hasModel) && beginUnaided(context, turn, history, plan.reply))
      return;
    if (!hasModel) {
      const phrases = await phrasesFor(step);
      const { instead = phrases.say("noModel") } = plan.reply ?? {};
      // An owner can change that.
      const advice = turn.origin.role === "owner" ? [phrases.say("chooseModel")] : [];
      return failTurn(context, turn, paragraphs([instead, ...advice]), "no_model");
    }
    const isReplaceable = turn.origin.replaceable === true;
    const picked = pickModel(settings.models, plan.health, turn.origin.model, Date.now(), isReplaceable);
    if (!picked.ok) return failTurn(context, turn, picked.error, "unknown_model");
    model = picked.model;
    const [over] = featuresOf(context).flatMap((feature) => feature.usedUp?.(context, turn) ?? []);
    if (over !== undefined) return await endUnanswered(step, over, "budget");
    if (settings.hasBudget && !(await isWithinBudget(step, plan))) return;

    const brought = transcript.clientContextOf(turn);
    const { roster } = plan;
    const loopEnabled = settings.loopEnabled && brought.tools !== false;
    const beside = offeredTools(context, turn, settings);
    const steady = keepsTools(model);
    const isOffered = loopEnabled && (next.tools || steady);
    const ours = isOffered ? toolsOf(context, roster, settings, beside, steady) : [];
    const offer = offerOf(ours, brought, { mayCall: next.tools, keeps: steady }, own);
    const agents = loopEnabled ? agentTexts(roster, beside, steady) : [];
    const system = {
      stable: paragraphs([settings.systemPrompt, brought.instructions ?? ""]),
      changing: paragraphs([...agents, clockLine(plan, turn)]),
    };
    const note = next.tools ? undefined : limitNote(next.limit, settings.limits);
    const request = {
      ...offer,
      signal,
      onReset: retract,
      onText: (text: string) => {
        subscribers.delta(turn, text, received);
        chat?.delta(turn, text, received);
        received += text.length;
      },
    };
    const chosen = { ...model, habits: habitsOf(context, plan) };
    const fetch = modelFetch(env.AI, model.baseUrl);
    let estimate = reserved;
    const reply = await askFitting({
      model: chosen,
      limits: modelLimits,
      history: settings.history,
      beside: tokensBeside([system.stable, system.changing, note], offer.tools),
      cut: (room) =>
        cutToFit({ context, turn, history: shown, tokens, settings, signal, model: chosen, fetch }, room),
      send: (entries, maxTokens, sent) => {
        estimate = sent;
        const messages = toMessages(system, entries, note, picturesOf(context, entries));
        return traceModelCall(context.tracer, spanOfTurn(context, turn), chosen.name, () =>
          callModel(chosen, { ...request, messages, maxTokens }, fetch),
        );
      },
      onAgain: retract,
      onWindow: ({ server, tokens }) =>
        logInfo("model.window", { model: chosen.name, server, tokens, setting: settings.history.maxTokens }),
    });
    correctSpending(context, settings, { model: model.name, usage: reply.usage, reserved, estimate });
    if (model.name in plan.health) {
      context.plan = undefined;
      context.later(context.home().models.modelAnswered(model.name));
    }
    // A call of a tool that was not offered is answered as "not found", not dropped: the model should learn of it.
    const mayCall = offer.toolChoice !== "none" && ((loopEnabled && next.tools) || offer.tools.length > 0);
    const entry = assistantEntry(reply, history, mayCall, (call) => isClients(turn, call));
    entry.calls = withoutOthers(turn, entry.calls);
    const made = {
      after: lastInputSeq(turn, history),
      reply: entry,
      model: reply.model,
      usage: reply.usage,
      language: newLanguage(step),
      shown: loopEnabled ? unreadSources(roster.agents) : [],
      unasked:
        mayCall && offer.tools.some(({ function: { name } }) => name === EDGE_CALL) && !hasAsked(history),
    };
    if (entry.calls.length === 0) {
      const answer = withUnread(turn, own, entry.text);
      return finishTurn(context, turn, "done", answer, undefined, made);
    }
    const seq = transcript.addReply(turn.n, made);
    if (seq === undefined) return;
    for (const { id } of entry.calls) context.unsent.add(id);
    subscribers.replied(turn, seq);
    chat?.progress(turn);
  } catch (error) {
    retract();
    await modelFailed(step, await asModelError(error, context.env), model);
  }
}

/** No model answers. What the home's devices answer is said, or what a person may say in place of it. */
async function endUnanswered(step: Step, answer: string, code: string): Promise<void> {
  const { context, turn, history, sentence, reply } = step;
  if (reply && beginUnaided(context, turn, history, reply)) return;
  const alone = reply && sentence && { ...sentence, alone: true as const };
  const question = alone && { ...rosterQuestion(turn, history), sentence: alone };
  // Home may be out of reach too. Then the failure alone is told.
  const asked = question && context.home().conversations.plan(undefined, undefined, question);
  const plan = await asked?.catch(() => undefined);
  failTurn(context, turn, [answer, plan?.reply?.instead].filter(Boolean).join("\n\n"), code);
}

function failTurn(context: ConversationContext, turn: Turn, answer: string, code: string): void {
  finishTurn(context, turn, "failed", answer, code);
}

/** Home's plan: the turn's, as long as nothing says that it is old, or a new one. A day's budget has to be reserved in Home. */
async function fetchPlan(
  { context, turn, history, sentence }: Step,
  reserve: number | undefined,
): Promise<Plan> {
  const question = { ...rosterQuestion(turn, history), ...(sentence && { sentence }) };
  const listing = listingOf(context, turn, history);
  const known = context.plan;
  const isOfTurn = known?.turn === turn.n && known.text === question.text;
  if (isOfTurn && reserve === undefined && !listing && Date.now() <= known.until) return known.plan;
  const plan = await context.home().conversations.plan(reserve, listing, question);
  context.plan = { plan, turn: turn.n, text: question.text, until: Date.now() + PLAN_FRESH_MS };
  return plan;
}

/** The same for all model calls of a turn, so that the system prompt stays the same for the provider's cache. */
function rosterQuestion(turn: Turn, history: readonly StoredEntry[]): RosterQuestion {
  const words = (of: readonly StoredEntry[]) =>
    of.map(({ role, text }) => (role === "assistant" ? "" : text)).join("\n");
  const own = history.filter((entry) => entry.turn === turn.n);
  const asked = own.filter(({ role }) => role === "user");
  // A turn that a job's result set off begins with a note.
  const text = words(asked.length > 0 ? asked : own).slice(0, QUESTION_CHARS_MAX);
  const calls = history.flatMap((entry) =>
    entry.role === "assistant" && entry.turn !== turn.n ? entry.calls : [],
  );
  const ids = calls.flatMap((call) => (call.name === EDGE_CALL ? (agentOfCall(call) ?? []) : []));
  const used = [...new Set(ids.reverse())].slice(0, USED_MAX);
  return { text, used, reach: turn.origin.limits?.agents };
}

/** Told to Home with the first call of a turn: there a person looks for a conversation by its first words. */
function listingOf(
  { name, transcript }: ConversationContext,
  turn: Turn,
  history: readonly StoredEntry[],
): Listing | undefined {
  const own = history.filter((entry) => entry.turn === turn.n);
  if (name.split("/")[1] !== "api" || own.some(({ role }) => role === "assistant")) return undefined;
  const { principal, session } = turn.origin;
  const text = session?.label ?? history.find(({ role }) => role === "user")?.text ?? "";
  return { name, principal: transcript.beganBy() ?? principal, text };
}

/** Sorted, for the provider's cache: edge_call where there is an agent to call, and the gateway's own. */
function toolsOf(
  context: ConversationContext,
  roster: Roster,
  settings: Settings,
  beside: readonly HomeTools[],
  steady: boolean,
): ToolDefinition[] {
  const isLarge = roster.excerptOf !== undefined;
  const edgeCall = edgeCallDefinition(roster, { steady });
  const all = [
    ...(edgeCall ? [edgeCall] : []),
    ...(isLarge ? [findAgentsDefinition()] : []),
    ...beside.flatMap((tools) => tools.definitions(isLarge)),
    ...gatewayTools(settings.tools, context.env).definitions(),
  ];
  return all.sort((a, b) => (a.function.name < b.function.name ? -1 : 1));
}

/** The newest pictures of the history, from their rows. */
function picturesOf(
  { media }: ConversationContext,
  entries: readonly Entry[],
): (id: string) => string | undefined {
  const ids = new Set(pictureIds(entries));
  return (id) => (ids.has(id) ? media.dataUrl(id) : undefined);
}

/** Ends the turn where a budget is used up, and notes where one nearly is. */
async function isWithinBudget(step: Step, plan: Plan): Promise<boolean> {
  const { context, turn, settings } = step;
  const { transcript, isOneShot } = context;
  // Others in the same object are other conversations.
  const chat = isOneShot ? turnsOfChat(transcript, turn) : undefined;
  const used = { ...transcript.spent(turn.n, chat), day: plan.day };
  const notified = [...transcript.notices(turn.n, chat), ...plan.told];
  const verdict: BudgetVerdict = checkBudget(
    used,
    settings.budgets,
    Date.now(),
    notified,
    await phrasesFor(step),
  );
  if (verdict.state === "ok") return true;
  if (verdict.state === "refused") {
    await endUnanswered(step, verdict.text, "budget");
    return false;
  }
  transcript.notify(turn.n, verdict.text, verdict.keys);
  const ofDay = verdict.keys.filter((key) => key.startsWith("day."));
  if (ofDay.length > 0) context.later(context.home().models.setBudgetTold(ofDay));
  return true;
}

async function modelFailed(step: Step, error: ModelError, model: NamedModel | undefined): Promise<void> {
  if (error.kind === "cancelled") return;
  const { context, turn, history, settings, attempts } = step;
  logError("model.failed", error, { turn: turn.id, kind: error.kind, attempts, model: model?.name });
  const others = settings.models.length > 1 && mayReplace(turn);
  if (model && isModelFailure(error)) {
    // With another model at hand the last try that makes sense at this one was its last.
    const isLast = error.slow || retryDelay(error, attempts) === undefined;
    const passing = error.kind === "now" && !(others && isLast);
    await noteFailure(context, model, passing ? 1 : FAILURES_TO_COOL);
    const tries = error.slow ? Math.max(MAX_SLOW_ATTEMPTS, settings.models.length) : MAX_ATTEMPTS;
    // A wrong key will not mend itself, but the next model may well answer.
    if (others && !passing && attempts < tries) return;
  }
  const delay = retryDelay(error, attempts);
  if (delay === undefined) {
    const phrases = await phrasesFor(step);
    const why = reasonText(error, phrases);
    const advice = tryAgain(history, model && modelAdvice(error, model), phrases);
    const answer = phrases.sentences(phrases.say("modelGaveNone", { why }), advice);
    return await endUnanswered(step, answer, "model");
  }
  const until = Date.now() + delay;
  context.transcript.postpone(turn.n, until);
  if (delay >= WORTH_TELLING_MS) context.subscribers.waits(turn, until, error.message);
}

/** In the language of the person's sentence, also where nothing of it was understood. */
async function phrasesFor({ context, turn, reply }: Step): Promise<Phrases> {
  return await readLanguage(context.env, turn.origin.language ?? reply?.note?.language ?? "en");
}

/** @returns undefined: the turn knows it, or it is English */
function newLanguage({ turn, reply }: Step): Language | undefined {
  const language = turn.origin.language ? undefined : reply?.note?.language;
  return language === "en" ? undefined : language;
}

/** Endpoints give their reasons in English. */
function reasonText({ message, unreachable, spent }: ModelError, phrases: Phrases): string {
  if (phrases.language !== "en" && (unreachable || spent))
    return phrases.say(unreachable ? "modelUnreachable" : "modelSpent");
  return /[.?!]$/.test(message) ? message : `${message}.`;
}

async function noteFailure(context: ConversationContext, model: NamedModel, times: number): Promise<void> {
  context.plan = undefined;
  try {
    await context.home().models.modelFailed(model.name, times);
  } catch (error) {
    logError("model.health_lost", error, { model: model.name });
  }
}

/** Seq of the last message of a turn; null in one that a job set off, which begins with a note. */
function lastInputSeq(turn: Turn, history: readonly StoredEntry[]): number | null {
  return history.findLast((entry) => entry.turn === turn.n && entry.role !== "note")?.seq ?? null;
}

/** @property mayCall not at a limit @property keeps the tools are sent at a limit too */
function offerOf(
  ours: readonly ToolDefinition[],
  brought: ClientContext,
  { mayCall, keeps }: { mayCall: boolean; keeps: boolean },
  own: readonly StoredEntry[],
): ReturnType<typeof offered> {
  if (brought.tools === false) return { tools: [] };
  if (mayCall) return offered(ours, brought, own);
  const last = lastOffered(brought);
  const { clientTools = [] } = brought;
  return keeps && last.tools.length === 0 ? { tools: [...ours, ...clientTools], toolChoice: "none" } : last;
}

/** @returns true when a device was asked since the person's last message; a session may ask devices too */
function hasAsked(history: readonly StoredEntry[]): boolean {
  return history
    .slice(
      Math.max(
        0,
        history.findLastIndex(({ role }) => role === "user"),
      ),
    )
    .some(
      (entry) =>
        entry.role === "assistant" && entry.calls.some(({ name }) => name === EDGE_CALL || asksSession(name)),
    );
}

/** A model that the caller named is replaced only if the caller allows it: it expects that model's answer. */
function mayReplace({ origin }: Turn): boolean {
  return origin.model === undefined || origin.replaceable === true;
}

function agentTexts(roster: Roster, beside: readonly HomeTools[], steady: boolean): string[] {
  const room = beside.map(({ roomUsed }) => roomUsed);
  return [agentsNote(roster, room, steady), offlineNote(roster, Date.now())];
}

/** The time at which the turn began, so that the prompt is the same in all its model calls. */
function clockLine({ home }: Plan, { createdAt }: Turn): string {
  return home ? `It is ${timeText(createdAt, home.zone)} (${home.zone}) in ${home.name}.` : "";
}

function paragraphs(texts: readonly string[]): string {
  return texts.filter(Boolean).join("\n\n");
}

async function asModelError(error: unknown, env: Env): Promise<ModelError> {
  if (error instanceof ModelError) return error;
  const rows = error instanceof Error ? await rowsProblem(error, env) : undefined;
  if (rows) return new ModelError("now", `${rows.text}: ${rows.cure}`, { cause: error });
  // Home could not be asked for the roster: it was reset by a deploy, or is overloaded.
  const message = error instanceof Error ? error.message : String(error);
  return new ModelError("now", `the home's object did not answer (${message})`, { cause: error });
}

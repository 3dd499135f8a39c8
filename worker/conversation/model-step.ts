/**
 * The step of a turn that asks the model: which one, within which budget, with how much of the history, and
 * what becomes of its reply or its failure.
 */
import { type BudgetVerdict, checkBudget } from "@edgecall/core/loop/budget.ts";
import { fitHistory } from "@edgecall/core/loop/fit.ts";
import type { Entry, Usage } from "@edgecall/core/loop/history.ts";
import { type ChatMessage, pictureIds, toMessages } from "@edgecall/core/loop/messages.ts";
import { callModel, type Fetch } from "@edgecall/core/loop/model.ts";
import { FAILURES_TO_COOL, isModelFailure, type NamedModel, pickModel } from "@edgecall/core/loop/models.ts";
import { limitNote, type Next } from "@edgecall/core/loop/next.ts";
import { MAX_ATTEMPTS, MAX_SLOW_ATTEMPTS, ModelError, retryDelay } from "@edgecall/core/loop/retry.ts";
import { assistantEntry } from "@edgecall/core/loop/run.ts";
import { summaryPrompt } from "@edgecall/core/loop/summary.ts";
import { agentSource } from "@edgecall/core/loop/taint.ts";
import { estimateTokens } from "@edgecall/core/loop/tokens.ts";
import type { ToolDefinition, ToolRegistry } from "@edgecall/core/tools/registry.ts";
import type { Listing } from "../api/conversation-list.ts";
import { agentsNote, edgeCallDefinition, offlineNote } from "../api/edge-call.ts";
import type { HomeApi } from "../api/home-api.ts";
import type { Plan } from "../api/plan.ts";
import { inReach, type Roster } from "../api/roster.ts";
import type { ClientContext } from "../api/turns.ts";
import { logError } from "../log.ts";
import { countsDays, hasLimit, NO_MODEL, type Settings } from "../settings/settings.ts";
import { standsApart, turnsOfChat } from "./brought.ts";
import { lastOffered, offered, withoutOthers } from "./client-tools.ts";
import { isOneShot } from "./one-shot.ts";
import type { MediaStore } from "./store/media.ts";
import type { Transcript } from "./store/transcript.ts";
import type { StoredEntry, Turn } from "./store/transcript-rows.ts";
import { modelAdvice, tryAgain } from "./turn-words.ts";

/** What Home told with a result holds this long: the model call follows at once, or not at all. */
const PLAN_FRESH_MS = 500;

/** A person who waits longer than this is told what for. */
const WORTH_TELLING_MS = 1_500;

/** What the step needs of its conversation. */
export type TurnHost = {
  /** `home/channel/id` */
  name(): string;
  transcript: Transcript;
  media: MediaStore;
  /** A new stub for each use. */
  home(): HomeApi;
  /** The gateway's own. */
  tools(settings: Settings): ToolRegistry;
  /** How the model at this address is reached; undefined: as any address. */
  fetch(baseUrl: string): Fetch | undefined;
  lease(): Promise<void>;
  fail(turn: Turn, answer: string, code: string): void;
  /** Text as it arrives, for whoever waits. @param at how many characters of the step came before it */
  delta(turn: Turn, text: string, at: number): void;
  /** The model is asked again at `until` (epoch ms), and why not before. */
  waiting(turn: Turn, until: number, text: string): void;
  /** What the deltas since the last message said is void. */
  reset(turn: Turn): void;
  /** The reply is stored; `seq` is its message. */
  replied(turn: Turn, seq: number): void;
  /** For work that nobody waits for. */
  later(work: Promise<unknown>): void;
};

export class ModelStep {
  readonly #host: TurnHost;
  #plan: { plan: Plan; until: number } | undefined;
  /** The model call that runs, so that a cancel can stop it. */
  #running: { turn: number; abort: AbortController } | undefined;

  constructor(host: TurnHost) {
    this.#host = host;
  }

  /** Home has just told what it knows, with a result. */
  planned(plan: Plan | undefined): void {
    this.#plan = plan && { plan, until: Date.now() + PLAN_FRESH_MS };
  }

  /** What Home knows: as it told a moment ago, or asked for. A budget for the day has to be reserved there. */
  async #planFor(reserve: number | undefined, began: Listing | undefined): Promise<Plan> {
    const told = this.#plan;
    this.#plan = undefined;
    if (told && reserve === undefined && !began && Date.now() <= told.until) return told.plan;
    return await this.#host.home().plan(reserve, began);
  }

  cancel(turn: Turn): void {
    if (this.#running?.turn === turn.n) this.#running.abort.abort();
  }

  async take(
    turn: Turn,
    history: StoredEntry[],
    next: Next & { do: "model" },
    settings: Settings,
  ): Promise<void> {
    const { transcript } = this.#host;
    if (settings.models.length === 0) return this.#host.fail(turn, NO_MODEL, "no_model");
    await this.#host.lease();
    const attempts = transcript.countAttempt(turn.n);
    if (attempts > MAX_ATTEMPTS) {
      return this.#host.fail(
        turn,
        `I gave up after ${MAX_ATTEMPTS} attempts at the same step. ${tryAgain(history)}`,
        "gave_up",
      );
    }
    const abort = new AbortController();
    this.#running = { turn: turn.n, abort };
    try {
      await this.#ask(turn, history, next, settings, attempts, abort.signal);
    } finally {
      this.#running = undefined;
    }
  }

  async #ask(
    turn: Turn,
    history: StoredEntry[],
    next: Next & { do: "model" },
    settings: Settings,
    attempts: number,
    signal: AbortSignal,
  ): Promise<void> {
    const estimate = estimateTokens(history);
    const own = history.filter((entry) => entry.turn === turn.n);
    let model: NamedModel | undefined;
    let said = 0;
    try {
      const counts = countsDays(settings);
      const plan = await this.#planFor(counts ? estimate : undefined, this.#beganIn(turn, history));
      const picked = pickModel(
        settings.models,
        plan.health,
        turn.origin.model,
        Date.now(),
        turn.origin.replaceable === true,
      );
      if (!picked.ok) return this.#host.fail(turn, picked.error, "unknown_model");
      model = picked.model;
      if (isLimited(settings.budgets) && !this.#mayGoOn(turn, plan, settings)) return;

      const fits = estimate <= settings.history.maxTokens;
      const entries = fits ? history : await this.#fitted(turn, history, settings, model, signal);
      const { limits } = turn.origin;
      const brought = this.#host.transcript.broughtBy(turn);
      const roster = inReach(plan.roster, limits?.agents);
      const loopEnabled = settings.loopEnabled && brought.tools !== false;
      const ours = loopEnabled && next.tools ? this.#tools(roster, settings) : [];
      const offer = offerOf(ours, brought, next.tools, own);
      const system = systemPrompt(settings, loopEnabled ? roster : undefined, brought.instructions);
      const note = next.tools ? undefined : limitNote(next.limit, settings.limits);
      const request = {
        messages: toMessages(system, entries, note, this.#pictures(entries)),
        ...offer,
        signal,
        onText: (text: string) => {
          this.#host.delta(turn, text, said);
          said += text.length;
        },
      };
      const reply = await callModel(model, request, this.#host.fetch(model.baseUrl));
      if (counts) this.#correct(model, reply.usage, estimate, settings);
      if (model.name in plan.health) this.#host.later(this.#host.home().modelAnswered(model.name));
      // A call of a tool that was not offered is answered as "not found", not dropped: the model should learn of it.
      const mayCall = (loopEnabled && next.tools) || offer.tools.length > 0;
      const entry = assistantEntry(reply, history, mayCall);
      entry.calls = withoutOthers(turn, entry.calls);
      const seq = this.#host.transcript.addReply(
        turn.n,
        lastSaid(turn, history),
        entry,
        reply.model,
        reply.usage,
        loopEnabled ? roster.agents.filter(({ newText }) => newText).map(({ id }) => agentSource(id)) : [],
      );
      if (seq !== undefined) this.#host.replied(turn, seq);
    } catch (error) {
      if (said > 0) this.#host.reset(turn);
      await this.#failed(turn, asModelError(error), attempts, history, settings, model);
    }
  }

  /** Sorted, for the provider's cache: edge_call where there is an agent to call, and the gateway's own. */
  #tools(roster: Roster, settings: Settings): ToolDefinition[] {
    const edgeCall = edgeCallDefinition(roster);
    const all = [...(edgeCall ? [edgeCall] : []), ...this.#host.tools(settings).definitions()];
    return all.sort((a, b) => (a.function.name < b.function.name ? -1 : 1));
  }

  /** The newest pictures of the history, from their rows. */
  #pictures(entries: readonly Entry[]): (id: string) => string | undefined {
    const shown = new Set(pictureIds(entries));
    return (id) => (shown.has(id) ? this.#host.media.dataUrl(id) : undefined);
  }

  /** Usage is the endpoint's figure; one that gives none is counted by our estimate. */
  #correct(model: NamedModel, usage: Usage | undefined, reserved: number, { prices }: Settings): void {
    if (!usage) return;
    const difference = usage.input_tokens + usage.output_tokens - reserved;
    const isPriced = Object.keys(prices).length > 0;
    this.#host.later(
      this.#host.home().spent(difference, isPriced ? { model: model.name, usage } : undefined),
    );
  }

  /** Told to Home with the first call of a turn, where a person looks for a conversation by its first words. */
  #beganIn(turn: Turn, history: readonly StoredEntry[]): Listing | undefined {
    const name = this.#host.name();
    const own = history.filter((entry) => entry.turn === turn.n);
    if (name.split("/")[1] !== "api" || own.some(({ role }) => role === "assistant")) return undefined;
    const text = history.find(({ role }) => role === "user")?.text ?? "";
    return { name, principal: this.#host.transcript.beganBy() ?? turn.origin.principal, text };
  }

  #mayGoOn(turn: Turn, plan: Plan, settings: Settings): boolean {
    const { transcript } = this.#host;
    // Others in the same object are other conversations.
    const chat = isOneShot(this.#host.name()) ? turnsOfChat(transcript, turn) : undefined;
    const used = { ...transcript.spent(turn.n, chat), day: plan.day };
    const told = [...transcript.notices(turn.n, chat), ...plan.told];
    const verdict: BudgetVerdict = checkBudget(used, settings.budgets, Date.now(), told);
    if (verdict.state === "ok") return true;
    if (verdict.state === "refused") {
      this.#host.fail(turn, verdict.text, "budget");
      return false;
    }
    transcript.notify(turn.n, verdict.text, verdict.keys);
    const today = verdict.keys.filter((key) => key.startsWith("day."));
    if (today.length > 0) this.#host.later(this.#host.home().budgetTold(today));
    return true;
  }

  /** As much of the history as fits; what does not is summed up by the model, once. */
  async #fitted(
    turn: Turn,
    history: StoredEntry[],
    settings: Settings,
    model: NamedModel,
    signal: AbortSignal,
  ): Promise<Entry[]> {
    const { transcript } = this.#host;
    const begins = history.findIndex((entry) => entry.turn === turn.n);
    // One that takes results of its caller's tools goes on with what they were asked for.
    const currentFrom =
      begins >= 0
        ? begins
        : Math.max(
            0,
            history.findLastIndex(({ role }) => role === "user"),
          );
    // A summary is of all the rows, in their order.
    const apart = standsApart(transcript, turn);
    const summary = apart ? undefined : transcript.summary();
    const options = { ...settings.history, currentFrom, ...(summary && { summary }) };
    const fitted = fitHistory(history, options);
    const from = history[fitted.shownFrom];
    if (summary && !summary.from && from && fitted.cut.turns === summary.turns)
      transcript.summaryEnds(summary, from);
    if (!fitted.toSummarise || !from || apart) return fitted.entries;
    try {
      const messages: ChatMessage[] = [{ role: "user", content: summaryPrompt(fitted.toSummarise) }];
      const reply = await callModel(model, { messages, tools: [], signal }, this.#host.fetch(model.baseUrl));
      transcript.summarise({ text: reply.text, turns: fitted.cut.turns }, turn.n, from, reply.usage);
      if (countsDays(settings)) this.#correct(model, reply.usage, 0, settings);
      return fitHistory(history, { ...options, summary: { text: reply.text, turns: fitted.cut.turns } })
        .entries;
    } catch (error) {
      if (signal.aborted) throw error;
      // Without a summary the turns are left out all the same, and the note in their place says so.
      logError("summary.failed", error, { turn: turn.id });
      return fitted.entries;
    }
  }

  async #failed(
    turn: Turn,
    error: ModelError,
    attempts: number,
    history: StoredEntry[],
    settings: Settings,
    model: NamedModel | undefined,
  ): Promise<void> {
    if (error.kind === "cancelled") return;
    logError("model.failed", error, { turn: turn.id, kind: error.kind, attempts, model: model?.name });
    const others = settings.models.length > 1 && mayReplace(turn);
    if (model && isModelFailure(error)) {
      const passing = error.kind === "now" && !(others && error.slow);
      await this.#noteFailure(model, passing ? 1 : FAILURES_TO_COOL);
      const tries = error.slow ? Math.max(MAX_SLOW_ATTEMPTS, settings.models.length) : MAX_ATTEMPTS;
      // A wrong key will not mend itself, but the next model may well answer.
      if (others && !passing && attempts < tries) return;
    }
    const delay = retryDelay(error, attempts);
    if (delay === undefined) {
      const why = error.message.replace(/\.$/, "");
      this.#host.fail(
        turn,
        `I could not get an answer from the model: ${why}. ${tryAgain(history, model && modelAdvice(error, model))}`,
        "model",
      );
    } else {
      const until = Date.now() + delay;
      this.#host.transcript.postpone(turn.n, until);
      if (delay >= WORTH_TELLING_MS) this.#host.waiting(turn, until, error.message);
    }
  }

  async #noteFailure(model: NamedModel, times: number): Promise<void> {
    try {
      await this.#host.home().modelFailed(model.name, times);
    } catch (error) {
      logError("model.health_lost", error, { model: model.name });
    }
  }
}

/** Seq of what was said last in a turn; null in one that a job set off, which begins with a note. */
function lastSaid(turn: Turn, history: readonly StoredEntry[]): number | null {
  return history.findLast((entry) => entry.turn === turn.n && entry.role !== "note")?.seq ?? null;
}

/** @param mayCall not at a limit */
function offerOf(
  ours: readonly ToolDefinition[],
  brought: ClientContext,
  mayCall: boolean,
  own: readonly StoredEntry[],
): ReturnType<typeof offered> {
  if (brought.tools === false) return { tools: [] };
  return mayCall ? offered(ours, brought, own) : lastOffered(brought);
}

/** One that the caller named is not replaced without its leave: the words would be somebody else's. */
function mayReplace({ origin }: Turn): boolean {
  return origin.model === undefined || origin.replaceable === true;
}

function isLimited(budgets: Settings["budgets"]): boolean {
  return hasLimit(budgets.turn) || hasLimit(budgets.conversation) || hasLimit(budgets.day);
}

/** @param roster absent: no tools are offered */
function systemPrompt(settings: Settings, roster: Roster | undefined, instructions = ""): string {
  // What changes comes last, so that a provider's prompt cache keeps the rest.
  const agents = roster ? [agentsNote(roster), offlineNote(roster, Date.now())] : [];
  return [settings.systemPrompt, instructions, ...agents].filter(Boolean).join("\n\n");
}

function asModelError(error: unknown): ModelError {
  if (error instanceof ModelError) return error;
  // Home could not be asked for the roster: it was reset by a deploy, or is overloaded.
  const message = error instanceof Error ? error.message : String(error);
  return new ModelError("now", `the home's object did not answer (${message})`, { cause: error });
}

/** Keeps in memory how much fits a request to a model, by its address and name. */
import type { Usage } from "./history.ts";
import type { ModelSettings } from "./request.ts";
import type { TooLong } from "./too-long.ts";
import { askWindow, isLocalModel, type LocalServer } from "./window.ts";

/** The setting HISTORY_MAX_TOKENS. @property isOwn a person set it */
export type HistoryLimit = { maxTokens: number; isOwn: boolean };

/** Tokens of a request, by default. */
export const HISTORY_MAX_TOKENS = 24_000;
/** Ollama's default on a machine with less than 24 GiB of video memory. */
const OLLAMA_WINDOW = 4_096;
/** Other local servers have at least this much by default, or are started with it. */
const LOCAL_WINDOW = 8_000;
/** The share of a window that is kept for the reply, unless MAX_TOKENS is less. */
const REPLY_SHARE = 1 / 4;
/** A server that was asked is not asked again for so long: someone may have loaded the model with another window. */
const ASK_AGAIN_MS = 5 * 60_000;
/** A model's tokens may be so many times our estimate. */
const MOST_FACTOR = 4;
/** A factor is measured from requests of at least so many tokens. A smaller one is mostly the template's own words. */
const FACTOR_FROM = 500;
/** The estimate is beside the truth by so much when a reply is given all that is left. */
const SLACK = 1.15;
/** A request that is sent again has to be smaller than this share of the refused one. */
const ENOUGH_SMALLER = 0.8;
/** A shorter reply than this is of no use. */
const LEAST_REPLY = 128;
const MODELS_MAX = 200;

type Known = {
  server?: LocalServer;
  /** What the server told. */
  window?: number;
  /** When it was asked (monotonic ms), and whether the model had answered by then, which loads it. */
  asked?: { at: number; isLoaded: boolean };
  hasReplied?: true;
  /** The window that a refusal told. */
  refusedAbove?: number;
  /** The most of our own estimate, where a refusal told no number. */
  halved?: number;
  /** The most tokens of a reply, as a refusal told. */
  maxReply?: number;
  /** The model's tokens for one of our estimate. */
  factor: number;
};

/** Limits that refusals taught. */
type LearnedLimits = Partial<Pick<Known, "refusedAbove" | "halved" | "maxReply" | "factor">>;

/** How much of a request fits. All figures are of our own estimate. */
export type Room = {
  /** Tokens of all that is sent, as it was set or is assumed. The current turn may go beyond it. */
  soft: number;
  /** The model takes no more than this, as it or its server told; undefined: unknown. */
  hard: number | undefined;
  /** Tokens for the reply: at least and at most. */
  reply: { least: number; most: number };
  /** The window that was told, in the model's own tokens. */
  window: number | undefined;
  /** The model's tokens for one of our estimate. */
  factor: number;
  server: LocalServer | undefined;
  /** The window will be known after this request. */
  isProvisional: boolean;
};

export class ModelLimits {
  readonly #known = new Map<string, Known>();

  /**
   * Asks a local server for its window where that is due: before the first request, after the first reply, which loads the
   * model, and now and then.
   * @returns what it told, when that is news
   */
  async ask(model: ModelSettings): Promise<{ server: LocalServer; tokens: number } | undefined> {
    if (!isLocalModel(model)) return undefined;
    const known = this.#knownOf(model);
    const { asked, window, hasReplied = false } = known;
    const isLoading = window === undefined && hasReplied && asked?.isLoaded === false;
    if (asked && !isLoading && performance.now() - asked.at < ASK_AGAIN_MS) return undefined;
    const told = await askWindow(model);
    // The window of a model that is not loaded any more stays: it will be loaded with the same.
    if (told) known.server = told.server;
    known.asked = { at: performance.now(), isLoaded: hasReplied };
    if (told?.tokens === undefined || told.tokens === window) return undefined;
    known.window = told.tokens;
    return { server: told.server, tokens: told.tokens };
  }

  /** @param lessons of refusals that are not certain yet */
  room(model: ModelSettings, history: HistoryLimit, lessons: LearnedLimits = {}): Room {
    const known = { ...this.#knownOf(model), ...lessons };
    const { server, factor, halved } = known;
    const window = smallest(known.window, known.refusedAbove);
    const most = Math.min(model.maxTokens, known.maxReply ?? model.maxTokens);
    const within = (size: number) => Math.floor((size - Math.min(most, size * REPLY_SHARE)) / factor);
    const hard = smallest(window && within(window), halved);
    const isAssumed = hard === undefined && isLocalModel(model) && !history.isOwn;
    const assumed = isAssumed ? within(server === "Ollama" ? OLLAMA_WINDOW : LOCAL_WINDOW) : undefined;
    const own = Math.floor(history.maxTokens / factor);
    return {
      soft: smallest(own, hard, assumed) ?? own,
      hard,
      reply: { least: window === undefined ? most : Math.min(most, Math.floor(window * REPLY_SHARE)), most },
      factor,
      window,
      server,
      isProvisional: isAssumed && known.asked?.isLoaded !== true,
    };
  }

  /**
   * A request was answered.
   * @param sent our estimate of it
   * @param lessons what made it short enough: now it is certain
   */
  replied(model: ModelSettings, sent: number, usage: Usage | undefined, lessons: LearnedLimits = {}): void {
    const known = Object.assign(this.#knownOf(model), lessons);
    known.hasReplied = true;
    if (usage && sent >= FACTOR_FROM) known.factor = factorOf(usage.input_tokens, sent);
  }

  #knownOf({ baseUrl, model }: ModelSettings): Known {
    const key = `${baseUrl} ${model}`;
    let known = this.#known.get(key);
    if (!known) {
      known = { factor: 1 };
      const [oldest] = this.#known.keys();
      if (this.#known.size >= MODELS_MAX && oldest !== undefined) this.#known.delete(oldest);
      this.#known.set(key, known);
    }
    return known;
  }
}

/** @param sent our estimate of the request @returns `max_tokens` for it */
export function maxReply({ reply, window, factor }: Room, sent: number): number {
  if (window === undefined) return reply.most;
  return Math.min(reply.most, Math.max(reply.least, Math.floor(window - sent * factor * SLACK)));
}

/** A request that was refused: our estimate of what was sent, its `max_tokens`, and the factor that held. */
export type RefusedRequest = { sent: number; maxReply: number; factor: number };

/** @returns what to do otherwise; undefined: a shorter request is not worth a try */
export function limitsFromRefusal(
  { kind, limit, sent, input }: TooLong,
  asked: RefusedRequest,
): LearnedLimits | undefined {
  if (kind === "output") {
    const most = limit ?? Math.floor(asked.maxReply / 2);
    return most >= asked.maxReply || most < LEAST_REPLY ? undefined : { maxReply: most };
  }
  if (limit === undefined) return { halved: Math.floor(asked.sent / 2) };
  const own = input ?? messageTokens(sent, asked);
  const factor = own === undefined ? asked.factor : Math.max(asked.factor, factorOf(own, asked.sent));
  const least = Math.min(asked.maxReply, Math.floor(limit * REPLY_SHARE));
  const isSmaller = (limit - least) / factor < asked.sent * ENOUGH_SMALLER;
  // Where nothing else would change, our estimate is wrong by more than is known.
  const halved = !isSmaller && least >= asked.maxReply ? { halved: Math.floor(asked.sent / 2) } : {};
  return { refusedAbove: limit, factor, ...halved };
}

/** A server that cut the prompt or had a part of it in its cache counts less, so less says nothing. */
function factorOf(tokens: number, estimate: number): number {
  return Math.min(MOST_FACTOR, Math.max(1, tokens / estimate));
}

/** Some endpoints count the reply's tokens with those that were sent. The figure that is closer to our estimate is the messages'. */
function messageTokens(sent: number | undefined, asked: RefusedRequest): number | undefined {
  if (sent === undefined) return undefined;
  const without = sent - asked.maxReply;
  const distance = (tokens: number) => Math.abs(Math.log(Math.max(1, tokens) / asked.sent));
  return without > 0 && distance(without) < distance(sent) ? without : sent;
}

function smallest(...numbers: Array<number | undefined>): number | undefined {
  const given = numbers.filter((number) => number !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
}

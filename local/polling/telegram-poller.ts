/**
 * Fetches one Telegram bot's updates by long polling and hands each to the Worker, as Telegram's webhook would.
 *
 * No update is lost: Telegram is told that one has arrived only by the offset of the next fetch, and the offset grows only
 * when the Worker has the update. None counts twice: the offset is on disk before anything else happens, and an update that
 * is handed over again, after a kill in between, is known to the Worker by its id.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Backoff, backoffMs } from "@edgecall/core/backoff.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";

/** How long Telegram holds a fetch that finds nothing. */
const LONG_POLL_S = 50;
/** A fetch that takes this much longer hangs: the line is dead. */
const LATE_MS = 15_000;
const CALL_WITHIN_MS = 30_000;
/**
 * After a week without updates Telegram counts from any number. An older offset could be beyond that, and Telegram would forget
 * the messages below it.
 */
const OFFSET_COUNTS_MS = 6 * 86_400_000;
const RETRIES: Backoff = { baseMs: 500, capMs: 30_000 };

export const PolledBot = z.object({
  home: z.string(),
  connection: z.string().check(z.regex(/^[a-z0-9][a-z0-9-]{0,31}$/)),
  token: z.string(),
  secret: z.string(),
  base_url: z.string(),
  path: z.string(),
  allowed_updates: z.array(z.string()),
});
export type PolledBot = z.infer<typeof PolledBot>;

const Update = z.looseObject({ update_id: z.int() });
type Update = z.infer<typeof Update>;
const Updates = z.object({ ok: z.literal(true), result: z.array(Update) });
const Refusal = z.looseObject({
  description: z.optional(z.string()),
  parameters: z.optional(z.looseObject({ retry_after: z.optional(z.number()) })),
});
const MethodCall = z.looseObject({ method: z.string().check(z.regex(/^[A-Za-z]{1,40}$/)) });
const Offset = z.object({ bot: z.string(), next: z.int(), at: z.number() });

export type PollerOptions = {
  bot: PolledBot;
  /** The Worker's own address. */
  workerUrl: string;
  /** The folder of the offset. */
  dir: string;
  /** A line for the log. */
  say(line: string): void;
  /** The present trouble in words; undefined: there is none. */
  onProblem?(problem: string | undefined): void;
  retries?: Backoff;
  longPollS?: number;
};

/** Fetches and hands over until the signal. Only then it resolves. */
export async function pollTelegram(options: PollerOptions, signal: AbortSignal): Promise<void> {
  const poller = new TelegramPoller(options, signal);
  try {
    await poller.run();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

class TelegramPoller {
  readonly #options: PollerOptions;
  readonly #signal: AbortSignal;
  readonly #offsetFile: string;
  #problem: string | undefined;

  constructor(options: PollerOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    const { home, connection } = options.bot;
    this.#offsetFile = join(options.dir, `telegram-${home}~${connection}.json`);
  }

  async run(): Promise<void> {
    let next = this.#readOffset();
    for (;;) {
      const updates = await this.#fetch(next);
      // Telegram has forgotten what is below the offset. From here on it would only do harm: see OFFSET_COUNTS_MS.
      next = undefined;
      for (const update of updates) {
        const answer = await this.#handOver(update);
        // Before the offset, so that nobody presses a button in vain; after a kill in between it is answered once more.
        await this.#answer(answer);
        next = update.update_id + 1;
        await this.#writeOffset(next);
      }
    }
  }

  /** Asks Telegram until it answers. @param offset confirms everything below it */
  async #fetch(offset: number | undefined): Promise<Update[]> {
    const { bot, longPollS = LONG_POLL_S } = this.#options;
    const body = {
      timeout: longPollS,
      allowed_updates: bot.allowed_updates,
      ...(offset !== undefined && { offset }),
    };
    for (let failures = 0; ; failures += 1) {
      const reply = await this.#post(this.#method("getUpdates"), body, {}, longPollS * 1_000 + LATE_MS);
      const read = reply.status === 200 ? checkJson(Updates, reply.text) : undefined;
      if (read?.ok) {
        this.#setProblem(undefined);
        return read.value.result;
      }
      const { words, afterMs = 0 } = read
        ? { words: `Telegram's answer: ${read.error}` }
        : fetchTrouble(reply);
      this.#setProblem(words);
      await this.#pause(failures, afterMs);
    }
  }

  /** Gives an update to the Worker until it has it. @returns the Worker's answer */
  async #handOver(update: Update): Promise<string> {
    const { bot, workerUrl, say } = this.#options;
    const headers = { "x-telegram-bot-api-secret-token": bot.secret };
    for (let failures = 0; ; failures += 1) {
      const { status, text } = await this.#post(workerUrl + bot.path, update, headers, CALL_WITHIN_MS);
      if (status >= 200 && status < 300) return text;
      // These bytes will never be taken, and what comes after them must not wait.
      if (status === 400 || status === 413) {
        say(
          `telegram ${bot.connection}: the gateway refused the update ${update.update_id}: ${cutText(text, 200)}`,
        );
        return "";
      }
      this.#setProblem(`the gateway did not take a message (${status || "no answer"}); it is tried again`);
      await this.#pause(failures);
    }
  }

  /** Telegram takes a call of its API in a webhook's response. Here we make it. */
  async #answer(text: string): Promise<void> {
    const call = text.startsWith("{") ? checkJson(MethodCall, text) : undefined;
    if (!call?.ok) return;
    const { method, ...parameters } = call.value;
    const { status } = await this.#post(this.#method(method), parameters, {}, CALL_WITHIN_MS);
    if (status !== 200)
      this.#options.say(
        `telegram ${this.#options.bot.connection}: ${method} was not done (${status || "no answer"})`,
      );
  }

  #method(name: string): string {
    const { base_url, token } = this.#options.bot;
    return `${base_url}/bot${token}/${name}`;
  }

  /** @returns status 0 when there was no answer @throws when the poller is to end */
  async #post(
    url: string,
    body: object,
    headers: Record<string, string>,
    withinMs: number,
  ): Promise<{ status: number; text: string }> {
    this.#signal.throwIfAborted();
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
        signal: AbortSignal.any([this.#signal, AbortSignal.timeout(withinMs)]),
      });
      return { status: response.status, text: await response.text() };
    } catch (error) {
      this.#signal.throwIfAborted();
      // Never the address, which has the token.
      const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
      return { status: 0, text: code ?? (error as Error).name };
    }
  }

  async #pause(failures: number, atLeastMs = 0): Promise<void> {
    const { retries = RETRIES } = this.#options;
    const ms = Math.max(atLeastMs, backoffMs(retries, failures));
    await sleep(ms, undefined, { signal: this.#signal });
  }

  /** Says each trouble once. */
  #setProblem(problem: string | undefined): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    const { bot, say, onProblem } = this.#options;
    say(`telegram ${bot.connection}: ${problem ?? "messages are fetched"}`);
    onProblem?.(problem);
  }

  /** The bot's number is the first part of its token. Another bot counts its updates from elsewhere. */
  get #bot(): string {
    return this.#options.bot.token.split(":")[0] ?? "";
  }

  #readOffset(): number | undefined {
    try {
      const read = checkJson(Offset, readFileSync(this.#offsetFile, "utf8"));
      const counts = read.ok && read.value.bot === this.#bot && Date.now() - read.value.at < OFFSET_COUNTS_MS;
      return counts ? read.value.next : undefined;
    } catch {
      // Without it Telegram begins with what was not confirmed, and the Worker knows what it has.
      return undefined;
    }
  }

  async #writeOffset(next: number): Promise<void> {
    await writeAtomic(this.#offsetFile, `${JSON.stringify({ bot: this.#bot, next, at: Date.now() })}\n`);
  }
}

/** Words for a person, and how long Telegram wants to be left alone. */
function fetchTrouble({ status, text }: { status: number; text: string }): {
  words: string;
  afterMs?: number;
} {
  const read = checkJson(Refusal, text);
  const { description = "", parameters } = read.ok ? read.value : {};
  if (status === 0) return { words: `Telegram does not answer (${text})` };
  if (status === 401 || status === 404)
    return { words: "Telegram does not know this token; @BotFather shows it under /mybots" };
  if (status === 409 && /webhook/.test(description))
    return {
      words:
        'this bot\'s messages go to a webhook, so they cannot be fetched; to end the webhook press "Deliver here" in the console (Setup), or call deleteWebhook',
    };
  if (status === 409)
    return { words: "another program fetches this bot's messages; a bot can be fetched by one alone" };
  const afterMs = (parameters?.retry_after ?? 0) * 1_000;
  return { words: `Telegram refuses: ${status} ${cutText(description, 200)}`, afterMs };
}

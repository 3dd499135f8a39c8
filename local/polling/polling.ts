/** Polls the bots of all Telegram connections of the gateway, also those that the console makes or removes meanwhile. */
import { mkdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { PolledBot, type PollerOptions, pollTelegram } from "./telegram-poller.ts";

/** A connection that was just made answers after this time. Asking is a request on loopback. */
const LOOK_EVERY_MS = 5_000;
const ASK_WITHIN_MS = 10_000;

const Bots = z.object({ bots: z.array(PolledBot) });

export type PollingOptions = Omit<PollerOptions, "bot" | "onProblem"> & {
  /** The Worker's POLLING_TOKEN. */
  token: string;
  /** Told after each change. */
  onChange?(state: readonly BotState[]): void;
  lookEveryMs?: number;
};

/** @property problem why its messages do not arrive */
export type BotState = { home: string; connection: string; problem?: string | undefined };

type Running = { bot: PolledBot; state: BotState; control: AbortController; ended: Promise<void> };

export type Polling = { stop(): Promise<void> };

export function startPolling(options: PollingOptions): Polling {
  const { say, onChange, lookEveryMs = LOOK_EVERY_MS } = options;
  mkdirSync(options.dir, { recursive: true, mode: 0o700 });
  const running = new Map<string, Running>();
  const ending = new AbortController();
  const tell = () => onChange?.([...running.values()].map(({ state }) => state));

  const begin = (bot: PolledBot): Running => {
    const state: BotState = { home: bot.home, connection: bot.connection };
    const control = new AbortController();
    const onProblem = (problem: string | undefined) => {
      state.problem = problem;
      tell();
    };
    const ended = pollTelegram({ ...options, bot, onProblem }, control.signal).catch((error: unknown) => {
      // A disk that takes no offset: without one, nothing may be fetched.
      const why = error instanceof Error ? error.message : String(error);
      say(`telegram ${bot.connection}: ${why}`);
      running.delete(keyOf(bot));
      tell();
    });
    return { bot, state, control, ended };
  };

  const look = async () => {
    const bots = await askFor(options, ending.signal);
    // The Worker is being started again. What was polled is polled on.
    if (!bots) return;
    const wanted = new Map(bots.map((bot) => [keyOf(bot), bot]));
    for (const [key, one] of running) {
      if (JSON.stringify(wanted.get(key)) === JSON.stringify(one.bot)) continue;
      one.control.abort();
      // Two at once would get each other's refusals.
      await one.ended;
      running.delete(key);
    }
    for (const [key, bot] of wanted) if (!running.has(key)) running.set(key, begin(bot));
    tell();
  };

  const looking = (async () => {
    while (!ending.signal.aborted) {
      await look();
      await sleep(lookEveryMs, undefined, { signal: ending.signal }).catch(() => {});
    }
  })();

  return {
    async stop() {
      ending.abort();
      await looking;
      for (const { control } of running.values()) control.abort();
      await Promise.all([...running.values()].map(({ ended }) => ended));
    },
  };
}

async function askFor(
  { workerUrl, token }: PollingOptions,
  signal: AbortSignal,
): Promise<PolledBot[] | undefined> {
  try {
    const response = await fetch(`${workerUrl}/v1/polling`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.any([signal, AbortSignal.timeout(ASK_WITHIN_MS)]),
    });
    const read = checkJson(Bots, await response.text());
    return response.ok && read.ok ? read.value.bots : undefined;
  } catch {
    return undefined;
  }
}

function keyOf({ home, connection }: PolledBot): string {
  return `${home}~${connection}`;
}

/** For tests inside workerd of what a home says by itself: the clock that the test sets, and what conversations were told. */
import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import { alarmOf, storedTurns } from "./stopping.ts";

/** Tuesday, 09:00 in Berlin. In the future, since the platform fires alarms by the true clock. */
export const T0 = Date.UTC(2027, 10, 23, 8, 0);
export const MINUTE = 60_000;

export const ruleHome = () => env.HOME.getByName("a");

/** Timers stay real, because otherwise a promise that waits for one would wait forever. */
export function at(now: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now });
}

/** @returns what the conversation was told without a question */
export async function told(conversation: string): Promise<string[]> {
  const turns = await storedTurns(env.CONVERSATION.getByName(`a/api/${conversation}`));
  return turns.flatMap(({ origin, answer }) => (origin.event === "rule" ? [answer ?? ""] : []));
}

/** Home's alarm goes off at its time, as long as that is not after `time`. @returns how often it did */
export async function passUntil(time: number): Promise<number> {
  let count = 0;
  for (; count < 100; count += 1) {
    const next = await alarmOf(ruleHome());
    if (next === null || next > time) break;
    at(Math.max(next, Date.now()));
    await runDurableObjectAlarm(ruleHome());
  }
  at(time);
  return count;
}

/** The model's call of a tool, for `script`. */
export const make = (name: string, args: object) => ({ calls: [{ name, arguments: args }] });

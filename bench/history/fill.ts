/** A folder as after 400 days: one day of the invented home that was packed, as each of them, and today until now in its log. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { HistoryRecorder } from "@edgecall/node/history/recorder.ts";
import { messagesOf } from "./model-home.ts";

const DAY_MS = 86_400_000;
const TICK_MS = 10_000;
const DAYS = 400;

/** @param until epoch ms */
export async function fillHistory(folder: string, until: number): Promise<void> {
  const today = Math.floor(until / DAY_MS);
  let now = (today - 1) * DAY_MS;
  const clock = { now: () => now, wall: () => now };
  const options = { folder, days: DAYS + 1, maxBytes: 2 ** 40, clock, log: () => {} };
  const recorder = await HistoryRecorder.open(options);
  recorder.begin();
  for (const day of [today - 1, today])
    for (const { info, at, value } of messagesOf(day * DAY_MS, day)) {
      if (at >= until) break;
      while (now + TICK_MS <= at) {
        now += TICK_MS;
        await recorder.tick();
      }
      now = Math.max(now, at);
      recorder.came(info, value);
    }
  await recorder.stop();
  const fileOf = (day: number) => join(folder, `${new Date(day * DAY_MS).toISOString().slice(0, 10)}.day`);
  for (let day = today - DAYS; day < today - 1; day += 1) copyFileSync(fileOf(today - 1), fileOf(day));
}

/** Methods of a home about the past of its devices. */
import type { PastLine } from "@edgecall/core/protocol/past.ts";
import { topicAt } from "../../kernel/api/stubs.ts";
import type { Env } from "../../kernel/env.ts";

/** `GET /v1/devices/{device}/past`. `line` is null for events, which hold for no time. `text` says the same in English. */
export type PastView = { text: string; line: PastLine | null };

export interface HistoryApi {
  /** The last days of a reading. @returns `unknown`: there is no such device; an error of the bridge names the field */
  lastDays(
    device: string,
    reading: string,
    days: number,
  ): Promise<PastView | { error: string } | "offline" | "off" | "unknown">;
}

/** This home, as to the past. */
export const historyAt = (env: Env, home: string): HistoryApi => topicAt(env, home, "history");

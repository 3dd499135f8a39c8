/** Questions of the rest of the Worker to a home about the past. */
import type { HomePart } from "../../../kernel/home/part.ts";
import type { HistoryApi } from "../history-api.ts";
import { lastDays } from "./past.ts";

export const historyRpc: HomePart<HistoryApi> = {
  lastDays: async ({ home }, device, reading, days) => await lastDays(home, device, reading, days),
};

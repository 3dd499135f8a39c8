/** When more people are asked about an approval that nobody has decided, counted from its question. */
import { windowMs } from "@edgecall/core/test-clock.ts";

/** Everybody who may decide it. */
export const EVERYBODY_AFTER_MS = windowMs(2 * 60_000, 15_000);
/** Once more, urgently. */
export const REMIND_AFTER_MS = windowMs(5 * 60_000, 25_000);

/** When notices that a conversation did not take are handed over again. */
import { slot } from "../../../kernel/home/slot.ts";
import { RetrySchedule } from "../../../kernel/retry-schedule.ts";

/** What rules say, and a conversation did not take. */
export const noticeRetriesOf = slot(() => new RetrySchedule());

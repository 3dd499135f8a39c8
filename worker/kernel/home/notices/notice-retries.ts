/** When notices that a conversation did not take are handed over again. */

import { RetrySchedule } from "../../retry-schedule.ts";
import { slot } from "../slot.ts";

export const noticeRetriesOf = slot(() => new RetrySchedule());

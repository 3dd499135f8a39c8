/** When outcomes that a conversation did not take are handed over again. */

import { RetrySchedule } from "../../retry-schedule.ts";
import { slot } from "../slot.ts";

/** Outcomes that a conversation did not take. */
export const deliveryRetriesOf = slot(() => new RetrySchedule());

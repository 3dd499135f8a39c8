/** When questions that a conversation did not take are asked again. */

import { RetrySchedule } from "../../retry-schedule.ts";
import { slot } from "../slot.ts";

/** Questions that a conversation did not take. */
export const questionRetriesOf = slot(() => new RetrySchedule());

/** What Home remembers of other homes until it is rebuilt. */
import { slot } from "../../../kernel/home/slot.ts";
import { RetrySchedule } from "../../../kernel/retry-schedule.ts";
import type { LentNews } from "../contract.ts";

/** Calls that wait for their lender's answer. */
export const lenderRetriesOf = slot(() => new RetrySchedule());

/** The next news of a call of another home, by its id there. One request at a time tells it. */
export const lentNewsOf = slot(() => new Map<string, LentNews>());

/** The time when each lender was asked for its agents, epoch ms. */
export const lendersAskedOf = slot(() => new Map<string, number>());

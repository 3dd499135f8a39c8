/** How long a question to a person may wait. */

/** The time for a question that names no other. */
export const QUESTION_EXPIRES_MS = 10 * 60 * 1_000;
/** A week: the wire's bound. */
export const QUESTION_MAX_MS = 604_800_000;

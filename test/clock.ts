/**
 * Programs of the whole product wait for less in tests (core/test-clock.ts), unless EDGECALL_TEST_CLOCK is "true", as it is at night:
 * then their times are those that people have.
 */
export const IS_SHORT = process.env.EDGECALL_TEST_CLOCK !== "true";

/** @returns a time that a test waits for or sets: with the true clock, and with the short one */
export const byClock = <T>(truly: T, short: T): T => (IS_SHORT ? short : truly);

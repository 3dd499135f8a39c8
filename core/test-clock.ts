/**
 * Tests of the whole product wait for less. Only their bundles define EDGECALL_TEST_CLOCK (`testClock` of local/bundles.ts): no setting
 * and no environment reaches it, so what is installed or deployed always has the true times.
 */
declare const EDGECALL_TEST_CLOCK: true | undefined;

const IS_SHORT = typeof EDGECALL_TEST_CLOCK !== "undefined";

/** @returns `ms`; in a bundle of the tests `inTests`, also ms */
export function windowMs(ms: number, inTests: number): number {
  return IS_SHORT ? inTests : ms;
}

/** Tells when a report fits what was asked: exactly, but for what the device cannot set or report any finer. */

import { Quantity } from "@edgecall/core/text/quantity.ts";
import type { SlotValue } from "./entity.ts";

/** Tells whether a state says what was asked. `before` had been there before the command. */
export type Matches = (asked: unknown, reported: SlotValue, before: SlotValue | undefined) => boolean;

export const same: Matches = (asked, reported) => asked === reported;

/**
 * A number that is set in steps. What is on a step is reported exactly; of what is between two, a device takes the nearer one.
 * @param low where the steps begin, if it is not zero
 */
export function sameNumber(step: number, low = 0): Matches {
  return (asked, reported) => {
    if (typeof asked !== "number" || !(reported instanceof Quantity)) return false;
    if (isEqual(asked, reported)) return true;
    const isOnStep = [asked, asked - low].some((one) => isWhole(one / step));
    return !isOnStep && Math.abs(asked - reported.value) <= step / 2 + 1e-9;
  };
}

/** Whole numbers have to be equal. Devices calculate others as 32-bit floats, so these may differ that much. */
function isEqual(asked: number, { value, digits }: Quantity): boolean {
  if (Number.isInteger(asked) && /^-?\d+(?:\.0*)?$/.test(digits))
    return BigInt(asked) === BigInt(digits.replace(/\..*/, ""));
  return asked === value || Math.fround(asked) === Math.fround(value);
}

function isWhole(value: number): boolean {
  return Math.abs(value - Math.round(value)) < 1e-6;
}

/** Percents of a device's own scale. Half a percent more or less is the same percent: another scale inside the device rounds. */
export function sameOnScale(scale: number): Matches {
  return (sent, reported) =>
    typeof sent === "number" &&
    reported instanceof Quantity &&
    Math.abs(reported.own - sent) <= Math.max(scale / 200, 1e-6);
}

/** A colour temperature that is sent and reported in mireds. */
export const sameMireds: Matches = (sent, reported) =>
  reported instanceof Quantity &&
  [Math.round(reported.own), Math.floor(reported.own)].some((one) => one === sent);

/** The same in kelvin. A lamp counts in mireds, also where it does not say so: 3000 K are 333 of them, which are 3003 K. */
export const sameKelvin: Matches = (asked, reported) => {
  if (typeof asked !== "number" || !(reported instanceof Quantity)) return false;
  const mireds = 1_000_000 / asked;
  const told = Math.round(1_000_000 / reported.value);
  return asked === reported.value || [Math.floor(mireds), Math.round(mireds)].includes(told);
};

/** The same through an integration that rounds it once more: two percent beside it, if it has moved that way. */
export const nearKelvin: Matches = (asked, reported, before) => {
  if (sameKelvin(asked, reported, before)) return true;
  if (typeof asked !== "number" || !(reported instanceof Quantity)) return false;
  return Math.abs(reported.value - asked) <= asked * 0.02 && hasMoved(asked, reported.value, before);
};

/** True unless it stands still, or went away from what was asked. */
function hasMoved(asked: number, value: number, before: SlotValue | undefined): boolean {
  return !(before instanceof Quantity) || Math.sign(value - before.own) === Math.sign(asked - before.own);
}

/**
 * A position of what moves, in the device's own range. A motor may stop some percents beside it, if it has moved that way: one that
 * stands still has not obeyed.
 */
export function samePosition(low: number, high: number, percents = 1): Matches {
  return (sent, reported, before) => {
    if (typeof sent !== "number" || !(reported instanceof Quantity)) return false;
    const distance = Math.abs(reported.own - sent);
    if (distance < 1e-6) return true;
    if (distance * 100 > percents * Math.abs(high - low) + 1e-6) return false;
    const isThere = before instanceof Quantity && before.own === sent;
    return isThere || hasMoved(sent, reported.own, before);
  };
}

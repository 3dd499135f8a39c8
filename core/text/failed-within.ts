/** Calls that a device made for an answer, and that were denied or failed. */
import { counted } from "./counted.ts";

type InnerCall = { status: string; error_type?: string | undefined };

/** @returns "1 call on the device was denied", "2 of 3 calls on the device failed"; undefined: none */
export function failedWithin(calls: readonly InnerCall[] = []): string | undefined {
  const failed = calls.filter(({ status }) => status === "error");
  if (failed.length === 0) return undefined;
  const isDenied = failed.every(({ error_type }) => error_type === "permission_denied");
  const of = failed.length === calls.length ? "" : ` of ${calls.length}`;
  const which = of === "" ? counted(failed.length, "call") : `${failed.length}${of} calls`;
  return `${which} on the device ${isDenied ? `${failed.length === 1 ? "was" : "were"} denied` : "failed"}`;
}

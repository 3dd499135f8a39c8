/** A call of a hosted device's action while it is under way. */
import type { Refusal } from "@edgecall/core/protocol/frames.ts";
import { errorText } from "@edgecall/core/tools/errors.ts";
import type { Confirmed } from "./corrections.ts";
import { failed, type Outcome } from "./reports.ts";

/** The reason why its wait is over before its time: a person cancelled it, or a later call stopped the device. */
export type Interruption = "cancelled" | "stopped";

/** Hears what becomes of a call: Home, or the part of the bridge whose command it is. */
export type CallSink = {
  /** Its device may have it. */
  accepted(call: DeviceCall): void;
  /** Nothing was sent. */
  refused(call: DeviceCall, code: Refusal, message: string): void;
  /** It has ended. A second report takes the place of the first one. @param report the outcome as Home reads it */
  reported(call: DeviceCall, outcome: Outcome, report: string): void;
};

export type DeviceCall = {
  readonly id: string;
  readonly agent: string;
  /** Of the device. */
  readonly key: string;
  readonly action: string;
  readonly parameters: Record<string, unknown>;
  /** The hash of what a person has allowed the device to do; undefined: Home names none. */
  readonly allow: string | undefined;
  readonly route: string | undefined;
  /** It is a command of the bridge's own. */
  readonly own?: true;
  readonly sink: CallSink;
  /** Monotonic ms, as `began`. */
  readonly deadline: number;
  readonly began: number;
  interrupted: Interruption | undefined;
  /** Ends what it waits for. */
  wake: () => void;
};

/** For a command that was not confirmed in time. */
export type Later = {
  /** @returns what its device has reported since, if it is what was asked for */
  look(): string | undefined;
  /** It counts when the device has not taken it back after so long (ms). */
  settleMs: number;
};

/**
 * The end of a call. A refusal says that nothing was sent.
 * @property later it was not confirmed in time @property confirmed its device reported what was asked for
 */
export type Ended =
  | { report: Outcome; later?: Later; confirmed?: Confirmed }
  | { refuse: Refusal; message: string };

/** Of a call that was interrupted before anything was sent. */
export function notRun({ action, interrupted }: DeviceCall): Outcome {
  const words =
    interrupted === "stopped"
      ? "Error: Nothing was sent: a later call stopped the device before this one had its turn."
      : errorText.cancelled(action, false);
  const { type, payload } = failed(action, "execution_failed", words);
  return { type, payload: { ...payload, not_run: true } };
}

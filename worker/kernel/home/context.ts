/** What a home's object is to its parts, which are functions over it. What they keep they reach by slots (slot.ts). */
import type { Tracer } from "@edgecall/core/trace/tracer.ts";
import type { Env } from "../env.ts";
import type { HomeFeature } from "./feature.ts";

export type HomeContext = {
  readonly ctx: DurableObjectState;
  readonly env: Env;
  /** The home's id. */
  readonly name: string;
  /** Undefined: nothing is traced. */
  readonly tracer: Tracer | undefined;
  readonly alarm: Alarm;
  readonly features: readonly HomeFeature[];
};

/** alarm.ts implements it. */
export interface Alarm {
  /** Sets the alarm to the time at which the first part is due. */
  arm(): Promise<void>;
  /** Sets the alarm no later than `time` (epoch ms), without asking the parts. */
  wakeBy(time: number): Promise<void>;
  /** Does what is due, and sets the alarm anew. */
  onAlarm(home: HomeContext): Promise<void>;
}

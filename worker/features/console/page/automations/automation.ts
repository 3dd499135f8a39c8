/** A rule that acts, as the API gives it. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import { say, type TextKey } from "../texts/say.ts";

export type Automation = AnswerOf<"GET /v1/automations">["automations"][number];

type Status = NonNullable<Automation["now"]>;

/** The bridge has the oldest first. Their times tell no order: a bridge may begin without a clock. */
export function newestRuns({ now }: Pick<Automation, "now">): Status["runs"] {
  return (now?.runs ?? []).toReversed();
}

const STATES: Record<Status["state"], TextKey> = {
  armed: "actArmed",
  waiting: "actWaiting",
  unknown: "actUnknown",
  running: "isRunning",
  resting: "actResting",
  stopped: "stopped",
};

/** The rule's state in words: running, or waiting for something. @param clock writes a time of day */
export function stateOf(
  { status, now }: Pick<Automation, "status" | "now">,
  clock: (at: number) => string,
): string {
  if (status === "paused") return say("actPaused");
  if (!now) return say("notKnown");
  return now.over_at === undefined ? say(STATES[now.state]) : say("actReadyAt", { time: clock(now.over_at) });
}

/** The card without its question, which names the rule: a warning may stand before it. */
export function wordsOf(card: readonly string[], name: string): string[] {
  return card.filter((line, at) => at > 1 || !line.includes(name));
}

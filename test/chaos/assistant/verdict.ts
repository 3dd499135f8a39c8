/** Judges commands to devices of Home Assistant: what was told of each, and what its device was told to do. Pure. */
import type { SeenTurn } from "../client.ts";
import type { PlannedCommand } from "./plan.ts";

/** @property turn undefined: it was never answered @property called times that the device was told to switch on @property changed times that it did */
export type CommandRecord = PlannedCommand & {
  turn: SeenTurn | undefined;
  called: number;
  changed: number;
};

export const COMMAND_VIOLATIONS = {
  lost: "no answer",
  open: "a call without an outcome",
  twice: "a command that reached its device twice",
  claimed: "told as done, and the device did not do it",
  denied: "told as not sent, and the device was told",
} as const;
type CommandViolationKind = keyof typeof COMMAND_VIOLATIONS;
export type CommandViolation = { kind: CommandViolationKind; k: number; what: string };

/** With these nothing is said of what happened. */
const UNSURE = ["outcome_unknown", "timeout"];

export function judgeCommand({ k, fault, turn, called, changed }: CommandRecord): CommandViolation[] {
  const found: CommandViolation[] = [];
  const [call] = turn?.calls ?? [];
  const said = call
    ? `(${call.error_type ?? call.status}) '${(call.error ?? call.result ?? "").slice(0, 200)}'`
    : "";
  const say = (kind: CommandViolationKind, what: string) =>
    found.push({ kind, k, what: `${fault}: ${what}` });
  if (called > 1) say("twice", `its device was told ${called} times`);
  if (!turn) say("lost", "it has no answer");
  if (turn && (!call || call.status === "pending")) say("open", `its turn ended as ${turn.status}`);
  if (call?.status === "success" && changed === 0) say("claimed", said);
  const isDenied = call?.status === "error" && !UNSURE.includes(call.error_type ?? "");
  if (isDenied && called > 0) say("denied", said);
  return found;
}

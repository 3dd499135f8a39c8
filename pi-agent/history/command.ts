/** `past`: a question of the home about this agent's own readings. */
import { notForGuests } from "../calls/authority.ts";
import type { CommandKind } from "../calls/command-kind.ts";
import { succeeded } from "../link/reports.ts";
import type { AgentHistory } from "./agent-history.ts";

const OFF = `this agent keeps no readings: its agent.toml names none, as in [history] readings = ["temperature"]`;

/** @param history undefined: none are kept */
export function pastCommand(history: Pick<AgentHistory, "answer" | "problem"> | undefined): CommandKind {
  return {
    kind: "look",
    problem: (command) => notForGuests(command) ?? history?.problem(command.payload),
    run: async ({ command }) =>
      succeeded({ past: history ? await history.answer(command.payload) : { error: OFF } }),
  };
}

/** Commands as an agent reads them: their text is composed here, and published by the bridge as it is. */
import type { Caller } from "@edgecall/core/protocol/mqtt.ts";
import type { Agents } from "./agents.ts";
import type { CallFlags, LedgerCall } from "./ledger.ts";

/** A `cancel` or an `ack` that is older than this does no good any more. */
const NOTICE_LIFE_MS = 60_000;

export type Written = Pick<LedgerCall, "agent" | "command" | "payload" | "id" | "caller" | "n"> & {
  flags?: CallFlags;
};

export class CommandWriter {
  readonly #agents: Agents;
  #lastN = 0;

  constructor(agents: Agents) {
    this.#agents = agents;
  }

  /** Rises with each command, over restarts too, since the clock does; two in one millisecond differ by one. */
  nextN(now: number): number {
    this.#lastN = Math.max(this.#lastN + 1, now);
    return this.#lastN;
  }

  /** The command's text. A foreign agent gets EvoClaw's fields and no others. */
  compose(command: Written, expiresInMs: number, now: number): string {
    const base = { command: command.command, payload: command.payload, request_id: command.id };
    if (this.#agents.features(command.agent).length === 0) return JSON.stringify(base);
    const left = Math.max(0, Math.round(expiresInMs));
    const { watch, tainted } = command.flags ?? {};
    return JSON.stringify({
      ...base,
      ...(watch && { watch }),
      ...(tainted && { tainted }),
      expires_in_ms: left,
      expires_at: now + left,
      caller: command.caller,
      n: command.n,
    });
  }

  /** A command that nobody answers. @returns undefined: the agent does not know the word */
  notice(
    agent: string,
    command: "cancel" | "ack" | "watch" | "upload",
    payload: Record<string, unknown>,
    caller: Caller,
    now: number,
  ): string | undefined {
    if (!this.#agents.features(agent).includes(command)) return undefined;
    const notice = { agent, command, payload, id: crypto.randomUUID(), caller, n: this.nextN(now) };
    return this.compose(notice, NOTICE_LIFE_MS, now);
  }
}

/** Commands as an agent reads them: their text is composed here, and published by the bridge as it is. */
import type { Caller } from "@edgecall/core/protocol/mqtt.ts";
import { stamped } from "@edgecall/core/protocol/signing.ts";
import type { HomeContext } from "../context.ts";
import type { CallFlags, LedgerCall } from "./ledger.ts";

/** A `cancel` or an `ack` that is older than this does no good any more. */
const NOTICE_LIFE_MS = 60_000;

export type Written = Pick<LedgerCall, "agent" | "command" | "payload" | "id" | "caller" | "n"> & {
  flags?: CallFlags;
};

/** What is said to an agent in passing. */
export type Notice = "cancel" | "ack" | "watch" | "upload" | "gateway";

export class CommandWriter {
  readonly #home: Pick<HomeContext, "agents" | "keys" | "gatewayKey">;
  #lastN = 0;

  constructor(home: Pick<HomeContext, "agents" | "keys" | "gatewayKey">) {
    this.#home = home;
  }

  /** Rises with each command, over restarts too, since the clock does; two in one millisecond differ by one. */
  nextN(now: number): number {
    this.#lastN = Math.max(this.#lastN + 1, now);
    return this.#lastN;
  }

  /**
   * The command's text. A foreign agent gets EvoClaw's fields and no others; for one whose key is on record it names
   * the run that it is for, and is signed.
   */
  async compose(command: Written, expiresInMs: number, now: number): Promise<string> {
    const { agents, keys, gatewayKey } = this.#home;
    const { agent, n } = command;
    const base = { command: command.command, payload: command.payload, request_id: command.id };
    const boot_id = keys.bootOf(agent);
    // Born a moment ago, one of ours has told no features yet; with a key it takes nothing that is not signed.
    if (boot_id === undefined && agents.features(agent).length === 0) return JSON.stringify(base);
    const left = Math.max(0, Math.round(expiresInMs));
    const { watch, tainted } = command.flags ?? {};
    const ours = {
      ...base,
      ...(watch && { watch }),
      ...(tainted && { tainted }),
      expires_in_ms: left,
      expires_at: now + left,
      caller: command.caller,
    };
    if (boot_id === undefined) return JSON.stringify({ ...ours, n });
    return await gatewayKey.seal(agent, stamped(JSON.stringify(ours), { boot_id, n }));
  }

  /** A command that nobody answers. @returns undefined: the agent does not know the word */
  async notice(
    agent: string,
    command: Notice,
    payload: Record<string, unknown>,
    caller: Caller,
    now: number,
  ): Promise<string | undefined> {
    if (!this.#home.agents.features(agent).includes(command)) return undefined;
    const notice = { agent, command, payload, id: crypto.randomUUID(), caller, n: this.nextN(now) };
    return await this.compose(notice, NOTICE_LIFE_MS, now);
  }
}

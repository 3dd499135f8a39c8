/** Whether a command is one that this device obeys: said by its gateway, to this run of it, and not before. */
import type { Command } from "@edgecall/core/protocol/mqtt.ts";
import { ReplayWindow } from "@edgecall/core/protocol/replays.ts";
import { signedTextVerifier } from "./identity.ts";

export type Verdict =
  | { obey: true; repeat: boolean }
  /** In words. */
  | { obey: false; why: string };

/**
 * A command names the run of the agent that it is for (`boot_id`, random, told in the signed birth). So what was
 * recorded before a restart counts for nothing after it, and the counters that were seen need not be on disk:
 * there is no file that a power cut could shorten.
 */
export class CommandVerifier {
  readonly #place: { agent: string; kind: "commands" };
  readonly #bootId: string;
  readonly #isGateways: ReturnType<typeof signedTextVerifier>;
  readonly #seen = new ReplayWindow();

  /** @throws IdentityError when `gatewayKey` is no key */
  constructor(options: { agentId: string; bootId: string; gatewayKey: string }) {
    this.#place = { agent: options.agentId, kind: "commands" };
    this.#bootId = options.bootId;
    this.#isGateways = signedTextVerifier(options.gatewayKey);
  }

  /** Before anything in the text is believed, or even read. */
  isSigned(text: string): boolean {
    return this.#isGateways(this.#place, text);
  }

  /** @param command read from a text that is signed */
  judge({ boot_id, n, request_id }: Command): Verdict {
    if (boot_id !== this.#bootId) return { obey: false, why: "it is for another run of this agent" };
    if (n === undefined) return { obey: false, why: "n: missing" };
    const freshness = this.#seen.take(n, request_id);
    if (freshness === "old") return { obey: false, why: "it is older than what is remembered here" };
    return { obey: true, repeat: freshness === "repeat" };
  }
}

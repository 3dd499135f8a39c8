/** Checks that a command comes from this device's gateway, is for its present run, and did not come before. */
import type { Command } from "@edgecall/core/protocol/mqtt.ts";
import { ReplayWindow } from "@edgecall/core/protocol/replays.ts";
import type { GatewaySession } from "./gateway-session.ts";
import { signedTextVerifier } from "./identity.ts";

export type Verdict =
  | { obey: true; repeat: boolean }
  /** `why`: in words, for the answer and the log. */
  | { obey: false; why: string };

/** By the gateway's key, or by that of its session with this run. */
export type Proof = "signature" | "session";

/**
 * A command names the run of the agent that it is for (`boot_id`, random, published in the signed birth). So a recording
 * from before a restart is useless after it, and the counters that were seen need not be on disk: there is no file that a
 * power cut could shorten.
 */
export class CommandVerifier {
  readonly #place: { agent: string; kind: "commands" };
  readonly #bootId: string;
  readonly #isFromGateway: ReturnType<typeof signedTextVerifier>;
  readonly #session: GatewaySession;
  readonly #seen = new ReplayWindow();

  /** @throws IdentityError when `gatewayKey` is no key */
  constructor(options: { agentId: string; bootId: string; gatewayKey: string; session: GatewaySession }) {
    this.#place = { agent: options.agentId, kind: "commands" };
    this.#bootId = options.bootId;
    this.#isFromGateway = signedTextVerifier(options.gatewayKey);
    this.#session = options.session;
  }

  /** Tells how the gateway authenticated a text; undefined: not at all. Call it before the text is parsed. */
  proofOf(text: string): Proof | undefined {
    if (this.#session.isFromGateway(this.#place, text)) return "session";
    return this.#isFromGateway(this.#place, text) ? "signature" : undefined;
  }

  /** @param command from a text with that proof */
  check(command: Command, proof: Proof): Verdict {
    const { boot_id, n, request_id } = command;
    if (boot_id !== this.#bootId) return { obey: false, why: "it is for another run of this agent" };
    if (n === undefined) return { obey: false, why: "n: missing" };
    const freshness = this.#seen.accept(n, request_id);
    if (freshness === "old") return { obey: false, why: "it is older than what is remembered here" };
    this.#session.onCommand(command, proof === "signature");
    return { obey: true, repeat: freshness === "repeat" };
  }
}

/** The session of this run with its gateway (core/protocol/session.ts). */
import type { Command } from "@edgecall/core/protocol/mqtt.ts";
import { type SessionKeys, type SessionParties, withMac } from "@edgecall/core/protocol/session.ts";
import type { Place } from "@edgecall/core/protocol/signing.ts";
import { type MacKey, OwnHalf } from "@edgecall/node/session.ts";

export class GatewaySession {
  readonly #own = new OwnHalf();
  readonly #parties: Omit<SessionParties, "agentHalf" | "gatewayHalf">;
  #gatewayHalf: string | undefined;
  #keys: SessionKeys<MacKey> | undefined;
  /** The counter of the newest command. Older ones change nothing. */
  #newest = -1;

  constructor(parties: Omit<SessionParties, "agentHalf" | "gatewayHalf">) {
    this.#parties = parties;
  }

  /** This agent's half, for its presence. */
  get half(): string {
    return this.#own.publicKey;
  }

  /**
   * The gateway sent a command to this run. A signed one that is newer than all others decides: without a half it ends the
   * session, since the gateway, or its bridge, may know none.
   */
  onCommand({ n = -1, session: gatewayHalf }: Pick<Command, "n" | "session">, isSigned: boolean): void {
    if (n <= this.#newest) return;
    this.#newest = n;
    if (!isSigned || gatewayHalf === this.#gatewayHalf) return;
    this.#gatewayHalf = gatewayHalf;
    this.#keys =
      gatewayHalf === undefined
        ? undefined
        : this.#own.keysWith({ ...this.#parties, agentHalf: this.half, gatewayHalf });
  }

  isFromGateway(place: Place, text: string): boolean {
    return this.#keys?.commands.isOn(place, text) === true;
  }

  /** @param body a stamped text @returns the text to publish; undefined: there is no session */
  seal(place: Place, body: string): string | undefined {
    const keys = this.#keys;
    return keys && withMac(body, keys.reports.mac(place, body), keys.bridge.mac(place, body));
  }
}

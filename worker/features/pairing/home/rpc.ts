/** What the rest of the Worker asks a home about pairing. */

import { RpcTarget } from "cloudflare:workers";
import type { HomeAccess } from "../../../kernel/home/access.ts";
import { isBlank } from "../../../kernel/migrate.ts";
import type { CodeState, NewCode, PairBody, PairResult } from "../contract.ts";
import type { PairingApi } from "../pairing-api.ts";
import { deviceCodesOf } from "./device-codes.ts";
import { codeState, pairDevice } from "./device-pairing.ts";

export class PairingRpc extends RpcTarget implements PairingApi {
  readonly #at: HomeAccess;

  constructor(at: HomeAccess) {
    super();
    this.#at = at;
  }

  async makeDeviceCode(wanted: NewCode): Promise<{ end: string; expiresAt: number } | undefined> {
    return await deviceCodesOf(this.#at.home).make(wanted, Date.now());
  }

  async deviceCode(end: string): Promise<CodeState & { online?: boolean }> {
    return codeState(this.#at.home, end);
  }

  async pairDevice(body: PairBody, end: string): Promise<PairResult> {
    return this.#at.isBlank
      ? { ok: false, problem: "wrong_code" }
      : await pairDevice(this.#at.home, body, end);
  }
}

/** What the rest of the Worker asks a home about pairing. */

import { HomePart } from "../../../kernel/home/part.ts";
import type { CodeState, NewCode, PairBody, PairResult } from "../contract.ts";
import type { PairingApi } from "../pairing-api.ts";
import { deviceCodesOf } from "./device-codes.ts";
import { codeState, pairDevice } from "./device-pairing.ts";

export class PairingRpc extends HomePart implements PairingApi {
  async makeCode(wanted: NewCode): Promise<{ end: string; expiresAt: number } | undefined> {
    return await deviceCodesOf(this.home).make(wanted, Date.now());
  }

  async code(end: string): Promise<CodeState & { online?: boolean }> {
    return codeState(this.home, end);
  }

  async pair(body: PairBody, end: string): Promise<PairResult> {
    return this.isBlank ? { ok: false, problem: "wrong_code" } : await pairDevice(this.home, body, end);
  }
}

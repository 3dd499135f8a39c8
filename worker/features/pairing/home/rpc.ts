/** What the rest of the Worker asks a home about pairing. */

import type { HomePart } from "../../../kernel/home/part.ts";
import type { PairingApi } from "../pairing-api.ts";
import { deviceCodesOf } from "./device-codes.ts";
import { codeState, pairDevice } from "./device-pairing.ts";

export const pairingRpc: HomePart<PairingApi> = {
  makeCode: async ({ home }, wanted) => await deviceCodesOf(home).make(wanted, Date.now()),
  code: async ({ home }, end) => codeState(home, end),
  pair: async (at, body, end) =>
    at.isBlank ? { ok: false, problem: "wrong_code" } : await pairDevice(at.home, body, end),
};

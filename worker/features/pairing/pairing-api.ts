/** Methods of a home about pairing. */
import type { CodeState, NewCode, PairBody, PairResult } from "./contract.ts";

export interface PairingApi {
  /** @returns undefined: too many codes are open */
  makeDeviceCode(wanted: NewCode): Promise<{ end: string; expiresAt: number } | undefined>;
  deviceCode(end: string): Promise<CodeState & { online?: boolean }>;
  pairDevice(body: PairBody, end: string): Promise<PairResult>;
}

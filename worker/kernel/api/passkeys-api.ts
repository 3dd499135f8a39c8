/** Methods of a home about passkeys. */
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import type { Viewer } from "./may-see.ts";
import type {
  Challenge,
  NewPasskey,
  PasskeyView,
  Place,
  Proof,
  Refusal,
  Registration,
  Shown,
} from "./passkeys.ts";

type Caller = AuditLine["caller"];

/**
 * A request that widens rights.
 * @property what its hash @property about it in words, and bound like the hash
 * @property isStrict refused also while nobody of the home has a passkey
 */
export type RequestToConfirm = {
  caller: Caller;
  place: Place | undefined;
  what: string;
  about: string;
  proof: Proof | undefined;
  isStrict?: boolean;
};

/** How somebody showed more than a session. @property code as it was typed */
export type Showing = { shown: Shown } | { code: string };

export interface PasskeysApi {
  /** @param person absent: everybody's */
  list(person?: string): Promise<PasskeyView[]>;
  /** Accounts of chat apps that may approve. @property trusted their taps confirm dangerous calls too */
  taps(): Promise<Array<{ account: string; trusted: boolean }>>;
  trustTap(account: string, trusted: boolean, caller: Caller): Promise<boolean>;
  /** Refuses a request unless it is confirmed, once anybody of the home has a passkey. @returns `byPasskey` false: nobody has one */
  confirmRequest(request: RequestToConfirm): Promise<{ ok: true; byPasskey: boolean } | Refusal>;
  /** The challenge for a request. */
  challengeRequest(
    request: Pick<RequestToConfirm, "caller" | "what" | "about"> & { place: Place },
  ): Promise<Challenge | Refusal>;
  /** The challenge for an answer to a question. @param keep the hash of what else the answer gives */
  challengeAnswer(
    id: string,
    answer: { answer: string; keep: string },
    viewer: Viewer,
    place: Place,
  ): Promise<Challenge | Refusal>;
  begin(person: string, place: Place, showing: Showing): Promise<Registration | Refusal>;
  register(
    made: NewPasskey,
    place: Place,
    caller: Caller,
  ): Promise<{ ok: true; passkey: PasskeyView } | Refusal>;
  /**
   * @param anybodys an owner may remove another person's
   * @param showing undefined: nothing more than a session, which removes only one that waits
   */
  remove(
    id: string,
    caller: Caller,
    anybodys: boolean,
    showing: Showing | undefined,
  ): Promise<{ ok: true } | Refusal>;
  /** @returns undefined: this person has no such passkey */
  rename(id: string, name: string, caller: Caller): Promise<PasskeyView | undefined>;
  /** @returns undefined: too many are open */
  makeCode(person: string): Promise<{ code: string; expiresAt: number } | undefined>;
}

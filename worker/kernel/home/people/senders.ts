/**
 * Senders of chat apps: strangers who ask to be admitted, and those whom an owner admitted. Rows of Home. A stranger gets a
 * code and gives it to an owner; the code alone opens nothing.
 */

import { cutText } from "@edgecall/core/text/cut.ts";
import type {
  AccessRequest,
  AdmittedSender,
  PairingRequest,
  SenderKey,
  UnknownSender,
} from "../../api/senders.ts";
import { randomCode } from "../../random-code.ts";
import type { Role } from "../../settings/chat.ts";
import { SqlStore } from "../../sql-store.ts";
import { slot } from "../slot.ts";

/** An owner has so long to approve a request. */
const REQUEST_LIFE_MS = 3_600_000;
/** Open requests of all connections. Beyond that, a stranger gets no code until one expires. */
const REQUESTS_MAX = 50;
/** A stranger who goes on writing gets the code again after this. */
const TELL_AGAIN_MS = 60_000;
/** Owners are notified of so many requests an hour, over all connections: strangers could make noise with more. */
const NOTICES_MAX = 5;
const SENDERS_MAX = 1_000;
const NAME_MAX = 64;
const CODE_LENGTH = 6;

export class SenderStore extends SqlStore {
  roleOf({ channel, connection, sender }: SenderKey): Role | undefined {
    return this.sql.first<{ role: Role }>`SELECT role FROM sender
      WHERE channel = ${channel} AND connection = ${connection} AND sender = ${sender}`?.role;
  }

  /** @returns undefined: the stranger got the code a moment ago, or too many requests are open */
  requestAccess(stranger: UnknownSender, now: number): AccessRequest | undefined {
    const { connection, channel, sender, name } = stranger;
    this.sql.exec("DELETE FROM pairing WHERE asked_at < ?", now - REQUEST_LIFE_MS);
    const known = this.sql.first<{ code: string; told_at: number }>`SELECT code, told_at FROM pairing
      WHERE channel = ${channel} AND connection = ${connection} AND sender = ${sender}`;
    if (known) {
      if (known.told_at + TELL_AGAIN_MS > now) return undefined;
      this.sql.exec("UPDATE pairing SET told_at = ? WHERE code = ?", now, known.code);
      return { code: known.code, name: plainName(name) };
    }
    const { count } = this.sql.one<{ count: number }>("SELECT COUNT(*) AS count FROM pairing");
    if (count >= REQUESTS_MAX) return undefined;
    const code = randomCode(CODE_LENGTH);
    this.sql.insert("OR REPLACE INTO pairing", {
      code,
      connection,
      channel,
      sender,
      name: plainName(name),
      asked_at: now,
      told_at: now,
    });
    const waiting = count + 1;
    return {
      code,
      name: plainName(name),
      ...(waiting <= NOTICES_MAX && { notice: { isLast: waiting === NOTICES_MAX } }),
    };
  }

  requests(now: number): PairingRequest[] {
    return this.sql.all<PairingRequest>`SELECT code, connection, channel, sender, name, asked_at
      FROM pairing WHERE asked_at >= ${now - REQUEST_LIFE_MS} ORDER BY asked_at`;
  }

  /** Admits a stranger. @returns undefined: there is no such code (any more), or no room */
  approve(code: string, role: Role, by: string, now: number): AdmittedSender | undefined {
    const request = this.requests(now).find((one) => one.code === code.toUpperCase());
    const { count } = this.sql.one<{ count: number }>("SELECT COUNT(*) AS count FROM sender");
    if (!request || count >= SENDERS_MAX) return undefined;
    const { connection, channel, sender, name } = request;
    this.sql.exec("DELETE FROM pairing WHERE code = ?", request.code);
    this.sql.insert("OR REPLACE INTO sender", {
      connection,
      sender,
      channel,
      name,
      role,
      approved_by: by,
      approved_at: now,
    });
    return { connection, channel, sender, name, role, approved_by: by, approved_at: now };
  }

  /** @returns false: there is no such code */
  dismiss(code: string): boolean {
    return this.sql.all("DELETE FROM pairing WHERE code = ? RETURNING code", code.toUpperCase()).length > 0;
  }

  senders(): AdmittedSender[] {
    return this.sql.all<AdmittedSender>(
      "SELECT connection, channel, sender, name, role, approved_by, approved_at FROM sender ORDER BY approved_at",
    );
  }

  /** @returns false: there is no such sender */
  remove({ channel, connection, sender }: SenderKey): boolean {
    const rows = this.sql.exec`DELETE FROM sender WHERE channel = ${channel} AND connection = ${connection}
      AND sender = ${sender} RETURNING sender`;
    return rows.toArray().length > 0;
  }
}

/** A stranger chose the name: it is cut to one short line. */
function plainName(name: string): string {
  return cutText(name.replace(/[\p{C}\s]+/gu, " ").trim(), NAME_MAX);
}

export const sendersOf = slot(({ ctx }) => new SenderStore(ctx.storage));

/**
 * Codes by which a new device joins: rows of Home. An administrator makes one, and a device uses it once. Only that device
 * may show it again, until it expires, to learn whether the gateway sees it.
 *
 * A code is `home-AAABBBBBBBBB`. AAA finds its row, so wrong tries count against that one code and nobody can
 * use up those of others. The nine characters after it are the secret, 45 bits; the row has only its hash.
 */

import { sha256Hex } from "@edgecall/core/encoding.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import { slot } from "../../../kernel/home/slot.ts";
import { randomCode } from "../../../kernel/random-code.ts";
import { SqlStore } from "../../../kernel/sql-store.ts";
import { BrokerForDevice, type CodeState, type NewCode } from "../contract.ts";

/** Time for a person to walk to the device. */
const LIFE_MS = 10 * 60_000;
/** Guesses per code, of 2^45 possible secrets. */
export const TRIES_MAX = 5;
/** Open codes of a home, so that an administrator's script cannot fill the object. */
const OPEN_MAX = 20;
const FINDER_LENGTH = 3;
const SECRET_LENGTH = 9;

type CodeRow = {
  finder: string;
  secret_hash: string;
  agent: string | null;
  broker: string | null;
  tries: number;
  expires_at: number;
  used_by: string | null;
  used_key: string | null;
};

/** A code whose secret was right. */
type CheckedCode = {
  /** The agent that it is for; null: any. */
  agent: string | null;
  broker: BrokerForDevice | null;
  used: { agent: string; publicKey: string } | null;
};

class DeviceCodes extends SqlStore {
  /** A code may hold the login of a broker, so it is deleted as soon as it expires. */
  deleteExpired(now: number): void {
    this.sql.exec("DELETE FROM device_code WHERE expires_at <= ?", now);
  }

  /** @returns the end of the code, and when it expires (epoch ms); undefined: too many are open */
  async make(
    { agent, broker, by }: NewCode,
    now: number,
  ): Promise<{ end: string; expiresAt: number } | undefined> {
    const end = randomCode(FINDER_LENGTH + SECRET_LENGTH);
    const hash = await hashOf(end);
    this.deleteExpired(now);
    const { count } = this.sql.one<{ count: number }>("SELECT COUNT(*) AS count FROM device_code");
    if (count >= OPEN_MAX) return undefined;
    const expiresAt = now + LIFE_MS;
    this.sql.insert("OR REPLACE INTO device_code", {
      finder: finderOf(end),
      secret_hash: hash,
      agent: agent ?? null,
      broker: broker === undefined ? null : JSON.stringify(broker),
      made_by: by,
      expires_at: expiresAt,
    });
    return { end, expiresAt };
  }

  /** Checks a code, and counts a wrong one. @returns undefined: wrong, expired, or tried too often */
  async check(end: string, now: number): Promise<CheckedCode | undefined> {
    const hash = await hashOf(end);
    const row = this.#row(finderOf(end), now);
    if (!row || row.tries >= TRIES_MAX) return undefined;
    // The time of comparing two hashes tells an attacker nothing of use.
    if (row.secret_hash !== hash) {
      this.sql.exec("UPDATE device_code SET tries = tries + 1 WHERE finder = ?", row.finder);
      return undefined;
    }
    const { agent, used_by, used_key } = row;
    const used = used_by !== null && used_key !== null ? { agent: used_by, publicKey: used_key } : null;
    const broker = row.broker === null ? undefined : checkJson(BrokerForDevice, row.broker);
    return { agent, broker: broker?.ok ? broker.value : null, used };
  }

  /** From now on the code is this device's. */
  use(end: string, agent: string, publicKey: string): void {
    this.sql.exec`UPDATE device_code SET used_by = ${agent}, used_key = ${publicKey}
      WHERE finder = ${finderOf(end)}`;
  }

  release(end: string): void {
    this.sql.exec("UPDATE device_code SET used_by = NULL, used_key = NULL WHERE finder = ?", finderOf(end));
  }

  stateOf(end: string, now: number): CodeState {
    const row = this.#row(finderOf(end), now);
    if (!row) return { state: "expired" };
    if (row.used_by !== null) return { state: "used", agent: row.used_by };
    return { state: row.tries >= TRIES_MAX ? "expired" : "open" };
  }

  #row(finder: string, now: number): CodeRow | undefined {
    return this.sql.first<CodeRow>`SELECT * FROM device_code WHERE finder = ${finder}
      AND expires_at > ${now}`;
  }
}

function finderOf(end: string): string {
  return end.slice(0, FINDER_LENGTH);
}

async function hashOf(end: string): Promise<string> {
  return await sha256Hex(end);
}

export const deviceCodesOf = slot(({ ctx }) => new DeviceCodes(ctx.storage));

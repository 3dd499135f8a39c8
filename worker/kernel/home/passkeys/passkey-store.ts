/** The rows of passkeys, of the challenges that wait for one, and of the codes that let a first one be made. */

import { toBase64Url } from "@edgecall/core/encoding.ts";
import type { Algorithm, Passkey } from "@edgecall/core/passkeys/passkey.ts";
import type { PasskeyView, Shown } from "../../api/passkeys.ts";
import { SqlStore } from "../../sql-store.ts";
import { slot } from "../slot.ts";

/** A person has a few devices, and a home a few people. */
export const PASSKEYS_OF_PERSON = 10;
const PASSKEYS_OF_HOME = 200;
/** Challenges of one person that are open at once. The oldest go first. */
const OPEN_CHALLENGES = 10;
const OPEN_CODES = 5;
const NONCE_BYTES = 32;

type Row = {
  id: string;
  person: string;
  host: string;
  name: string;
  algorithm: number;
  public_key: string;
  counter: number;
  is_synced: number;
  made_by: Shown;
  counts_at: number;
  harm_at: number;
  created_at: number;
  used_at: number | null;
};

/** A passkey, with the person whose it is. @property countsAt @property harmAt as in `PasskeyView` */
export type StoredPasskey = Passkey & {
  person: string;
  host: string;
  name: string;
  by: Shown;
  countsAt: number;
  harmAt: number;
  createdAt: number;
};

/** What one assertion may be used for. @property shown of a registration: the way that let it begin */
export type StoredChallenge = {
  nonce: string;
  person: string;
  host: string;
  about: string;
  answer: string;
  keep: string;
  what: string;
  shown: Shown | null;
  until: number;
};

class PasskeyStore extends SqlStore {
  /** @param person absent: everybody's */
  list(person?: string): PasskeyView[] {
    return this.#rows(person).map((row) => ({
      id: row.id,
      person: row.person,
      name: row.name,
      host: row.host,
      is_synced: row.is_synced === 1,
      by: row.made_by,
      counts_at: row.counts_at,
      harm_at: row.harm_at,
      created_at: row.created_at,
      used_at: row.used_at,
    }));
  }

  /** Those with which this person can confirm something on this host. */
  of(person: string, host: string): StoredPasskey[] {
    const now = Date.now();
    return this.#rows(person)
      .filter((row) => row.host === host && row.counts_at <= now)
      .map(toPasskey);
  }

  /** True if the person has one that counts. */
  has(person: string): boolean {
    const now = Date.now();
    return this.#rows(person).some((row) => row.counts_at <= now);
  }

  /** True if any person of the home has one that counts for everything. */
  any(): boolean {
    return (
      this.sql.first("SELECT 1 AS one FROM passkey WHERE harm_at <= ? LIMIT 1", Date.now()) !== undefined
    );
  }

  /** The person's first passkey does not wait any more. @param harmAt epoch ms */
  letCount(id: string, now: number, harmAt: number): void {
    this.sql.exec("UPDATE passkey SET counts_at = ?, harm_at = ? WHERE id = ?", now, harmAt, id);
  }

  /** Until then a session alone begins none for this person. @returns epoch ms */
  stoppedUntil(person: string): number {
    return (
      this.sql.first<{ until: number }>(
        "SELECT stopped_until AS until FROM passkey_person WHERE person = ?",
        person,
      )?.until ?? 0
    );
  }

  stopUntil(person: string, until: number): void {
    this.sql.exec("UPDATE passkey_person SET stopped_until = ? WHERE person = ?", until, person);
  }

  rename(id: string, name: string): void {
    this.sql.exec("UPDATE passkey SET name = ? WHERE id = ?", name, id);
  }

  get(id: string): StoredPasskey | undefined {
    const row = this.sql.first<Row>("SELECT * FROM passkey WHERE id = ?", id);
    return row && toPasskey(row);
  }

  isFull(person: string): boolean {
    const all = this.#rows();
    return (
      all.length >= PASSKEYS_OF_HOME ||
      all.filter((row) => row.person === person).length >= PASSKEYS_OF_PERSON
    );
  }

  add(passkey: StoredPasskey): void {
    this.sql.insert("INTO passkey", {
      id: passkey.id,
      person: passkey.person,
      host: passkey.host,
      name: passkey.name,
      algorithm: passkey.algorithm,
      public_key: passkey.publicKey,
      counter: passkey.counter,
      is_synced: passkey.isSynced ? 1 : 0,
      made_by: passkey.by,
      counts_at: passkey.countsAt,
      harm_at: passkey.harmAt,
      created_at: passkey.createdAt,
      used_at: null,
    });
  }

  remove(id: string): void {
    this.sql.exec("DELETE FROM passkey WHERE id = ?", id);
  }

  /** @returns false: the passkey is gone, or another use of it was stored meanwhile */
  used({ id, counter: before }: StoredPasskey, counter: number, now: number): boolean {
    return (
      this.sql.first`UPDATE passkey SET counter = ${counter}, used_at = ${now}
        WHERE id = ${id} AND counter = ${before} RETURNING id` !== undefined
    );
  }

  /** The person's handle for authenticators, random and made at the first use. */
  handleOf(person: string): string {
    const known = this.knownHandle(person);
    if (known !== undefined) return known;
    const handle = randomBytes();
    this.sql.insert("INTO passkey_person", { person, handle });
    return handle;
  }

  knownHandle(person: string): string | undefined {
    return this.sql.first<{ handle: string }>("SELECT handle FROM passkey_person WHERE person = ?", person)
      ?.handle;
  }

  /** @returns its nonce */
  challenge(challenge: Omit<StoredChallenge, "nonce">, now: number): StoredChallenge {
    this.sql.exec("DELETE FROM passkey_challenge WHERE until <= ?", now);
    const made = { nonce: randomBytes(), ...challenge };
    this.sql.insert("INTO passkey_challenge", made);
    this.sql.exec`DELETE FROM passkey_challenge WHERE person = ${challenge.person} AND nonce NOT IN (
      SELECT nonce FROM passkey_challenge WHERE person = ${challenge.person} ORDER BY until DESC LIMIT ${OPEN_CHALLENGES})`;
    return made;
  }

  openChallenge(nonce: string, person: string, now: number): StoredChallenge | undefined {
    return this.sql.first<StoredChallenge>`SELECT * FROM passkey_challenge
      WHERE nonce = ${nonce} AND person = ${person} AND until > ${now}`;
  }

  /** @returns false: it was used already */
  useUp(nonce: string): boolean {
    return (
      this.sql.first("DELETE FROM passkey_challenge WHERE nonce = ? RETURNING nonce", nonce) !== undefined
    );
  }

  /** @returns false: this person has too many open codes */
  addCode(hash: string, person: string, until: number, now: number): boolean {
    this.sql.exec("DELETE FROM passkey_code WHERE until <= ?", now);
    const { n } = this.sql.one<{ n: number }>(
      "SELECT COUNT(*) AS n FROM passkey_code WHERE person = ?",
      person,
    );
    if (n >= OPEN_CODES) return false;
    this.sql.insert("INTO passkey_code", { hash, person, until });
    return true;
  }

  /** @returns true once: the code is this person's, and open */
  useCode(hash: string, person: string, now: number): boolean {
    return (
      this.sql.first`DELETE FROM passkey_code WHERE hash = ${hash} AND person = ${person} AND until > ${now}
        RETURNING hash` !== undefined
    );
  }

  /**
   * A press that was not enough. The first browser is noted: a press in another one is a tap on another device.
   * @param session of the browser; undefined, or one that Cloudflare Access let in: it cannot be told from another
   */
  pressedElsewhere(question: string, session: string | undefined): boolean {
    if (!session?.startsWith("t")) return false;
    const before = this.sql.first<{ pressed_in: string | null }>(
      "SELECT pressed_in FROM question WHERE id = ?",
      question,
    )?.pressed_in;
    if (before === session || before === undefined) return false;
    if (before !== null) return true;
    this.sql.exec("UPDATE question SET pressed_in = ? WHERE id = ?", session, question);
    return false;
  }

  /** Accounts of chat apps whose tap confirms dangerous calls too. */
  trustedTaps(): string[] {
    return this.sql
      .all<{ account: string }>("SELECT account FROM trusted_tap ORDER BY account")
      .map(({ account }) => account);
  }

  trustTap(account: string, by: string, now: number): void {
    this.sql.insert("OR REPLACE INTO trusted_tap", { account, added_by: by, added_at: now });
  }

  /** @returns false: it was none of them */
  distrustTap(account: string): boolean {
    return (
      this.sql.first("DELETE FROM trusted_tap WHERE account = ? RETURNING account", account) !== undefined
    );
  }

  #rows(person?: string): Row[] {
    return person === undefined
      ? this.sql.all<Row>("SELECT * FROM passkey ORDER BY created_at, id")
      : this.sql.all<Row>("SELECT * FROM passkey WHERE person = ? ORDER BY created_at, id", person);
  }
}

function toPasskey(row: Row): StoredPasskey {
  return {
    id: row.id,
    // SAFETY: `add` wrote it.
    algorithm: row.algorithm as Algorithm,
    publicKey: row.public_key,
    counter: row.counter,
    isSynced: row.is_synced === 1,
    person: row.person,
    host: row.host,
    name: row.name,
    by: row.made_by,
    countsAt: row.counts_at,
    harmAt: row.harm_at,
    createdAt: row.created_at,
  };
}

function randomBytes(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
}

export const passkeysOf = slot(({ ctx }) => new PasskeyStore(ctx.storage));

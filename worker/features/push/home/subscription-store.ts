/**
 * The rows of the browsers and topics where people are told what rules say, and the gateway's key for push services. A topic's access
 * token is stored as stored-secrets.ts says.
 */

import { sha256Hex } from "@edgecall/core/encoding.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import { slot } from "../../../kernel/home/slot.ts";
import { StoredSecrets } from "../../../kernel/home/stored-secrets.ts";
import type { Migration } from "../../../kernel/migrate.ts";
import { SqlStore } from "../../../kernel/sql-store.ts";
import type {
  BrowserTarget,
  NewSubscription,
  NtfyTarget,
  ShownWords,
  SubscriptionView,
} from "../contract.ts";
import { newVapidPair, type VapidPair } from "../vapid.ts";

export type Subscription = NewSubscription & {
  id: string;
  madeAt: number;
  problem: string | null;
  words: ShownWords;
};

export const PUSH_MIGRATIONS: ReadonlyArray<Migration & { part: string }> = [
  {
    part: "push",
    version: 1,
    sql: `
      -- What a lock screen shows: ShownWords.
      ALTER TABLE outlet ADD COLUMN words TEXT NOT NULL DEFAULT 'all';
    `,
  },
  {
    part: "push",
    version: 2,
    sql: `
      -- In which it is told; NULL: English.
      ALTER TABLE outlet ADD COLUMN language TEXT;
    `,
  },
];

/** A person has a few devices. */
const OUTLETS_A_PERSON = 10;
const OUTLETS_MAX = 200;
/** Of ids that are shown; a home has few. */
const ID_CHARS = 16;

class SubscriptionStore extends SqlStore {
  readonly #secrets: StoredSecrets;
  /** A home without any is asked for each message. */
  #all: Subscription[] | undefined;
  #pair: Promise<VapidPair> | undefined;

  constructor(storage: DurableObjectStorage, secrets: StoredSecrets) {
    super(storage);
    this.#secrets = secrets;
  }

  #rows(): Subscription[] {
    this.#all ??= this.sql
      .all<Row>("SELECT * FROM outlet ORDER BY made_at, id")
      .map(({ made_at, target, ...row }) => ({
        ...row,
        madeAt: made_at,
        // SAFETY: `put` wrote it.
        target: JSON.parse(target) as BrowserTarget | NtfyTarget,
      }));
    return this.#all;
  }

  all(): readonly Subscription[] {
    return this.#rows();
  }

  ofPrincipal(principal: string): Subscription[] {
    return this.#rows().filter((one) => one.principal === principal);
  }

  get(id: string): Subscription | undefined {
    return this.#rows().find((one) => one.id === id);
  }

  views(principal: string): SubscriptionView[] {
    return this.ofPrincipal(principal).map(({ id, target, name, madeAt, problem, words }) => ({
      id,
      kind: target.kind,
      name,
      words,
      made_at: madeAt,
      problem,
    }));
  }

  /** @returns undefined: it was kept with another key @throws SettingsError */
  async accessToken({ id }: Subscription, { token = "" }: NtfyTarget): Promise<string | undefined> {
    return await this.#secrets.open(token, `outlet/${id}`);
  }

  /** The same browser or topic of a person again replaces its row. @returns undefined: there are too many */
  async put(outlet: NewSubscription, now: number): Promise<SubscriptionView | undefined> {
    const { principal, target, token, origin, name, language } = outlet;
    const place =
      target.kind === "browser" ? target.endpoint : `${principal} ${target.server}/${target.topic}`;
    const id = (await sha256Hex(place)).slice(0, ID_CHARS);
    const stored =
      target.kind === "ntfy" && target.token !== undefined
        ? { ...target, token: await this.#secrets.seal(target.token, `outlet/${id}`) }
        : target;
    // No await from here on.
    const isNew = !this.get(id);
    if (
      isNew &&
      (this.ofPrincipal(principal).length >= OUTLETS_A_PERSON || this.#rows().length >= OUTLETS_MAX)
    )
      return undefined;
    this.sql.exec(
      `INSERT OR REPLACE INTO outlet (id, principal, token, origin, name, target, made_at, problem, words, language)
       VALUES (?, ?, ?, ?, ?, ?, ?, NULL, ?, ?)`,
      ...[id, principal, token, origin, name, JSON.stringify(stored), now],
      ...[this.get(id)?.words ?? "all", language],
    );
    this.#all = undefined;
    return this.views(principal).find((one) => one.id === id);
  }

  /** @returns undefined: this person has no such one */
  setWords(id: string, principal: string, words: ShownWords): SubscriptionView | undefined {
    if (this.get(id)?.principal !== principal) return undefined;
    this.sql.exec("UPDATE outlet SET words = ? WHERE id = ?", words, id);
    this.#all = undefined;
    return this.views(principal).find((one) => one.id === id);
  }

  noteProblem(id: string, problem: string | null): void {
    if (this.get(id)?.problem === problem) return;
    this.sql.exec("UPDATE outlet SET problem = ? WHERE id = ?", problem, id);
    this.#all = undefined;
  }

  /** @param principal whose it has to be; undefined: anybody's */
  remove(id: string, principal?: string): boolean {
    const outlet = this.get(id);
    if (!outlet || (principal !== undefined && outlet.principal !== principal)) return false;
    this.sql.exec("DELETE FROM outlet WHERE id = ?", id);
    this.#all = undefined;
    return true;
  }

  /** The link of a button is used. @returns false: it was used before */
  useLink(id: string, until: number, now: number): boolean {
    this.sql.exec("DELETE FROM used_link WHERE until < ?", now);
    return (
      this.sql.all("INSERT OR IGNORE INTO used_link (id, until) VALUES (?, ?) RETURNING id", id, until)
        .length > 0
    );
  }

  /** The gateway's key for push services. It is made when it is first needed. */
  vapid(): Promise<VapidPair> {
    this.#pair ??= this.#openPair().catch((error: unknown) => {
      this.#pair = undefined;
      throw error;
    });
    return this.#pair;
  }

  async #openPair(): Promise<VapidPair> {
    const [row] = this.sql.all<{ public_key: string; private_key: string }>(
      "SELECT public_key, private_key FROM push_key",
    );
    if (row) return { publicKey: row.public_key, privateKey: row.private_key };
    const made = await newVapidPair();
    const { publicKey, privateKey } = made;
    this.sql.insert("INTO push_key", { one: 1, public_key: publicKey, private_key: privateKey });
    return made;
  }
}

type Row = {
  id: string;
  principal: string;
  token: string | null;
  origin: string;
  name: string;
  target: string;
  made_at: number;
  problem: string | null;
  words: ShownWords;
  language: Language | null;
};

export const subscriptionStoreOf = slot(
  ({ ctx, env, name }) => new SubscriptionStore(ctx.storage, new StoredSecrets(name, env.CONNECTIONS_KEY)),
);

/**
 * The keys of a home's agents and of its bridge, and what was last believed of each: rows of Home.
 *
 * An agent that has a row here is believed by its signature alone, also after its key was revoked: then never.
 * Nothing that it or anybody else says can take the row away.
 */
import { fromBase64Url } from "@edgecall/core/encoding.ts";
import { BRIDGE, bridgeTokenBytes, type SignedBridgeToken } from "@edgecall/core/protocol/bridge-token.ts";
import type { AgentKey } from "@edgecall/core/protocol/frames.ts";
import type { TopicKind } from "@edgecall/core/protocol/names.ts";
import { type RelayToken, relayTokenBytes } from "@edgecall/core/protocol/relay-token.ts";
import { importPublicKey, isRotation, isSigned, type Key, stampOf } from "@edgecall/core/protocol/signing.ts";
import type { AgentKeyView, KeyGrant, KeyProblem, NewKey, Standing } from "../../api/keys.ts";

/** Of each topic the highest counter that was believed: what is below was said before, and is no news. */
type Marked = "presence" | "capabilities" | "tools" | "events";
type Marks = Record<Marked, number>;

type KeyRow = {
  agent: string;
  public_key: string;
  name: string;
  enrolled_at: number;
  revoked_at: number | null;
  boot_id: string | null;
  presence_n: number;
  capabilities_n: number;
  tools_n: number;
  events_n: number;
  login: string | null;
  broker: string | null;
};

type Known = {
  publicKey: string;
  name: string;
  enrolledAt: number;
  revokedAt: number | null;
  /** The run of the agent that last said that it is there; commands are for it. */
  bootId: string | null;
  marks: Marks;
  /** The row has these marks. */
  isKept: boolean;
  key: Promise<Key | undefined>;
  login: string | null;
  broker: string | null;
};

/** A text that its agent signed, or what speaks against it, in words. */
export type Heard = { ok: true; n: number; bootId: string } | { ok: false; why: string };

export class AgentKeys {
  readonly #sql: SqlStorage;
  /** The rows, read once: this class alone writes them. */
  #known: Map<string, Known> | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
  }

  standing(agent: string): Standing {
    const known = this.#read().get(agent);
    if (!known) return "none";
    return known.revokedAt === null ? "signed" : "revoked";
  }

  /** The run of the agent that a command has to be for; undefined: it signs nothing, or nothing was heard yet. */
  bootOf(agent: string): string | undefined {
    const known = this.#read().get(agent);
    return known?.revokedAt === null ? (known.bootId ?? undefined) : undefined;
  }

  /** Whether an agent said this on its topic. Only for one that is not `none`. */
  async hear(agent: string, kind: TopicKind, text: string): Promise<Heard> {
    const known = this.#read().get(agent);
    if (!known || known.revokedAt !== null) return { ok: false, why: "its key was revoked" };
    const key = await known.key;
    if (!key || !(await isSigned(key, { agent, kind }, text)))
      return { ok: false, why: "it is not signed with the agent's key" };
    const stamp = stampOf(text);
    if (!stamp.ok) return { ok: false, why: stamp.error };
    return { ok: true, n: stamp.value.n, bootId: stamp.value.boot_id };
  }

  /** Whether an agent's present key made a token for the relay. */
  async isRelayToken({ claims, body, signature }: RelayToken): Promise<boolean> {
    return (await this.#makerOf(claims.agent, signature, relayTokenBytes(body))) === "signed";
  }

  /** Whether the bridge's present key made a token; it is good for once. */
  async takeBridgeToken({
    claims,
    body,
    signature,
  }: SignedBridgeToken): Promise<"fresh" | "used" | "unsigned" | "revoked"> {
    const made = await this.#makerOf(BRIDGE, signature, bridgeTokenBytes(body));
    if (made !== "signed") return made === "revoked" ? "revoked" : "unsigned";
    if (!this.isNewEvent(BRIDGE, claims.n)) return "used";
    this.keepMarks(BRIDGE);
    return "fresh";
  }

  /** The state of the key that a signature was made with; `none`: it is not the holder's. */
  async #makerOf(holder: string, signature: string, bytes: Uint8Array<ArrayBuffer>): Promise<Standing> {
    const known = this.#read().get(holder);
    const key = await known?.key;
    if (!key || !(await crypto.subtle.verify("Ed25519", key, fromBase64Url(signature), bytes))) return "none";
    // It may have been revoked or replaced in the meantime.
    const isSame = this.#read().get(holder)?.publicKey === known?.publicKey;
    return isSame ? this.standing(holder) : "none";
  }

  /** Whether something older was not said on this topic before. The same once more is no older. */
  isNews(agent: string, topic: Marked, n: number): boolean {
    return n >= (this.#read().get(agent)?.marks[topic] ?? 0);
  }

  /** Whether no event with this counter or a higher one came before. */
  isNewEvent(agent: string, n: number): boolean {
    const known = this.#read().get(agent);
    if (!known || n <= known.marks.events) return false;
    known.marks.events = n;
    known.isKept = false;
    return true;
  }

  /** An advert or presence was believed: from here on nothing older is. */
  believed(agent: string, marks: Partial<Omit<Marks, "events">>, bootId?: string): void {
    const known = this.#read().get(agent);
    if (!known) return;
    const next = { ...known.marks, ...marks };
    const rose = (Object.keys(next) as Marked[]).some((topic) => next[topic] > known.marks[topic]);
    if (!rose && (bootId === undefined || bootId === known.bootId)) return;
    known.marks = next;
    known.bootId = bootId ?? known.bootId;
    known.isKept = false;
    this.keepMarks(agent);
  }

  /**
   * Makes the marks last. Not for every sign of life, which would be a row each: what an event leaves behind when
   * it is said again is bound to an open call, but for questions and records.
   */
  keepMarks(agent: string): void {
    const known = this.#read().get(agent);
    if (!known || known.isKept) return;
    const { presence, capabilities, tools, events } = known.marks;
    this.#sql.exec(
      "UPDATE agent_key SET boot_id = ?, presence_n = ?, capabilities_n = ?, tools_n = ?, events_n = ? WHERE agent = ?",
      known.bootId,
      presence,
      capabilities,
      tools,
      events,
      agent,
    );
    known.isKept = true;
  }

  /** Puts a key on record. @returns what speaks against it */
  async enrol(
    { agent, publicKey, name, login, broker }: NewKey,
    grant: KeyGrant,
    now: number,
  ): Promise<KeyProblem | undefined> {
    if (!(await importPublicKey(publicKey))) return "not_a_key";
    const before = this.#read().get(agent);
    const isLive = before?.revokedAt === null;
    if (!isLive || before.publicKey !== publicKey) {
      // A revoked key's word counts for nothing, so only a person can let the device in again.
      if (isLive && grant.by !== "pairing") {
        if (grant.by === "nothing") return "has_a_key";
        const key = await before.key;
        if (!key || !(await isRotation(key, agent, publicKey, grant.signature))) return "wrong_signature";
      }
      // What an old key signed is not believed under a new one, so the counters begin anew. What a revoked one signed is
      // believed again when that very key comes back, which must hold for nothing that was recorded: they go on.
      this.#sql.exec(
        `INSERT INTO agent_key (agent, public_key, name, enrolled_at) VALUES (?, ?, ?, ?)
         ON CONFLICT (agent) DO UPDATE SET public_key = excluded.public_key, name = excluded.name,
           enrolled_at = excluded.enrolled_at, revoked_at = NULL, boot_id = NULL, login = NULL, broker = NULL${
             before?.publicKey === publicKey
               ? ""
               : ", presence_n = 0, capabilities_n = 0, tools_n = 0, events_n = 0"
           }`,
        agent,
        publicKey,
        name,
        now,
      );
    }
    // A device that names its next key is the same device; one that a person lets in may be another.
    const kept = isLive && grant.by === "signature" ? before.login : null;
    this.#sql.exec(
      "UPDATE agent_key SET login = COALESCE(?, login), broker = COALESCE(?, broker) WHERE agent = ?",
      login ?? kept,
      broker ?? null,
      agent,
    );
    this.#known = undefined;
    return undefined;
  }

  /** @returns whether there was one to revoke */
  revoke(agent: string, now: number): boolean {
    const rows = this.#sql.exec(
      "UPDATE agent_key SET revoked_at = ? WHERE agent = ? AND revoked_at IS NULL RETURNING agent",
      now,
      agent,
    );
    const revoked = rows.toArray().length > 0;
    this.#known = undefined;
    return revoked;
  }

  list(): AgentKeyView[] {
    return [...this.#read()].map(([agent, { publicKey, name, enrolledAt, revokedAt }]) => ({
      agent,
      public_key: publicKey,
      name,
      enrolled_at: enrolledAt,
      revoked_at: revokedAt,
    }));
  }

  /** What a bridge needs to drop forgeries before they disturb anything, and to keep its broker's files. */
  forBridge(): AgentKey[] {
    return [...this.#read()]
      .filter(([id]) => id !== BRIDGE)
      .map(([id, { publicKey, revokedAt, marks, login }]) => ({
        id,
        key: revokedAt === null ? publicKey : null,
        n: marks.presence,
        ...(revokedAt === null && login !== null && { login }),
      }));
  }

  /** The key on record, if it counts. */
  publicKeyOf(holder: string): string | undefined {
    const known = this.#read().get(holder);
    return known?.revokedAt === null ? known.publicKey : undefined;
  }

  /** Where devices reach the broker whose files the bridge keeps; null: it keeps none. */
  broker(): string | null {
    const bridge = this.#read().get(BRIDGE);
    return bridge?.revokedAt === null ? bridge.broker : null;
  }

  hasLogin(agent: string): boolean {
    return this.#read().get(agent)?.login != null;
  }

  #read(): Map<string, Known> {
    this.#known ??= new Map(
      this.#sql
        .exec<KeyRow>("SELECT * FROM agent_key ORDER BY agent")
        .toArray()
        .map((row) => [row.agent, toKnown(row)]),
    );
    return this.#known;
  }
}

function toKnown(row: KeyRow): Known {
  return {
    publicKey: row.public_key,
    name: row.name,
    enrolledAt: row.enrolled_at,
    revokedAt: row.revoked_at,
    bootId: row.boot_id,
    marks: {
      presence: row.presence_n,
      capabilities: row.capabilities_n,
      tools: row.tools_n,
      events: row.events_n,
    },
    isKept: true,
    key: importPublicKey(row.public_key),
    login: row.login,
    broker: row.broker,
  };
}

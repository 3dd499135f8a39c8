/**
 * The keys of a home's agents and of its bridge, and the newest counters that were verified of each: rows of Home.
 *
 * An agent that has a row here is trusted by its signature alone. After its key was revoked it is not trusted at all.
 * Nothing that the agent or anybody else sends can remove the row.
 */

import { fromBase64Url } from "@edgecall/core/encoding.ts";
import { BRIDGE, bridgeTokenBytes, type SignedBridgeToken } from "@edgecall/core/protocol/bridge-token.ts";
import type { AgentKey, BridgeSession } from "@edgecall/core/protocol/home-frames.ts";
import { isReservedId, type TopicKind } from "@edgecall/core/protocol/names.ts";
import { type RelayToken, relayTokenBytes } from "@edgecall/core/protocol/relay-token.ts";
import { isOfSession } from "@edgecall/core/protocol/session.ts";
import { importPublicKey, isRotation, isSigned, type Key, stampOf } from "@edgecall/core/protocol/signing.ts";
import type { AgentKeyView, KeyGrant, KeyProblem, NewKey, Standing } from "../../api/keys.ts";
import type { Env } from "../../env.ts";
import { readSettings } from "../../settings/settings.ts";
import { SqlStore } from "../../sql-store.ts";
import type { HomeContext } from "../context.ts";
import { slot } from "../slot.ts";
import { type AgentSession, AgentSessions } from "./agent-sessions.ts";
import type { GatewayKey } from "./gateway-key.ts";
import { gatewayKeyOf } from "./gateway-key.ts";

/** The highest verified counter of each topic. A message with a lower one is a repetition. */
type CountedTopic = "presence" | "capabilities" | "tools" | "events";
type Counters = Record<CountedTopic, number>;

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

type StoredKey = {
  publicKey: string;
  name: string;
  enrolledAt: number;
  revokedAt: number | null;
  /** The run of the agent that last reported itself online. Commands are for this run. */
  bootId: string | null;
  counters: Counters;
  /** The row has these counters. */
  isStored: boolean;
  /** Imported when it is first needed: 5,000 keys at once would take 0.2 s. */
  key(): Promise<Key | undefined>;
  login: string | null;
  broker: string | null;
};

/** The stamp of a text that its agent signed; or why it is not trusted, in words. */
export type VerifiedText = { ok: true; n: number; bootId: string } | { ok: false; why: string };

export class AgentKeys extends SqlStore {
  readonly #env: Env;
  /** The rows, read once: this class alone writes them. */
  #stored: Map<string, StoredKey> | undefined;
  /** Rises when an agent gets a key or loses it. */
  version = 0;
  readonly #gatewayKey: Pick<GatewayKey, "publicKey">;
  readonly #sessions: AgentSessions;

  constructor(storage: DurableObjectStorage, env: Env, gatewayKey: Pick<GatewayKey, "publicKey">) {
    super(storage);
    this.#env = env;
    this.#gatewayKey = gatewayKey;
    this.#sessions = new AgentSessions(storage);
  }

  standing(agent: string): Standing {
    const stored = this.#read().get(agent);
    if (!stored) return "none";
    return stored.revokedAt === null ? "signed" : "revoked";
  }

  /** True if the agent belongs to this home. An agent without a key on record does only when the settings name it. */
  serves(agent: string): boolean {
    if (isReservedId(agent)) return false;
    if (this.standing(agent) !== "none") return true;
    const { unsignedAgents } = readSettings(this.#env);
    return unsignedAgents.has("*") || unsignedAgents.has(agent);
  }

  /** True if an owner let the agent in, with a code or by its name. The setting `*` names no agent. */
  isLetIn(agent: string): boolean {
    return this.standing(agent) === "signed" || readSettings(this.#env).unsignedAgents.has(agent);
  }

  /** True if nothing but `*` in the settings lets it in: it has no key, nobody named it, and whatever is on the broker commands it. */
  isOpen(agent: string): boolean {
    return (
      this.standing(agent) === "none" &&
      !this.isLetIn(agent) &&
      readSettings(this.#env).unsignedAgents.has("*")
    );
  }

  /** The run of the agent that a command has to be for. Undefined: it has no key, or nothing of it was verified yet. */
  bootOf(agent: string): string | undefined {
    const stored = this.#read().get(agent);
    return stored?.revokedAt === null ? (stored.bootId ?? undefined) : undefined;
  }

  /** Verifies that an agent sent this on its topic. Only for an agent whose standing is not `none`. */
  async verify(agent: string, kind: TopicKind, text: string): Promise<VerifiedText> {
    const stored = this.#read().get(agent);
    if (!stored || stored.revokedAt !== null) return { ok: false, why: "its key was revoked" };
    const session = this.sessionOf(agent);
    const isSealed = isOfSession(kind) && (await session?.isFromAgent({ agent, kind }, text)) === true;
    if (!isSealed) {
      const key = await stored.key();
      if (!key || !(await isSigned(key, { agent, kind }, text)))
        return { ok: false, why: "it is not signed with the agent's key" };
    }
    // It may have been revoked or replaced meanwhile.
    if (this.publicKeyOf(agent) !== stored.publicKey) return { ok: false, why: "its key was revoked" };
    // An agent that signs its reports does not have the session, or does not know that its gateway has.
    if (session && kind === "reports") session.isUsed = isSealed;
    const stamp = stampOf(text);
    if (!stamp.ok) return { ok: false, why: stamp.error };
    return { ok: true, n: stamp.value.n, bootId: stamp.value.boot_id };
  }

  /** The session with the agent's present run. */
  sessionOf(agent: string): AgentSession | undefined {
    const stored = this.#read().get(agent);
    if (!stored?.bootId || stored.revokedAt !== null) return undefined;
    return this.#sessions.of({ agent, publicKey: stored.publicKey, bootId: stored.bootId });
  }

  /**
   * The agent's present run offers a session.
   * @param half the agent's, from its verified presence @returns the bridge's part, if the session is new
   */
  async beginSession(agent: string, half: string): Promise<BridgeSession | undefined> {
    const stored = this.#read().get(agent);
    if (!stored?.bootId || stored.revokedAt !== null || this.sessionOf(agent)?.isWith(half)) return undefined;
    const run = { agent, publicKey: stored.publicKey, bootId: stored.bootId };
    const session = await this.#sessions.begin(run, half, await this.#gatewayKey.publicKey());
    return session && this.sessionOf(agent) === session ? session.forBridge : undefined;
  }

  /** The agent did not answer: its commands are signed until it uses its session again. */
  markSessionUnconfirmed(agent: string): void {
    const session = this.sessionOf(agent);
    if (session) session.isUsed = false;
  }

  /** A bridge was connected: commands are signed until their agents have used their sessions again. */
  markSessionsUnconfirmed(): void {
    this.#sessions.markAllUnconfirmed();
  }

  /** True if an agent's present key signed a token for the relay. */
  async isRelayToken({ claims, body, signature }: RelayToken): Promise<boolean> {
    return (await this.#signerOf(claims.agent, signature, relayTokenBytes(body))) === "signed";
  }

  /** Verifies that the bridge's present key signed a token, which is good for one use. */
  async verifyBridgeToken({
    claims,
    body,
    signature,
  }: SignedBridgeToken): Promise<"fresh" | "used" | "unsigned" | "revoked"> {
    const signer = await this.#signerOf(BRIDGE, signature, bridgeTokenBytes(body));
    if (signer !== "signed") return signer === "revoked" ? "revoked" : "unsigned";
    if (!this.acceptEvent(BRIDGE, claims.n)) return "used";
    this.storeCounters(BRIDGE);
    return "fresh";
  }

  /** The state of the key that made a signature; `none`: it is not the holder's. */
  async #signerOf(holder: string, signature: string, bytes: Uint8Array<ArrayBuffer>): Promise<Standing> {
    const stored = this.#read().get(holder);
    const key = await stored?.key();
    if (!key || !(await crypto.subtle.verify("Ed25519", key, fromBase64Url(signature), bytes))) return "none";
    // It may have been revoked or replaced in the meantime.
    const isSame = this.#read().get(holder)?.publicKey === stored?.publicKey;
    return isSame ? this.standing(holder) : "none";
  }

  /** True if nothing newer was verified on this topic before. The same message once more counts. */
  isFresh(agent: string, topic: CountedTopic, n: number): boolean {
    return n >= (this.#read().get(agent)?.counters[topic] ?? 0);
  }

  /** The highest number that counted of an agent, on any topic. */
  newestCounter(agent: string): number {
    return Math.max(0, ...Object.values(this.#read().get(agent)?.counters ?? {}));
  }

  /** Takes an event. @returns false: one with this counter or a higher one came before */
  acceptEvent(agent: string, n: number): boolean {
    const stored = this.#read().get(agent);
    if (!stored || n <= stored.counters.events) return false;
    stored.counters.events = n;
    stored.isStored = false;
    return true;
  }

  /** An advert or presence was verified: from here on nothing older is fresh. */
  setVerified(agent: string, counters: Partial<Omit<Counters, "events">>, bootId?: string): void {
    const stored = this.#read().get(agent);
    if (!stored) return;
    const next = { ...stored.counters, ...counters };
    const rose = (Object.keys(next) as CountedTopic[]).some((topic) => next[topic] > stored.counters[topic]);
    if (!rose && (bootId === undefined || bootId === stored.bootId)) return;
    stored.counters = next;
    stored.bootId = bootId ?? stored.bootId;
    stored.isStored = false;
    this.storeCounters(agent);
  }

  /**
   * Writes the counters. Not for every sign of life, which would cost a row each: a repeated event has an effect only on an
   * open call, except for questions and records.
   */
  storeCounters(agent: string): void {
    const stored = this.#read().get(agent);
    if (!stored || stored.isStored) return;
    const { presence, capabilities, tools, events } = stored.counters;
    this.sql.exec`UPDATE agent_key SET boot_id = ${stored.bootId}, presence_n = ${presence},
      capabilities_n = ${capabilities}, tools_n = ${tools}, events_n = ${events} WHERE agent = ${agent}`;
    stored.isStored = true;
  }

  /** Puts a key on record. @returns why not */
  async enroll(
    { agent, publicKey, name, login, broker }: NewKey,
    grant: KeyGrant,
    now: number,
  ): Promise<KeyProblem | undefined> {
    if (isReservedId(agent)) return "reserved_id";
    if (!(await importPublicKey(publicKey))) return "not_a_key";
    const before = this.#read().get(agent);
    const isLive = before?.revokedAt === null;
    if (!isLive || before.publicKey !== publicKey) {
      // A revoked key proves nothing, so only a person can let the device in again.
      if (isLive && grant.by !== "pairing") {
        if (grant.by === "nothing") return "has_a_key";
        const key = await before.key();
        if (!key || !(await isRotation(key, agent, publicKey, grant.signature))) return "wrong_signature";
      }
      // Nothing that an old key signed verifies under a new one, so the counters begin anew. A revoked key that comes back
      // verifies what it signed before, so its counters go on: recorded messages stay repetitions.
      this.sql.exec(
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
    // A device that names its next key is the same device. One that a person lets in may be another.
    const loginBefore = isLive && grant.by === "signature" ? before.login : null;
    this.sql.exec`UPDATE agent_key SET login = COALESCE(${login ?? loginBefore}, login),
      broker = COALESCE(${broker ?? null}, broker) WHERE agent = ${agent}`;
    if (before?.publicKey !== publicKey || !isLive) this.#sessions.end(agent);
    this.#reread(agent);
    this.version += 1;
    return undefined;
  }

  /** @returns whether there was one to revoke */
  revoke(agent: string, now: number): boolean {
    const rows = this.sql.exec`UPDATE agent_key SET revoked_at = ${now}
      WHERE agent = ${agent} AND revoked_at IS NULL RETURNING agent`;
    const revoked = rows.toArray().length > 0;
    if (revoked) this.#sessions.end(agent);
    if (revoked) this.#reread(agent);
    this.version += 1;
    return revoked;
  }

  list(): AgentKeyView[] {
    const inOrder = [...this.#read()].sort(([a], [b]) => (a < b ? -1 : 1));
    return inOrder.map(([agent, { publicKey, name, enrolledAt, revokedAt }]) => ({
      agent,
      public_key: publicKey,
      name,
      enrolled_at: enrolledAt,
      revoked_at: revokedAt,
    }));
  }

  /** True if the key of an agent is on record. */
  hasAgents(): boolean {
    const keys = this.#read();
    return keys.size > (keys.has(BRIDGE) ? 1 : 0);
  }

  /**
   * What a bridge needs to drop forgeries early, and to write its broker's files.
   * @param knowsSessions that bridge does @param agent only this one
   */
  forBridge(knowsSessions: boolean, agent?: string): AgentKey[] {
    return [...this.#read()]
      .filter(([id]) => id !== BRIDGE && (agent === undefined || id === agent))
      .map(([id, { publicKey, revokedAt, counters, login }]) => {
        const session = knowsSessions ? this.sessionOf(id)?.forBridge : undefined;
        return {
          id,
          key: revokedAt === null ? publicKey : null,
          n: counters.presence,
          ...(revokedAt === null && login !== null && { login }),
          ...(session && { session }),
        };
      });
  }

  /** The key on record, if it counts. */
  publicKeyOf(holder: string): string | undefined {
    const stored = this.#read().get(holder);
    return stored?.revokedAt === null ? stored.publicKey : undefined;
  }

  /** The key on record, also a revoked one. */
  lastKeyOf(holder: string): string | undefined {
    return this.#read().get(holder)?.publicKey;
  }

  /** Where devices reach the broker whose files the bridge writes; null: it writes none. */
  broker(): string | null {
    const bridge = this.#read().get(BRIDGE);
    return bridge?.revokedAt === null ? bridge.broker : null;
  }

  hasLogin(agent: string): boolean {
    return this.#read().get(agent)?.login != null;
  }

  /** Reads one row alone: many devices may be paired one after the other. */
  #reread(agent: string): void {
    const rows = this.sql.exec<KeyRow>("SELECT * FROM agent_key WHERE agent = ?", agent);
    this.#read().set(agent, toStored(rows.one()));
  }

  #read(): Map<string, StoredKey> {
    this.#stored ??= new Map(
      this.sql.all<KeyRow>("SELECT * FROM agent_key").map((row) => [row.agent, toStored(row)]),
    );
    return this.#stored;
  }
}

function toStored(row: KeyRow): StoredKey {
  let key: Promise<Key | undefined> | undefined;
  return {
    publicKey: row.public_key,
    name: row.name,
    enrolledAt: row.enrolled_at,
    revokedAt: row.revoked_at,
    bootId: row.boot_id,
    counters: {
      presence: row.presence_n,
      capabilities: row.capabilities_n,
      tools: row.tools_n,
      events: row.events_n,
    },
    isStored: true,
    key() {
      key ??= importPublicKey(row.public_key);
      return key;
    },
    login: row.login,
    broker: row.broker,
  };
}

export const keysOf = slot((home) => new AgentKeys(home.ctx.storage, home.env, gatewayKeyOf(home)));

/** Names an agent by its key, for what has to last when its id changes. One without a key has no other name than its id. */
export function nameOfKey(home: HomeContext, id: string): string {
  return keysOf(home).publicKeyOf(id) ?? `id:${id}`;
}

/**
 * The sessions of a home's agents (core/protocol/session.ts): a row for each agent, with its present run. Home makes its half
 * at random, so nobody can compute a session from the gateway's private key, which exports contain.
 */
import { fromBase64Url, toBase64Url } from "@edgecall/core/encoding.ts";
import type { BridgeSession } from "@edgecall/core/protocol/home-frames.ts";
import {
  hasMac,
  importMacKey,
  macOf,
  newSessionHalf,
  type SessionKey,
  type SessionKeys,
  sessionSecret,
  splitSessionKeys,
  withMac,
} from "@edgecall/core/protocol/session.ts";
import type { Key, Place } from "@edgecall/core/protocol/signing.ts";
import { SqlStore } from "../../sql-store.ts";

type SessionRow = {
  agent: string;
  public_key: string;
  boot_id: string;
  agent_half: string;
  gateway_half: string;
  secret: string;
};

/** The run of an agent that a session is for. */
export type Run = { agent: string; publicKey: string; bootId: string };

export class AgentSession {
  readonly #row: SessionRow;
  /** Imported when they are first needed. */
  readonly #keys: Partial<Record<SessionKey, Promise<Key>>> = {};
  /** The agent has used it, so commands need no signature. Until then each command brings the gateway's half. */
  isUsed = false;

  constructor(row: SessionRow) {
    this.#row = row;
  }

  /** The gateway's half. */
  get half(): string {
    return this.#row.gateway_half;
  }

  get forBridge(): BridgeSession {
    return { boot_id: this.#row.boot_id, key: toBase64Url(this.#bytes.bridge) };
  }

  isFor({ publicKey, bootId }: Omit<Run, "agent">): boolean {
    return this.#row.public_key === publicKey && this.#row.boot_id === bootId;
  }

  isWith(agentHalf: string): boolean {
    return this.#row.agent_half === agentHalf;
  }

  /** @param body the text of a stamped command @returns the text to publish */
  async seal(body: string): Promise<string> {
    const place: Place = { agent: this.#row.agent, kind: "commands" };
    return withMac(body, await macOf(await this.#key("commands"), place, body));
  }

  async isFromAgent(place: Place, text: string): Promise<boolean> {
    return await hasMac("reports", await this.#key("reports"), place, text);
  }

  #key(use: SessionKey): Promise<Key> {
    this.#keys[use] ??= importMacKey(this.#bytes[use]);
    return this.#keys[use];
  }

  get #bytes(): SessionKeys<Uint8Array<ArrayBuffer>> {
    return splitSessionKeys(fromBase64Url(this.#row.secret));
  }
}

export class AgentSessions extends SqlStore {
  /** The rows, read once: this class alone writes them. */
  #stored: Map<string, AgentSession> | undefined;

  /** The session of a run, if that is the agent's last. */
  of(run: Run): AgentSession | undefined {
    const session = this.#read().get(run.agent);
    return session?.isFor(run) ? session : undefined;
  }

  /** Makes a session for a run, in place of the agent's last one. @returns undefined when `agentHalf` is no key */
  async begin(run: Run, agentHalf: string, gatewayKey: string): Promise<AgentSession | undefined> {
    const { agent, publicKey, bootId } = run;
    const own = await newSessionHalf();
    const parties = { agent, bootId, agentKey: publicKey, gatewayKey, agentHalf, gatewayHalf: own.publicKey };
    const bytes = await sessionSecret(own.privateKey, agentHalf, parties);
    if (!bytes) return undefined;
    const row = {
      agent,
      public_key: publicKey,
      boot_id: bootId,
      agent_half: agentHalf,
      gateway_half: own.publicKey,
      secret: toBase64Url(bytes),
    };
    this.sql.exec(
      `INSERT OR REPLACE INTO agent_session (agent, public_key, boot_id, agent_half, gateway_half, secret)
       VALUES (?, ?, ?, ?, ?, ?)`,
      ...Object.values(row),
    );
    const session = new AgentSession(row);
    this.#read().set(agent, session);
    return session;
  }

  end(agent: string): void {
    this.sql.exec("DELETE FROM agent_session WHERE agent = ?", agent);
    this.#stored?.delete(agent);
  }

  /** Signs all commands again until their agents have used their session: the line may have lost what was said. */
  markAllUnconfirmed(): void {
    for (const session of this.#read().values()) session.isUsed = false;
  }

  #read(): Map<string, AgentSession> {
    this.#stored ??= new Map(
      this.sql
        .all<SessionRow>("SELECT * FROM agent_session")
        .map((row) => [row.agent, new AgentSession(row)]),
    );
    return this.#stored;
  }
}

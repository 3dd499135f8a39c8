/** An agent with its own key for tests. It makes signed messages as the broker would carry them. */
import { toBase64Url } from "@edgecall/core/encoding.ts";
import type { AgentState } from "@edgecall/core/protocol/frames.ts";
import type { TopicKind } from "@edgecall/core/protocol/names.ts";
import { relayTokenBody, relayTokenBytes } from "@edgecall/core/protocol/relay-token.ts";
import {
  importMacKey,
  macOf,
  newSessionHalf,
  type OwnHalf,
  type SessionKeys,
  sessionSecret,
  splitSessionKeys,
  withMac,
} from "@edgecall/core/protocol/session.ts";
import {
  importPrivateKey,
  type Key,
  type KeyPair,
  newKeyPair,
  rotationBytes,
  sign,
  stamped,
} from "@edgecall/core/protocol/signing.ts";

type Fields = Record<string, unknown>;

export class SignedAgent {
  readonly id: string;
  readonly publicKey: string;
  readonly #key: Key;
  /** The agent's run; a test changes it to simulate a restart. */
  bootId = crypto.randomUUID() as string;
  /** The counter of its last message. */
  n = 1_000;
  /** Its half of a session; undefined: it knows none. */
  half: OwnHalf | undefined;
  #keys: SessionKeys<Key> | undefined;
  /** The third key of its session, as Home tells it to the bridge. */
  bridgeKey = "";

  private constructor(id: string, pair: KeyPair, key: Key) {
    this.id = id;
    this.publicKey = pair.publicKey;
    this.#key = key;
  }

  static async make(id: string): Promise<SignedAgent> {
    const pair = await newKeyPair();
    return new SignedAgent(id, pair, await importPrivateKey(pair.privateKey));
  }

  /** @returns the text that it publishes on the topic */
  async say(kind: TopicKind, fields: Fields): Promise<string> {
    this.n += 1;
    const body = stamped(JSON.stringify(fields), { boot_id: this.bootId, n: this.n });
    return await sign(this.#key, { agent: this.id, kind }, body);
  }

  report(id: string, payload: Fields): Promise<string> {
    return this.say("reports", this.#reportOf(id, payload));
  }

  #reportOf(id: string, payload: Fields): Fields {
    const report = { agent_id: this.id, agent_type: "monitor", report_type: "result", timestamp: 1 };
    return { ...report, payload: { ...payload, request_id: id } };
  }

  /** From now on its presence offers a session. */
  async offerSession(): Promise<void> {
    this.half = await newSessionHalf();
  }

  /** Takes the gateway's half. @returns the session's keys */
  async takeSession(gatewayKey: string, gatewayHalf: string): Promise<SessionKeys<Key>> {
    if (!this.half) throw new Error("it offered no session");
    const { id: agent, bootId, publicKey: agentKey, half } = this;
    const parties = { agent, bootId, agentKey, gatewayKey, agentHalf: half.publicKey, gatewayHalf };
    const secret = await sessionSecret(half.privateKey, gatewayHalf, parties);
    if (!secret) throw new Error("the gateway's half is no key");
    const { commands, reports, bridge } = splitSessionKeys(secret);
    this.bridgeKey = toBase64Url(bridge);
    this.#keys = {
      commands: await importMacKey(commands),
      reports: await importMacKey(reports),
      bridge: await importMacKey(bridge),
    };
    return this.#keys;
  }

  /** The same as `say`, in its session. @param keys by which the two HMACs are made */
  async sayInSession(kind: TopicKind, fields: Fields, keys?: [Key, Key]): Promise<string> {
    if (!this.#keys) throw new Error("it has no session");
    const [first, second] = keys ?? [this.#keys.reports, this.#keys.bridge];
    this.n += 1;
    const place = { agent: this.id, kind };
    const body = stamped(JSON.stringify(fields), { boot_id: this.bootId, n: this.n });
    return withMac(body, await macOf(first, place, body), await macOf(second, place, body));
  }

  reportInSession(id: string, payload: Fields, keys?: [Key, Key]): Promise<string> {
    return this.sayInSession("reports", this.#reportOf(id, payload), keys);
  }

  /** Returns the agent's state as a bridge reports it. */
  async state(
    more: { online?: boolean; line?: string; tools?: unknown[]; features?: string[]; rules?: string } = {},
  ): Promise<AgentState> {
    const { online = true, line = `${this.id} edge agent`, tools = [] } = more;
    const { features = ["tool", "prompt", "cancel", "ack", "acks", "question", "route"] } = more;
    const half = this.half && { session: this.half.publicKey };
    const rules = more.rules !== undefined && { rules: more.rules };
    return {
      id: this.id,
      online,
      last_seen: Date.now(),
      foreign: false,
      presence: await this.say("presence", {
        state: online ? "online" : "offline",
        reason: "birth",
        ...half,
        ...rules,
      }),
      capabilities: await this.say("capabilities", { agent_id: this.id, capabilities: line, features }),
      tools: await this.say("tools", { hash: "h", tools }),
    };
  }

  /** Makes a token for the gateway's relay. @param expInS seconds from now */
  async relayToken(place: string, expInS = 300): Promise<string> {
    const exp = Math.floor(Date.now() / 1_000) + expInS;
    const body = relayTokenBody({ agent: this.id, exp, for: place, nonce: crypto.randomUUID() });
    const signature = await crypto.subtle.sign("Ed25519", this.#key, relayTokenBytes(body));
    return `${body}.${toBase64Url(new Uint8Array(signature))}`;
  }

  /** Signs with its key that `newKey` replaces it. */
  async nameSuccessor(newKey: string): Promise<string> {
    const word = await crypto.subtle.sign("Ed25519", this.#key, rotationBytes(this.id, newKey));
    return toBase64Url(new Uint8Array(word));
  }
}

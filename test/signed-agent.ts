/** An agent with its own key for tests. It makes signed messages as the broker would carry them. */
import { toBase64Url } from "@edgecall/core/encoding.ts";
import type { AgentState } from "@edgecall/core/protocol/frames.ts";
import type { TopicKind } from "@edgecall/core/protocol/names.ts";
import { relayTokenBody, relayTokenBytes } from "@edgecall/core/protocol/relay-token.ts";
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
    const report = { agent_id: this.id, agent_type: "monitor", report_type: "result", timestamp: 1 };
    return this.say("reports", { ...report, payload: { ...payload, request_id: id } });
  }

  /** Returns the agent's state as a bridge reports it. */
  async state(more: { online?: boolean; line?: string; tools?: unknown[] } = {}): Promise<AgentState> {
    const { online = true, line = `${this.id} edge agent`, tools = [] } = more;
    const features = ["tool", "prompt", "cancel", "ack", "question", "route"];
    return {
      id: this.id,
      online,
      last_seen: Date.now(),
      foreign: false,
      presence: await this.say("presence", { state: online ? "online" : "offline", reason: "birth" }),
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

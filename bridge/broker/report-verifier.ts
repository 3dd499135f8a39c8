/**
 * Checks the signatures (or the HMACs of sessions) and the counters of agents' messages. Home does that for itself too. But a
 * message that the bridge drops here cannot change its view of who is online, nor take the place of a true report in its buffer.
 */
import { fromBase64Url } from "@edgecall/core/encoding.ts";
import { isTextKind, type TextKind } from "@edgecall/core/protocol/frames.ts";
import type { AgentKey, BridgeSession, StoredTexts } from "@edgecall/core/protocol/home-frames.ts";
import { Presence } from "@edgecall/core/protocol/mqtt.ts";
import type { TopicKind } from "@edgecall/core/protocol/names.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import { type Freshness, ReplayWindow } from "@edgecall/core/protocol/replays.ts";
import { isOfSession } from "@edgecall/core/protocol/session.ts";
import { type Stamp, signedBytes, splitSigned, stampOf } from "@edgecall/core/protocol/signing.ts";
import { type Verifier, verifierOf } from "@edgecall/node/keypair.ts";
import { MacKey } from "@edgecall/node/session.ts";
import { hashOf } from "./text-hash.ts";

type KnownSession = { of: BridgeSession; key: MacKey };

type Known = {
  text: string | null;
  /** Undefined: the key is revoked or invalid. */
  verifier: Verifier | undefined;
  session: KnownSession | undefined;
  /** The highest counter that was accepted for each kind. Retained messages come again and again. */
  retained: Record<TextKind, number>;
  /** The highest counter of a live message. A presence from before it is old. */
  newestLive: number;
  /** The texts that Home has stored under this key. */
  stored: StoredTexts | undefined;
  /** The run of the last signed message that was published with too low a number; undefined: none was since one counted. */
  behind: string | undefined;
  /** The counters of live messages. None from before the newest presence is accepted. */
  live: ReplayWindow;
};

export class ReportVerifier {
  #known = new Map<string, Known>();
  /** The text that was hashed last: one message is looked at more than once. */
  #hashed = { text: "", hash: "" };

  /** Takes Home's complete list of keys. @returns the agents whose key changed */
  learn(keys: readonly AgentKey[]): string[] {
    const before = this.#known;
    this.#known = new Map(
      keys.map(({ id, key, n, session }) => {
        const same = before.get(id);
        const known = same?.text === key ? same : newKnown(key, n);
        known.retained.presence = Math.max(known.retained.presence, n);
        known.session = toSession(session, known.session);
        return [id, known];
      }),
    );
    return keys.flatMap(({ id }) => (before.get(id) === this.#known.get(id) ? [] : [id]));
  }

  /** Home has verified and stored these texts, which are not verified again: that would take half a second for 1,000 agents. */
  learnStored(texts: readonly StoredTexts[]): void {
    for (const known of this.#known.values()) known.stored = undefined;
    for (const text of texts) {
      const known = this.#known.get(text.id);
      if (known) known.stored = text;
    }
  }

  /** True if Home has stored exactly this text of an agent that has a key. */
  isStored(agent: string, kind: TextKind, text: string): boolean {
    const hash = this.#known.get(agent)?.stored?.[kind];
    if (hash === undefined) return false;
    if (this.#hashed.text !== text) this.#hashed = { text, hash: hashOf(text) };
    return this.#hashed.hash === hash;
  }

  /** Home says that a run of the agent has a session. */
  learnSession(agent: string, session: BridgeSession): void {
    const known = this.#known.get(agent);
    if (known) known.session = toSession(session, known.session);
  }

  /** The agents whose messages must be signed. */
  keyed(): Iterable<string> {
    return this.#known.keys();
  }

  /** True if the agent has a key on record: then only what it signed counts. */
  isKeyed(agent: string): boolean {
    return this.#known.has(agent);
  }

  /**
   * The agent's key signs what is published now, but with numbers that were used before. An old recording looks the same.
   * @returns its run, and the highest number that counted
   */
  behind(agent: string): { run: string; newest: number } | undefined {
    const known = this.#known.get(agent);
    if (known?.behind === undefined) return undefined;
    return { run: known.behind, newest: Math.max(known.retained.presence, known.newestLive) };
  }

  /**
   * Takes a message. @returns why it does not count, in words; undefined: it counts
   * @param live it was published just now, and is not a retained one
   */
  problem(agent: string, kind: TopicKind, text: string, live: boolean): string | undefined {
    const known = this.#known.get(agent);
    if (!known) return undefined;
    if (!known.verifier) return "the agent's key was revoked";
    const isStored = isTextKind(kind) && this.isStored(agent, kind, text);
    const n = isStored ? stampIn(text)?.n : counterOf(known, agent, kind, text);
    if (n === undefined) return "not signed with the agent's key";
    const isText = isTextKind(kind);
    const freshness = isText ? acceptText(known, kind, n, text) : live ? acceptLive(known, n) : "fresh";
    // The will of an earlier connection comes late and is old.
    const isSignOfLife = kind === "reports" || (kind === "presence" && saysOnline(text));
    if (isSignOfLife && live)
      known.behind =
        freshness === "old" ? stampIn(text)?.boot_id : freshness === "fresh" ? undefined : known.behind;
    if (freshness === "fresh") return undefined;
    return isText ? "an old one, said again" : "it was said before";
  }
}

function acceptText(known: Known, kind: TextKind, n: number, text: string): Freshness {
  if (n < known.retained[kind]) return "old";
  if (kind === "presence" && n < known.newestLive && !(n === known.retained.presence && saysOnline(text)))
    return "old";
  known.retained[kind] = n;
  if (kind === "presence") known.live.raise(n);
  return "fresh";
}

function acceptLive(known: Known, n: number): Freshness {
  const freshness = known.live.accept(n);
  if (freshness === "fresh") known.newestLive = Math.max(known.newestLive, n);
  return freshness;
}

/** A run's birth stands as long as the run. A goodbye or a will ends with the first message after it. */
function saysOnline(text: string): boolean {
  const presence = checkJson(Presence, text);
  return presence.ok && presence.value.state === "online";
}

function newKnown(text: string | null, n: number): Known {
  const live = new ReplayWindow(n);
  const verifier = text === null ? undefined : verifierOf(text);
  return {
    text,
    verifier,
    session: undefined,
    retained: { capabilities: 0, tools: 0, presence: n },
    newestLive: 0,
    stored: undefined,
    behind: undefined,
    live,
  };
}

/** @returns the counter of a text that the agent signed, or sent in its session; undefined: neither */
function counterOf(known: Known, agent: string, kind: TopicKind, text: string): number | undefined {
  const { verifier, session } = known;
  const place = { agent, kind };
  if (session && isOfSession(kind) && session.key.isOn(place, text)) {
    const stamp = stampIn(text);
    return stamp?.boot_id === session.of.boot_id ? stamp.n : undefined;
  }
  const split = splitSigned(text);
  if (!split || verifier?.(signedBytes(place, split.body), split.signature) !== true) return undefined;
  return stampIn(text)?.n;
}

function stampIn(text: string): Stamp | undefined {
  const stamp = stampOf(text);
  return stamp.ok ? stamp.value : undefined;
}

/** @param before stays if it is the same */
function toSession(
  session: BridgeSession | undefined,
  before: KnownSession | undefined,
): KnownSession | undefined {
  if (before?.of === session) return before;
  return session && { of: session, key: new MacKey("bridge", fromBase64Url(session.key)) };
}

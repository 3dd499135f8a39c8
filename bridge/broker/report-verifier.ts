/**
 * Checks the signatures and counters of agents' messages. Home does that for itself too. But a message that the bridge
 * drops here cannot change its view of who is online, nor take the place of a true report in its buffer.
 */
import type { AgentKey } from "@edgecall/core/protocol/frames.ts";
import { Presence } from "@edgecall/core/protocol/mqtt.ts";
import type { TopicKind } from "@edgecall/core/protocol/names.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import { ReplayWindow } from "@edgecall/core/protocol/replays.ts";
import { signedBytes, splitSigned, stampOf } from "@edgecall/core/protocol/signing.ts";
import { type Verifier, verifierOf } from "@edgecall/node/keypair.ts";

type Retained = "capabilities" | "tools" | "presence";

type Known = {
  text: string | null;
  /** Undefined: the key is revoked or invalid. */
  verifier: Verifier | undefined;
  /** The highest counter that was accepted for each kind. Retained messages come again and again. */
  retained: Record<Retained, number>;
  /** The highest counter of a live message. A presence from before it is old. */
  newestLive: number;
  /** The counters of live messages. None from before the newest presence is accepted. */
  live: ReplayWindow;
};

export class ReportVerifier {
  #known = new Map<string, Known>();

  /** Takes Home's complete list of keys. @returns the agents whose key changed */
  learn(keys: readonly AgentKey[]): string[] {
    const before = this.#known;
    this.#known = new Map(
      keys.map(({ id, key, n }) => {
        const same = before.get(id);
        if (same?.text !== key) return [id, newKnown(key, n)];
        same.retained.presence = Math.max(same.retained.presence, n);
        return [id, same];
      }),
    );
    return keys.flatMap(({ id }) => (before.get(id) === this.#known.get(id) ? [] : [id]));
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
   * Takes a message. @returns why it does not count, in words; undefined: it counts
   * @param live it was published just now, and is not a retained one
   */
  problem(agent: string, kind: TopicKind, text: string, live: boolean): string | undefined {
    const known = this.#known.get(agent);
    if (!known) return undefined;
    const n = signedBy(known.verifier, agent, kind, text);
    if (n === undefined)
      return known.verifier ? "not signed with the agent's key" : "the agent's key was revoked";
    if (kind === "capabilities" || kind === "tools" || kind === "presence") {
      if (n < known.retained[kind]) return OLD;
      if (kind === "presence" && n < known.newestLive && !(n === known.retained.presence && saysOnline(text)))
        return OLD;
      known.retained[kind] = n;
      if (kind === "presence") known.live.raise(n);
      return undefined;
    }
    if (live && known.live.take(n) !== "fresh") return "it was said before";
    if (live) known.newestLive = Math.max(known.newestLive, n);
    return undefined;
  }
}

const OLD = "an old one, said again";

/** A run's birth stands as long as the run. A goodbye or a will ends with the first message after it. */
function saysOnline(text: string): boolean {
  const presence = checkJson(Presence, text);
  return presence.ok && presence.value.state === "online";
}

function newKnown(text: string | null, n: number): Known {
  const live = new ReplayWindow(n);
  const verifier = text === null ? undefined : verifierOf(text);
  return { text, verifier, retained: { capabilities: 0, tools: 0, presence: n }, newestLive: 0, live };
}

/** @returns the counter of a text that this key signed; undefined: not signed by it */
function signedBy(
  verifier: Verifier | undefined,
  agent: string,
  kind: TopicKind,
  text: string,
): number | undefined {
  const split = splitSigned(text);
  if (!verifier || !split) return undefined;
  if (!verifier(signedBytes({ agent, kind }, split.body), split.signature)) return undefined;
  const stamp = stampOf(text);
  return stamp.ok ? stamp.value.n : undefined;
}

/**
 * Whose messages count. Home decides that for itself; but what the bridge drops here cannot disturb its judgement of
 * who is there, nor take the place of a true report in its buffer.
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
  /** Undefined: revoked, or no key. */
  verifier: Verifier | undefined;
  /** The highest counter that was believed of each: what the broker has retained comes again and again. */
  retained: Record<Retained, number>;
  /** The highest counter of what came live: a presence from before it is of the past. */
  heard: number;
  /** What came live; and nothing from before the newest presence, which says that all of it is past. */
  live: ReplayWindow;
};

export class ReportVerifier {
  #known = new Map<string, Known>();

  /** All keys, as Home has them. @returns the agents whose standing changed */
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

  /** The agents whose messages count by their signature. */
  keyed(): Iterable<string> {
    return this.#known.keys();
  }

  /** Whether it has a key on record: then nothing counts that it did not sign. */
  isKeyed(agent: string): boolean {
    return this.#known.has(agent);
  }

  /**
   * Takes a message. @returns what speaks against it, in words; undefined: it counts
   * @param live it is said now; the broker did not keep it
   */
  problem(agent: string, kind: TopicKind, text: string, live: boolean): string | undefined {
    const known = this.#known.get(agent);
    if (!known) return undefined;
    const n = signedBy(known.verifier, agent, kind, text);
    if (n === undefined)
      return known.verifier ? "not signed with the agent's key" : "the agent's key was revoked";
    if (kind === "capabilities" || kind === "tools" || kind === "presence") {
      if (n < known.retained[kind]) return OLD;
      if (kind === "presence" && n < known.heard && !(n === known.retained.presence && saysOnline(text)))
        return OLD;
      known.retained[kind] = n;
      if (kind === "presence") known.live.raise(n);
      return undefined;
    }
    if (live && known.live.take(n) !== "fresh") return "it was said before";
    if (live) known.heard = Math.max(known.heard, n);
    return undefined;
  }
}

const OLD = "an old one, said again";

/** The birth of a run stands as long as the run does; a goodbye or a will is over as soon as something is said after it. */
function saysOnline(text: string): boolean {
  const presence = checkJson(Presence, text);
  return presence.ok && presence.value.state === "online";
}

function newKnown(text: string | null, n: number): Known {
  const live = new ReplayWindow(n);
  const verifier = text === null ? undefined : verifierOf(text);
  return { text, verifier, retained: { capabilities: 0, tools: 0, presence: n }, heard: 0, live };
}

/** @returns the counter of a text that this key signed */
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

/**
 * Publishes the changes of rules as the event `event`, again and again until the gateway acknowledges each. Of one rule only the
 * oldest is out: the gateway drops a change that comes behind a later one.
 */
import type { AgentEvent } from "@edgecall/core/protocol/mqtt.ts";
import type { RuleChange } from "@edgecall/core/protocol/rules.ts";

/** Pauses before a change is published again. The last one stays. */
const AGAIN_MS = [5_000, 10_000, 20_000, 30_000];

export type ChangeEvent = Extract<AgentEvent, { type: "event" }>;

type Out = { seq: number; tries: number; timer: NodeJS.Timeout | undefined };

export type ChangeSenderParts = {
  publish(event: ChangeEvent): void;
  /** Oldest first. */
  pending(): readonly RuleChange[];
  /** Words of the device about a rule's last event. */
  textOf(rule: string): string | undefined;
  againMs?: readonly number[];
};

export class ChangeSender {
  readonly #parts: ChangeSenderParts;
  /** By rule. */
  readonly #out = new Map<string, Out>();

  constructor(parts: ChangeSenderParts) {
    this.#parts = parts;
  }

  /** There are changes that may be sent, or one of them is stored. */
  look(): void {
    const heads = new Map<string, RuleChange>();
    for (const change of this.#parts.pending()) if (!heads.has(change.rule)) heads.set(change.rule, change);
    for (const [rule, out] of this.#out)
      if (heads.get(rule)?.seq !== out.seq) {
        clearTimeout(out.timer);
        this.#out.delete(rule);
      }
    for (const change of heads.values())
      if (!this.#out.has(change.rule)) this.#send(change, { seq: change.seq, tries: 0, timer: undefined });
  }

  /** There is a connection: each change that is out may have been lost with the one before. */
  connected(): void {
    for (const { timer } of this.#out.values()) clearTimeout(timer);
    this.#out.clear();
    this.look();
  }

  stop(): void {
    for (const { timer } of this.#out.values()) clearTimeout(timer);
    this.#out.clear();
  }

  #send(change: RuleChange, out: Out): void {
    const { publish, textOf, againMs = AGAIN_MS } = this.#parts;
    const text = change.state === "firing" ? textOf(change.rule) : undefined;
    publish({ type: "event", request_id: changeId(change), change, ...(text !== undefined && { text }) });
    out.timer = setTimeout(() => this.#send(change, out), againMs[Math.min(out.tries, againMs.length - 1)]);
    out.tries += 1;
    this.#out.set(change.rule, out);
  }
}

/** The id by which a change is acknowledged: `w-7f2c:12`. */
function changeId({ rule, seq }: RuleChange): string {
  return `${rule}:${seq}`;
}

/** @returns the rule and the number of the change that this acknowledges; undefined: it is no change's id */
export function readChangeId(id: string): { rule: string; seq: number } | undefined {
  const [, rule, seq] = /^([wr]-[0-9a-f]{4,12}):(\d{1,15})$/.exec(id) ?? [];
  return rule === undefined ? undefined : { rule, seq: Number(seq) };
}

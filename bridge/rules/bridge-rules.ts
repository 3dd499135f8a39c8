/**
 * Home's rules on hosted devices, evaluated on each state that comes. Only a change of a rule's state goes to Home,
 * also one that came about while the gateway was away.
 */

import type { HomeFrame } from "@edgecall/core/protocol/home-frames.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { isMomentary } from "@edgecall/core/rules/watch-rule.ts";
import type { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import type { SourcedReading } from "@edgecall/discovery/model/device.ts";
import type { Part } from "@edgecall/discovery/model/source.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import type { Log } from "@edgecall/node/log.ts";
import { type WatchedRule, WatchedRules } from "@edgecall/node/watched-rules.ts";
import type { LiveReadings } from "../devices/live-readings.ts";
import type { GatewayLink } from "../gateway/gateway.ts";

/** A home has as many rules in all. */
const RULES_MAX = 100;
/** Changes that Home did not take are sent again so often. */
const AGAIN_MS = 30_000;

const Place = z.object({ device: z.string() });
type Rule = WatchedRule<z.infer<typeof Place>>;

export type BridgeRulesParts = {
  path: string;
  catalog: Pick<DeviceCatalog, "keysOf">;
  live: LiveReadings;
  clock: Clock;
  gateway: Pick<GatewayLink, "send">;
  log: Log;
};

/** The last thing that a rule was given, so that the same value is not given twice: a repetition would count as a sign of life. */
type Given = { message: number; value: SourcedReading["value"] } | "missing";

export class BridgeRules {
  readonly #parts: BridgeRulesParts;
  readonly #rules: WatchedRules<z.infer<typeof Place>>;
  readonly #given = new Map<string, Given>();
  #isWanted = false;
  /** A frame with changes is out. */
  #isOut = false;
  #again: NodeJS.Timeout | undefined;

  private constructor(parts: BridgeRulesParts, rules: WatchedRules<z.infer<typeof Place>>) {
    this.#parts = parts;
    this.#rules = rules;
  }

  static async open(parts: BridgeRulesParts): Promise<BridgeRules> {
    const { path, log, clock } = parts;
    let onChanges = () => {};
    const rules = await WatchedRules.open({
      path,
      place: Place,
      max: RULES_MAX,
      log,
      clock,
      onChanges: () => onChanges(),
    });
    const hosted = new BridgeRules(parts, rules);
    onChanges = () => hosted.#send();
    return hosted;
  }

  /** Of the rules and their versions, for the hello. */
  get hash(): string {
    return this.#rules.hash;
  }

  /** The gateway has welcomed the bridge. @param isWanted whether it knows rules */
  welcomed(isWanted: boolean): void {
    this.#isWanted = isWanted;
    this.#isOut = false;
    this.#send();
  }

  gatewayLost(): void {
    this.#isWanted = false;
    clearTimeout(this.#again);
  }

  /** Takes Home's rules, and looks at the values of now. */
  async onRules({ set, drop, all }: Extract<HomeFrame, { t: "rules" }>): Promise<void> {
    const rules = set.map(({ condition, device, known }) => ({ condition, place: { device }, known }));
    for (const { condition } of rules) this.#given.delete(condition.id);
    const refused = await this.#rules.change({ set: rules, drop, all });
    for (const { id, why } of refused) this.#parts.log("warn", "rules.refused", { rule: id, reason: why });
    this.look();
  }

  /** Home has stored changes. */
  onChanged({ upto }: Extract<HomeFrame, { t: "changed" }>): void {
    for (const [rule, seq] of Object.entries(upto)) this.#rules.stored(rule, seq);
    this.#isOut = false;
    this.#send();
  }

  /** The catalog has read a message. @param readBy the parts that it is about */
  onMessage(readBy: () => readonly Part[]): void {
    if (this.#rules.size === 0 || !this.#parts.live.isUp) return;
    const keys = this.#parts.catalog.keysOf(readBy(), this.#parts.clock.wall());
    if (keys.length > 0)
      for (const rule of this.#rules.all()) if (keys.includes(rule.place.device)) this.#give(rule);
  }

  /** Looks at all values: what became unavailable by its silence alone comes in no message. */
  look(): void {
    if (this.#parts.live.isUp) for (const rule of this.#rules.all()) this.#give(rule);
  }

  /** A source of devices was lost. */
  sourceLost(): void {
    for (const rule of this.#rules.all()) this.#give(rule);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#again);
    await this.#rules.stop();
  }

  #give(rule: Rule): void {
    const { condition, place, state } = rule;
    const reading = this.#parts.live.of(place.device, condition.reading);
    if (!reading) {
      this.#miss(rule);
      return;
    }
    const { message, value, unit, own } = reading;
    const given = this.#given.get(condition.id);
    if (given !== undefined && given !== "missing" && given.message === message && given.value === value)
      return;
    this.#given.set(condition.id, { message, value });
    // A value that was kept from before tells of no moment. It may only be the value with which the next one is compared.
    const isOld = isMomentary(condition) && reading.isOld;
    const mayFire = condition.is === "happens" || (condition.tell_own && state.base !== undefined);
    if (isOld && mayFire) return;
    this.#rules.step(condition.id, { value, unit, own: own !== undefined || isOld });
  }

  #miss(rule: Rule): void {
    const { id } = rule.condition;
    if (this.#given.get(id) === "missing") return;
    this.#given.set(id, "missing");
    if (rule.condition.is !== "happens") this.#rules.step(id, { missing: true });
  }

  /** Sends all that waits, one frame at a time: Home drops a change that comes behind a later one. */
  #send(): void {
    const { gateway } = this.#parts;
    const changes = this.#rules.pending();
    if (!this.#isWanted || this.#isOut || changes.length === 0) return;
    const { lost } = this.#rules;
    if (!gateway.send({ t: "changes", changes, ...(lost > 0 && { lost }) })) return;
    this.#isOut = true;
    clearTimeout(this.#again);
    this.#again = setTimeout(() => {
      this.#isOut = false;
      this.#send();
    }, AGAIN_MS);
  }
}

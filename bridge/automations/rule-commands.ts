/**
 * Carries out the steps of rules that act: in the device's own lane, ledger and confirmation, as a call of Home. An id that the ledger
 * knows is never sent again.
 */

import type { ForeseenCall } from "@edgecall/core/automations/device.ts";
import type { Effect, LedgerSays, ValuesBefore } from "@edgecall/core/automations/state.ts";
import type { Automation, AutomationStep } from "@edgecall/core/protocol/automation.ts";
import type { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import type { HostedDevice, Mark } from "@edgecall/discovery/model/device.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import type { DeviceCalls, OwnCommand } from "../devices/calls.ts";
import type { LiveReadings } from "../devices/live-readings.ts";
import type { GatewayActs } from "./gateway-acts.ts";
import { type Ending, endingOf, endingOfAct, endingOfEntry, endingOfRefusal } from "./step-outcome.ts";

/** A command has so much more than the time of its confirmation: calls of the same device may be before it. */
const TURN_MS = 60_000;

export type RuleCommandsParts = {
  catalog: DeviceCatalog;
  live: LiveReadings;
  calls: DeviceCalls;
  acts: GatewayActs;
  clock: Clock;
  /** True while not all devices are known. */
  isBusy(): boolean;
  /** Home Assistant has not said since the start which devices it has. */
  isUnread(): boolean;
};

type Rule = Pick<Automation, "id" | "version">;
type Do = Extract<Effect, { of: "do" }>;
type Undo = Extract<Effect, { of: "undo" }>;
type Look = Extract<Effect, { of: "look" }>;
/** `takenBack`: its device had reported it, and then another thing. */
type OnEnd = (ending: Ending, takenBack?: true) => void;

const SEEN_LATER = "It was seen after an interruption.";
const GONE = "Its device is not known here any more.";
const NOT_YET = "Its device is not known here yet.";

/** The way back from a step, or why there is none. `asks`: a person has to be asked for it. */
type WayBack = ForeseenCall | { text: string; kept?: true; asks?: true };

export class RuleCommands {
  readonly #parts: RuleCommandsParts;
  /** The moment before a command, by its id. */
  readonly #marks = new Map<string, Mark>();

  constructor(parts: RuleCommandsParts) {
    this.#parts = parts;
  }

  /** A step. `onEnd` is called once, and again if its device takes back what it reported. */
  do(rule: Rule, { id, action: step, firing, step: number }: Do, onEnd: OnEnd): void {
    if (isOfGateway(step)) {
      const { id: ruleId, version } = rule;
      const isOut = this.#parts.acts.begin({ id, rule: ruleId, version, firing, step: number }, (acted) =>
        onEnd(endingOfAct(acted)),
      );
      if (!isOut) onEnd({ outcome: "not_sent", text: "The gateway is not connected.", again: true });
      return;
    }
    this.#send(id, step, step, onEnd);
  }

  /** Brings values back where they are still what the step asked for. */
  undo({ id, undoes: step, before }: Undo, onEnd: OnEnd): void {
    const back = this.#wayBack(step, before);
    if (this.#isAway(step)) onEnd({ outcome: "not_sent", text: NOT_YET, again: true });
    else if ("action" in back) this.#send(id, step, back, onEnd);
    else {
      const { text, kept } = back;
      onEnd({ outcome: "not_sent", text, ...(kept && { kept }) });
    }
  }

  /**
   * Tells whether an undo of the step can be sent now: all places that offer one ask this. Of a device that is not known yet nothing speaks
   * against it, and an undo is tried until it is known.
   */
  hasWayBack(step: AutomationStep, before: ValuesBefore): boolean {
    if (this.#isAway(step)) return true;
    return "action" in this.#wayBack(step, before) && this.problemOf(step) === undefined;
  }

  /** Tells whether a person has to be asked for the way back of a step, which is there. */
  asksForWayBack(step: AutomationStep, before: ValuesBefore): boolean {
    return "asks" in this.#wayBack(step, before);
  }

  /** Tells whether the device reports already what a step asks for. */
  isSo(step: AutomationStep): boolean {
    const { catalog, clock } = this.#parts;
    const device = isOfGateway(step) ? undefined : this.#device(step);
    return device !== undefined && catalog.isAsAsked(device.id, step, clock.wall()) === true;
  }

  /** Its device is not known, and nothing says yet that it is gone. */
  #isAway(step: AutomationStep): boolean {
    return !isOfGateway(step) && !this.#device(step) && this.problemOf(step) === undefined;
  }

  #wayBack(step: AutomationStep, before: ValuesBefore | undefined): WayBack {
    const { catalog, clock } = this.#parts;
    if (isOfGateway(step)) return { text: "A rule brings back nothing that went through the gateway." };
    const device = this.#device(step);
    if (!device) return { text: GONE };
    if (before === undefined) return { text: "Its value before is not known." };
    const now = clock.wall();
    if (catalog.isAsAsked(device.id, step, now) === false)
      return { text: `${device.name} was changed since, so it stays.`, kept: true };
    const back = catalog.undoTo(device.id, step, before, now);
    if (back === "dangerous") return { text: "A person has to ask for the way back.", asks: true };
    return back ?? { text: "Nothing brings its value before back." };
  }

  /** Looks whether a step that was sent is confirmed now. */
  lookNow(rule: Rule, look: Look, onEnd: OnEnd): void {
    const { id, action: step, firing, step: number } = look;
    if (isOfGateway(step)) {
      const { id: ruleId, version } = rule;
      const isOut = this.#parts.acts.begin({ id, rule: ruleId, version, firing, step: number }, (acted) =>
        onEnd(endingOfAct(acted)),
      );
      if (!isOut) onEnd({ outcome: "unknown", text: "The bridge was ended before the gateway answered." });
      return;
    }
    const missing: Ending = {
      outcome: "unconfirmed",
      text: "It was sent, and the bridge was ended before an answer came.",
    };
    const device = this.#device(step);
    const wanted = device && this.#lookedFor(device, look);
    if (!device || !wanted) {
      onEnd(missing);
      return;
    }
    void this.#parts.calls.reported(commandOf(id, device, wanted), { message: 0, at: 0 }).then((text) => {
      // The time since the command is not known any more.
      const state = text?.replace(/, (?:the last|reported) [\d.]+ s after the command\.$/, ".");
      onEnd(state === undefined ? missing : { outcome: "confirmed", text: `${state} ${SEEN_LATER}` });
    });
  }

  /** The state that a step asked for; undefined: it is not known any more. */
  #lookedFor({ id }: HostedDevice, { action: step, back }: Look): AutomationStep | undefined {
    if (!back) return step;
    const { catalog, clock } = this.#parts;
    const call = catalog.undoTo(id, step, back, clock.wall());
    return typeof call === "object" ? { ...step, ...call } : undefined;
  }

  /** Watches for a late confirmation. @param ms so long @returns its words; undefined: none came */
  async lookOn(look: Look, ms: number): Promise<string | undefined> {
    const { id, action: step } = look;
    const { calls, catalog, clock } = this.#parts;
    const device = isOfGateway(step) ? undefined : this.#device(step);
    const wanted = device && this.#lookedFor(device, look);
    if (!device || !wanted || ms <= 0) return undefined;
    const since = this.#marks.get(id) ?? catalog.mark(clock.wall());
    return await calls.reported(commandOf(id, device, wanted), since, ms);
  }

  /** Values of what a step may change; undefined: not all of them are known. */
  before(step: AutomationStep): ValuesBefore | undefined {
    const { catalog, clock, live } = this.#parts;
    const device = isOfGateway(step) ? undefined : this.#device(step);
    const foreseen = device && catalog.foresee(device.id, step.action, step.parameters, clock.wall());
    if (!foreseen || "error" in foreseen) return undefined;
    const values = foreseen.readings.flatMap((name) => {
      const value = live.of(step.key, name)?.value ?? null;
      return value === null ? [] : [[name, value] as const];
    });
    return values.length === 0 ? undefined : Object.fromEntries(values);
  }

  /** The ledger's word on an id after a start. */
  ledger(id: string, step: AutomationStep | undefined): LedgerSays {
    // The gateway has its own: it is asked again.
    if (step && isOfGateway(step)) return "sent";
    const entry = this.#parts.calls.entry(id);
    if (!entry) return "none";
    const ending = endingOfEntry(entry);
    return typeof ending === "string" ? ending : { outcome: ending.outcome, text: ending.text };
  }

  /** @returns why a step's device is none that the rule was allowed for; undefined: it is */
  problemOf(step: AutomationStep): "device_gone" | "device_changed" | undefined {
    if (step.of === "agent") return undefined;
    const device = this.#device(step);
    const { isBusy, isUnread } = this.#parts;
    if (!device) return isBusy() || isUnread() ? undefined : "device_gone";
    const isSame = step.allow === device.allowHash || step.allow === device.allowHashBefore;
    return isSame ? undefined : "device_changed";
  }

  #send(
    id: string,
    step: AutomationStep,
    call: Pick<OwnCommand, "action" | "parameters">,
    onEnd: OnEnd,
  ): void {
    const { catalog, calls, clock } = this.#parts;
    const known = calls.entry(id);
    if (known) {
      const ending = endingOfEntry(known);
      onEnd(typeof ending === "string" ? { outcome: "unknown", text: "It was sent before." } : ending);
      return;
    }
    const device = this.#device(step);
    const problem = this.problemOf(step);
    if (!device || problem !== undefined) {
      if (problem === undefined) onEnd({ outcome: "not_sent", text: NOT_YET, again: true });
      else {
        const text =
          problem === "device_changed" ? `${device?.name} has changed since it was allowed.` : GONE;
        onEnd({ outcome: "not_sent", text, pause: problem });
      }
      return;
    }
    const now = clock.wall();
    const foreseen = catalog.foresee(device.id, call.action, call.parameters, now);
    const waitMs = "error" in foreseen ? 0 : foreseen.waitMs;
    let isOpen = true;
    const end = (ending: Ending) => {
      if (!isOpen) return;
      isOpen = false;
      onEnd(ending);
    };
    this.#marks.set(id, catalog.mark(now));
    if (this.#marks.size > 500)
      for (const first of this.#marks.keys()) {
        this.#marks.delete(first);
        break;
      }
    calls.carryOut(
      { ...commandOf(id, device, { ...step, ...call }), withinMs: waitMs + TURN_MS },
      {
        accepted: () => {},
        refused: (_, code, message) => end(endingOfRefusal(code, message)),
        reported: (_, outcome) => {
          if (outcome.payload.corrects === true) onEnd(endingOf(outcome), true);
          else if (isOpen) end(endingOf(outcome));
          // A late answer, which is looked for elsewhere.
          else calls.settle(id);
        },
      },
    );
  }

  #device({ key }: AutomationStep): HostedDevice | undefined {
    return this.#parts.catalog.deviceOf(key, this.#parts.clock.wall());
  }
}

/** An action of a paired agent, or what asks a person at that moment. */
export function isOfGateway({ of, danger }: AutomationStep): boolean {
  return of === "agent" || danger === "way_in";
}

function commandOf(
  id: string,
  device: HostedDevice,
  { key, action, parameters, allow }: AutomationStep,
): Omit<OwnCommand, "withinMs"> {
  return { id, agent: device.id, key, action, parameters, allow };
}

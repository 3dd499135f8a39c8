/** `cover` and `valve`: they move, which takes time, and may report where they are. */

import { Quantity } from "@edgecall/core/text/quantity.ts";
import { type Written, withSteps } from "../../model/entity/draft.ts";
import type { Command, Expectation, SlotValue, Values } from "../../model/entity/entity.ts";
import { samePosition } from "../../model/entity/fit.ts";
import { fromPercent, plain, toPercent, withUnit } from "../../model/entity/words.ts";
import {
  commandPayload,
  flagField,
  isObject,
  numberField,
  numberOf,
  payloadField,
} from "../config/fields.ts";
import { parsedJson } from "../states/message.ts";
import { type MqttDraft, type Output, topicsOf, write } from "./draft.ts";
import { matchesPayload, NONE } from "./values.ts";

const MOVING = ["opening", "closing"];

export function cover(draft: MqttDraft): void {
  const { config } = draft;
  if (["garage", "gate", "door", "damper"].includes(draft.class ?? ""))
    draft.danger = `it is a ${draft.class}`;
  const [closed, open] = [
    numberField(config, "position_closed", 0),
    numberField(config, "position_open", 100),
  ];
  const [tiltLow, tiltHigh] = [numberField(config, "tilt_min", 0), numberField(config, "tilt_max", 100)];
  const ranges = { position_open: open, position_closed: closed, tilt_min: tiltLow, tilt_max: tiltHigh };
  const range = { low: closed, high: open };

  draft.slot("state", "state_topic", ["value_template"], movement(draft, true));
  draft.slot(
    "position",
    "position_topic",
    ["position_template"],
    (text) => positionOf(text, "position", closed, open),
    { variables: ranges },
  );
  draft.slot(
    "tilt",
    "tilt_status_topic",
    ["tilt_status_template"],
    (text) => positionOf(text, "tilt_position", tiltLow, tiltHigh),
    { variables: ranges },
  );
  moverReadings(draft);
  draft.reading("tilt", withUnit("%"), { label: "tilt", unit: "%" });

  const main = draft.output("command_topic");
  const payload = (key: string, byDefault: string) => commandPayload(config, key, byDefault);
  mover(draft, main, range, "open", payload("payload_open", "OPEN"));
  mover(draft, main, range, "close", payload("payload_close", "CLOSE"));
  mover(draft, main, range, "stop", payload("payload_stop", "STOP"));

  const position = draft.output("set_position_topic", "set_position_template");
  if (position)
    positioned(draft, "set_position", "position", position, range, (percentage) =>
      write(position, fromPercent(percentage, closed, open), { ...ranges, position: percentage }),
    );
  const tilt = draft.output("tilt_command_topic", "tilt_command_template");
  if (tilt)
    positioned(draft, "set_tilt", "tilt", tilt, { low: tiltLow, high: tiltHigh }, (percentage) =>
      write(tilt, fromPercent(percentage, tiltLow, tiltHigh), { ...ranges, tilt_position: percentage }),
    );
}

export function valve(draft: MqttDraft): void {
  const { config } = draft;
  draft.danger = "it is a valve";
  const reports = flagField(config, "reports_position", false);
  const [closed, open] = [
    numberField(config, "position_closed", 0),
    numberField(config, "position_open", 100),
  ];
  const ranges = { position_open: open, position_closed: closed };
  const range = { low: closed, high: open };
  const output = draft.output("command_topic", "command_template");
  const parse = movement(draft, !reports);
  const position = (value: string) =>
    reports && parse(value) === undefined ? positionOf(value, "position", closed, open) : undefined;
  const state = (value: string) => {
    const said = parse(jsonMember(value, "state") ?? value);
    const at = position(value);
    // A position alone says that the movement is over.
    return said ?? (at instanceof Quantity ? (at.value === 0 ? "closed" : "open") : undefined);
  };
  draft.slot("state", "state_topic", ["value_template"], state, { variables: ranges });
  if (reports) draft.slot("position", "state_topic", ["value_template"], position, { variables: ranges });
  moverReadings(draft);
  const stop = commandPayload(config, "payload_stop");
  if (!reports) {
    mover(draft, output, range, "open", commandPayload(config, "payload_open", "OPEN"));
    mover(draft, output, range, "close", commandPayload(config, "payload_close", "CLOSE"));
    mover(draft, output, range, "stop", stop);
    return;
  }
  if (!output) return;
  const send = (percentage: number) =>
    write(output, fromPercent(percentage, closed, open), { ...ranges, position: percentage });
  move(draft, "open", output, range, () => send(100));
  move(draft, "close", output, range, () => send(0));
  positioned(draft, "set_position", "position", output, range, send);
  mover(draft, output, range, "stop", stop);
}

/** The reader of `open opening closed closing stopped` in the device's words. */
function movement(draft: MqttDraft, ends: boolean): (text: string) => SlotValue | undefined {
  const states = (ends ? ["open", "closed", "opening", "closing", "stopped"] : MOVING).map(
    (state) => [state, payloadField(draft.config, `state_${state}`, state)] as const,
  );
  return (text) => (text === NONE ? null : states.find(([, payload]) => matchesPayload(text, payload))?.[0]);
}

/** A position as percent of open. It may be a member of JSON. */
function positionOf(text: string, member: string, low: number, high: number): SlotValue | undefined {
  if (text === NONE) return null;
  const value = numberOf(jsonMember(text, member) ?? text);
  return value === undefined ? undefined : toPercent(value, low, high);
}

function jsonMember(text: string, member: string): string | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    const value = parsedJson(text);
    return isObject(value) && value[member] !== undefined ? String(value[member]) : undefined;
  } catch {
    return undefined;
  }
}

function moverReadings(draft: MqttDraft): void {
  const isState = draft.slots.some(({ name }) => name === "state");
  const isPosition = draft.slots.some(({ name }) => name === "position");
  draft.reading("state", plain);
  // Its position is what it is about, where it reports nothing else.
  draft.reading(
    "position",
    (value) => `${withUnit("%")(value)}${value instanceof Quantity && value.value === 0 ? " (closed)" : ""}`,
    {
      ...(isState && { label: "position" }),
      unit: "%",
    },
  );
  if (isPosition || draft.has("set_position_topic")) draft.details.push("position");
}

/** Bounds of a position, in the device's own numbers. */
type Range = { low: number; high: number };

const ENDS = { open: "Open it.", close: "Close it.", stop: "Stop its movement." } as const;

function mover(
  draft: MqttDraft,
  output: Output | undefined,
  range: Range,
  action: keyof typeof ENDS,
  payload: string | undefined,
): void {
  if (output && payload !== undefined) move(draft, action, output, range, () => write(output, payload));
}

function move(
  draft: MqttDraft,
  action: keyof typeof ENDS,
  output: Output,
  range: Range,
  send: () => Written,
): void {
  const words = { open: "open", close: "closed", stop: "stopped" }[action];
  command(draft, action, ENDS[action], output, {}, send, () => ({
    slots: ["state", "position"],
    words,
    met: (fresh, before) => {
      if (isMoving(fresh)) return false;
      const state = fresh("state")?.value;
      // Some say "open" all the way, so that says that it has stopped only of one that said that it moves.
      if (action === "stop") return state === "stopped" || (typeof state === "string" && isMoving(before));
      if (action === "close") return state === "closed" || isAt("position", 0, range, fresh, before);
      // "open" is said of a cover that is only a bit open, so its position counts where it has one.
      return draft.reports("position") ? isAt("position", 100, range, fresh, before) : state === "open";
    },
  }));
}

function positioned(
  draft: MqttDraft,
  action: string,
  slot: "position" | "tilt",
  output: Output,
  range: Range,
  send: (percentage: number) => Written,
): void {
  const description =
    slot === "tilt" ? "Tilt it. 0 = closed, 100 = open." : "Move it. 0 = closed, 100 = open.";
  command(
    draft,
    action,
    description,
    output,
    { [slot]: { type: "integer", minimum: 0, maximum: 100 } },
    send,
    (percentage) => ({
      slots: [slot],
      words: `${slot} ${percentage} %`,
      met: (fresh, before) => !isMoving(fresh) && isAt(slot, percentage, range, fresh, before),
    }),
  );
}

function command(
  draft: MqttDraft,
  action: string,
  description: string,
  output: Output,
  parameters: Command["parameters"],
  send: (percentage: number) => Written,
  expected: (percentage: number) => Expectation,
): void {
  const [name] = Object.keys(parameters);
  draft.commands.push({
    action,
    description,
    parameters,
    required: name === undefined ? [] : [name],
    idempotent: true,
    wait: "cover",
    targets: topicsOf([output]),
    run: (asked, before) => {
      const percentage = name === undefined ? 0 : Number(asked[name]);
      const expect = expected(percentage);
      // One that is stopped and did not say that it moves will not say that it has stopped either.
      const isReported = isStop(action)
        ? draft.reports("state") && (isMoving(before) || before("state") === undefined)
        : expect.slots.some((one) => draft.reports(one));
      return withSteps([send(percentage)], isReported ? [expect] : [], isReported ? [] : [expect.words]);
    },
  });
}

function isStop(action: string): boolean {
  return action === "stop";
}

function isMoving(values: Values): boolean {
  return MOVING.includes(String(values("state")?.value));
}

function isAt(
  slot: string,
  percentage: number,
  { low, high }: Range,
  fresh: Values,
  before: Values,
): boolean {
  const value = fresh(slot)?.value;
  const sent = fromPercent(percentage, low, high);
  return value !== undefined && samePosition(low, high)(sent, value, before(slot)?.value);
}

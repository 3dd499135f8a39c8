/** A device as it is told: its parts under one name, with the actions, readings and words that follow from their configs. */
import { canonicalJson } from "@edgecall/core/protocol/approval.ts";
import { IS_SETTING, READINGS_MAX } from "@edgecall/core/protocol/devices.ts";
import { Quantity } from "@edgecall/core/text/quantity.ts";
import { oneLine } from "@edgecall/core/tools/one-line.ts";
import { ageText } from "./age.ts";
import { type DeviceAction, LINE_MAX, type Reading } from "./device.ts";
import type { Command, Entity, Left, Query, ReadingSpec, SlotValue, Value, Wait } from "./entity/entity.ts";
import type { Group } from "./grouping.ts";
import type { IdRow } from "./id-table.ts";
import { harmless, slug } from "./names.ts";
import { parametersSchema } from "./parameters.ts";
import type { DeviceInfo, Part } from "./source.ts";
import { allowText, allowTextBefore } from "./trust/covered-text.ts";
import type { DangerOf } from "./trust/danger.ts";

type OfferedAction = { part: Part; command: Command; advert: DeviceAction };
export type NamedReading = { part: Part; spec: ReadingSpec; name: string };

export type DeviceView = {
  row: IdRow;
  parts: Part[];
  name: string;
  area?: string;
  floor?: string;
  aliases: string[];
  model?: string;
  publisher?: string;
  line: string;
  kinds: string[];
  /** Parts that are offered; all of them where none is. */
  offered: Part[];
  actions: OfferedAction[];
  /** Those that change a setting, which are offered only where a person wants that. */
  settings: OfferedAction[];
  /** The actions that return the last picture. */
  pictures: { advert: DeviceAction; part: Part }[];
  queries: { advert: DeviceAction; part: Part; query: Query }[];
  /** Absent: no source keeps the past of any of its readings. */
  /** `read`, the pictures, the queries and the past. */
  readActions: DeviceAction[];
  /** Those that are offered come first. */
  readings: NamedReading[];
  offeredReadings: number;
  notOffered: { what: string; why: string }[];
  /** Values of offered parts that are not read. */
  unread: { what: string; why: string }[];
  allowHash: string;
  allowHashBefore: string | null;
};

const DEVICE_NAME_MAX = 60;
const AREA_MAX = 40;
const ALIAS_MAX = 40;
const ALIASES_MAX = 8;
const MODEL_MAX = 60;
const PUBLISHER_MAX = 40;
const ACTIONS_MAX = 200;
const NOT_OFFERED_MAX = 20;
const VALUE_MAX = 300;
const WAIT_MAX_MS: Readonly<Record<Wait, number>> = {
  value: 15_000,
  cover: 60_000,
  alarm: 90_000,
  vacuum: 120_000,
  update: 600_000,
};

/** The publisher's name for the device, as it came. */
export function rawNameOf({ parts }: Group): string {
  const named = parts.map(({ device }) => device.name).find((name) => name !== undefined);
  const single = parts.map(({ entity }) => entity.name).find((name) => name !== undefined);
  return named ?? single ?? parts[0]?.entity.title ?? "";
}

function nameOf(group: Group): string {
  return harmless(rawNameOf(group), DEVICE_NAME_MAX) || "device";
}

/** @param beyond parts for which a device has no room */
export function deviceView(
  { identities, parts, beyond, also = [] }: Group & { beyond: readonly Part[] },
  row: IdRow,
  dangerOf: DangerOf,
  sha256: (text: string) => string,
): DeviceView {
  const device = <Key extends "manufacturer" | "model">(key: Key) =>
    parts.map((part) => part.device[key]).find((value) => value !== undefined);
  const text = (value: string | undefined, max: number) => harmless(value ?? "", max) || undefined;
  const place = placeOf([...also, ...parts.map((part) => part.device)]);
  const area = text(place.area, AREA_MAX);
  const floor = text(place.floor, AREA_MAX);
  const maker = [device("manufacturer"), device("model")].filter((one) => one !== undefined).join(" ");
  const model = text(maker, MODEL_MAX);
  const origin = parts.map((part) => part.publisher).find((one) => one !== undefined);
  const publisher = text(origin, PUBLISHER_MAX);
  // The device itself comes before its parts.
  const isMain = ({ entity }: Part) => (entity.name === undefined ? 0 : 1);
  const ordered = [...parts].sort((a, b) => isMain(a) - isMain(b));
  const shown = ordered.filter(({ entity }) => entity.aside === undefined && isShown(entity));
  const offered = shown.length > 0 ? shown : ordered.filter(({ entity }) => isShown(entity));
  const more = beyond.map(({ entity }) => entity.title).join(", ");
  const full: Left = {
    what: oneLine(`${beyond.length} more: ${more}`, 100),
    why: `a device has at most ${parts.length} entities here; those with commands come first`,
  };
  const notOffered: Left[] = beyond.length > 0 ? [full] : [];
  const others: Left[] = ordered.flatMap(({ entity }) => entity.left);
  for (const { entity } of ordered)
    if (entity.aside !== undefined && entity.commands.length > 0)
      others.push({ what: entity.title, why: entity.aside });

  const changing = ordered.filter(({ entity }) => entity.aside === undefined && entity.commands.length > 0);
  const settings = ordered.filter(({ entity }) => entity.isSetting && entity.commands.length > 0);
  const actions = actionsOf(changing, dangerOf);
  const settingActions = settingsOf(settings, changing, dangerOf);
  const unoffered = actions.slice(ACTIONS_MAX).map(({ advert }) => advert.name);
  if (unoffered.length > 0)
    notOffered.push({
      what: oneLine(`${unoffered.length} more: ${unoffered.join(", ")}`, 100),
      why: `a device has at most ${ACTIONS_MAX} actions`,
    });
  notOffered.push(...others);
  const aside = ordered.filter((part) => !offered.includes(part));
  const named = withoutRepeated(namedReadings([...offered, ...aside]));
  const isMainReading = ({ part, spec }: NamedReading) => spec.fields === undefined && offered.includes(part);
  const readings = named.filter(isMainReading);
  const all = [...readings, ...named.filter((one) => !isMainReading(one))];
  const pictures = picturesOf(offered);
  const queries = queriesOf(offered);
  const name = nameOf({ identities, parts });
  const entities = changing.map(({ entity }) => entity);
  const dangerousOf = ({ part, command, advert }: OfferedAction) =>
    advert.danger === true ? [`${part.entity.kind} ${part.entity.unique} ${command.action}`] : [];
  // 0.3 offered no settings. Each change of one asks, so no allowance is about them.
  const before = allowTextBefore(identities, entities, actions.flatMap(dangerousOf));
  return {
    row,
    parts,
    name,
    ...(area !== undefined && { area }),
    ...(floor !== undefined && { floor }),
    aliases: aliasesOf(name, also, parts),
    ...(model !== undefined && { model }),
    ...(publisher !== undefined && { publisher }),
    line: lineOf(offered, area, model),
    kinds: [...new Set(offered.map(({ entity }) => entity.kind))],
    offered,
    actions: actions.slice(0, ACTIONS_MAX),
    settings: settingActions.slice(0, Math.max(0, ACTIONS_MAX - actions.length)),
    pictures,
    queries,
    readActions: [readAction(readings), ...[...pictures, ...queries].map(({ advert }) => advert)],
    readings: all.slice(0, READINGS_MAX),
    offeredReadings: Math.min(readings.length, READINGS_MAX),
    notOffered: listed(notOffered),
    unread: listed(notOffered.filter(({ unread }) => unread === true)),
    allowHash: sha256(
      allowText(
        identities,
        [...entities, ...settings.map(({ entity }) => entity)],
        [...actions, ...settingActions].flatMap(dangerousOf),
        rivalNames([...actions, ...settingActions]),
      ),
    ),
    allowHashBefore: before === undefined ? null : sha256(before),
  };
}

/** A person says where a device is in the platform that has it too; a publisher only suggests an area. */
function placeOf(all: readonly DeviceInfo[]): Pick<DeviceInfo, "area" | "floor"> {
  return all.find(({ area }) => area !== undefined) ?? {};
}

/** What another source calls it is another name for it. */
function aliasesOf(name: string, also: readonly DeviceInfo[], parts: readonly Part[]): string[] {
  const names = also.map((device) => device.name ?? "");
  const words = [
    ...names,
    ...[...also, ...parts.map(({ device }) => device)].flatMap(({ aliases = [] }) => aliases),
  ];
  const texts = words.map((word) => harmless(word, ALIAS_MAX)).filter((word) => word !== "" && word !== name);
  return [...new Set(texts)].slice(0, ALIASES_MAX);
}

function listed(all: readonly Left[]): { what: string; why: string }[] {
  const isLong = all.length > NOT_OFFERED_MAX;
  const shown = all.slice(0, isLong ? NOT_OFFERED_MAX - 1 : undefined);
  const more = { what: `${all.length - shown.length} more`, why: "the list is too long for them" };
  return [...shown, ...(isLong ? [more] : [])].map(({ what, why }) => ({
    what: harmless(what, 100),
    why: harmless(why, 200),
  }));
}

/** All that sources say of a device: one that a person removed comes back when it changes. */
export function descriptionText({ parts }: DeviceView): string {
  return canonicalJson(parts.map(({ description }) => description));
}

function isShown({ readings, commands, queries = [] }: Entity): boolean {
  return readings.length + commands.length + queries.length > 0;
}

/** `set`, or `set_left` where several parts have a `set`. The part that is what the device is keeps the short name. */
function actionsOf(
  parts: readonly Part[],
  dangerOf: DangerOf,
  before: readonly Part[] = [],
  taken: Set<string> = new Set(["read", "snapshot"]),
): OfferedAction[] {
  const commandsOf = (some: readonly Part[]) =>
    some.flatMap((part) => part.entity.commands.map((command) => ({ part, command })));
  const all = [...commandsOf(before), ...commandsOf(parts)];
  return commandsOf(parts).map(({ part, command }) => {
    const { entity } = part;
    const rivals = all.filter((other) => other.command.action === command.action && other.part !== part);
    const isMain = entity.name === undefined && rivals.every((other) => other.part.entity.name !== undefined);
    const isPlain = rivals.length === 0 || isMain;
    const name = free(
      taken,
      isPlain ? command.action : `${command.action}_${slug(entity.title, 40, "_") ?? entity.kind}`,
    );
    const why = dangerOf(entity, command);
    const about = entity.name === undefined ? "" : `${entity.name}: `;
    const advert: DeviceAction = {
      name,
      description: `${about}${command.description}`,
      parameters: parametersSchema(command),
      timeout_ms: waitMaxMs(entity, command) + (command.extraMs ?? 0),
      effect: "device",
      // Nobody unlocks a door once more because an answer was lost.
      idempotent: command.idempotent && why === undefined,
      ...(why !== undefined && { danger: true, danger_why: harmless(why, 200) }),
      ...(entity.retain && { retained: true }),
    };
    return { part, command, advert };
  });
}

function waitMaxMs({ answersWithinMs = 0 }: Entity, { wait }: Command): number {
  return wait === "value" ? Math.max(WAIT_MAX_MS.value, answersWithinMs) : WAIT_MAX_MS[wait];
}

/** The same for settings. Whether they are there changes no name of another action, and each asks each time. */
function settingsOf(settings: readonly Part[], others: readonly Part[], dangerOf: DangerOf): OfferedAction[] {
  const taken = new Set([
    "read",
    "snapshot",
    ...actionsOf(others, dangerOf).map(({ advert }) => advert.name),
  ]);
  return actionsOf(settings, dangerOf, others, taken).map(({ part, command, advert }) => ({
    part,
    command,
    advert: { danger_why: IS_SETTING, ...advert, idempotent: false, danger: true, setting: true },
  }));
}

/** `set_left` of one part and `set_right` of another: exchanged names would send a call to the other one. */
function rivalNames(all: readonly OfferedAction[]): string[] {
  const counts = new Map<string, number>();
  for (const { command } of all) counts.set(command.action, (counts.get(command.action) ?? 0) + 1);
  return all.flatMap(({ part: { entity }, command, advert }) =>
    (counts.get(command.action) ?? 0) > 1
      ? [`${advert.name} ${entity.kind} ${entity.unique} ${command.action}`]
      : [],
  );
}

function picturesOf(parts: readonly Part[]): DeviceView["pictures"] {
  const taken = new Set(["read"]);
  const having = parts.filter(({ entity }) => entity.hasPicture);
  return having.map((part) => {
    const name =
      having.length === 1 ? "snapshot" : `snapshot_${slug(part.entity.title, 40, "_") ?? "camera"}`;
    const advert: DeviceAction = {
      name: free(taken, name),
      description: "The last picture, with its age.",
      parameters: { type: "object", properties: {}, additionalProperties: false },
      effect: "read",
      idempotent: true,
      taints: true,
    };
    return { part, advert };
  });
}

function queriesOf(parts: readonly Part[]): DeviceView["queries"] {
  const taken = new Set(["read"]);
  const all = parts.flatMap((part) => (part.entity.queries ?? []).map((query) => ({ part, query })));
  return all.map(({ part, query }) => {
    const { name, title, kind } = part.entity;
    const isOnly = all.every((other) => other.part === part || other.query.action !== query.action);
    const wanted = isOnly ? query.action : `${query.action}_${slug(title, 40, "_") ?? kind}`;
    const advert: DeviceAction = {
      name: free(taken, wanted),
      description: `${name === undefined ? "" : `${name}: `}${query.description}`,
      parameters: parametersSchema({ parameters: query.parameters, required: [] }),
      effect: "read",
      idempotent: true,
      taints: true,
    };
    return { part, query, advert };
  });
}

function readAction(readings: readonly NamedReading[]): DeviceAction {
  const names = readings.map(({ name }) => name);
  const listed = names.length > 1 ? oneLine(`only these: ${names.join(", ")}`, 300) : "";
  return {
    name: "read",
    description: "What it reports, with the age of each value.",
    parameters: {
      type: "object",
      properties: {
        names: {
          type: "array",
          items: { type: "string", maxLength: 100 },
          maxItems: READINGS_MAX,
          ...(listed !== "" && { description: listed }),
        },
        all: {
          type: "boolean",
          description: "also what is diagnostic, a setting, an attribute, or disabled by default",
        },
      },
      additionalProperties: false,
    },
    effect: "read",
    idempotent: true,
    ...(readings.some(({ spec }) => spec.free) && { taints: true }),
  };
}

function namedReadings(parts: readonly Part[]): NamedReading[] {
  const taken = new Set<string>();
  return parts.flatMap((part) =>
    part.entity.readings.map((spec) => {
      const { name, title } = part.entity;
      const words =
        spec.label === undefined ? title : name === undefined ? spec.label : `${name} ${spec.label}`;
      return { part, spec, name: free(taken, words, " ") };
    }),
  );
}

/** Entities of one device may have their fields from the same place. */
function withoutRepeated(readings: readonly NamedReading[]): NamedReading[] {
  const places = new Set<string>();
  return readings.filter(
    ({ spec: { fields } }) => fields === undefined || (!places.has(fields) && places.add(fields)),
  );
}

/** The name, or it with a number where it is taken. */
function free(taken: Set<string>, wanted: string, separator = "_"): string {
  let name = wanted;
  for (let n = 2; taken.has(name); n += 1) name = `${wanted}${separator}${n}`;
  taken.add(name);
  return name;
}

function lineOf(parts: readonly Part[], area: string | undefined, model: string | undefined): string {
  const kinds = new Map<string, Set<string>>();
  for (const { entity } of parts) {
    const kind = entity.kind === "binary_sensor" ? "sensor" : entity.kind.replaceAll("_", " ");
    const details = kinds.get(kind) ?? new Set();
    kinds.set(kind, details);
    for (const detail of entity.details) details.add(detail);
  }
  const words = [...kinds].map(([kind, details]) =>
    details.size === 0 ? kind : `${kind} (${[...details].join(", ")})`,
  );
  const rest = [area, model && oneLine(model, 40)].filter((one) => one !== undefined).join(" · ");
  const room = LINE_MAX - (rest === "" ? 0 : rest.length + 3);
  const what = oneLine(words.join(", "), Math.max(room, 20));
  return oneLine([what, rest].filter((one) => one !== "").join(" · "), LINE_MAX);
}

/** True unless there is no such value now, as a brightness of a light that is off. */
export function isThere({ part, spec }: Pick<NamedReading, "part" | "spec">, now: number): boolean {
  return spec.isThere?.((slot) => part.value(slot, now)?.value) ?? true;
}

/** A reading's value now. */
export function readingOf({ part, spec, name }: NamedReading, now: number): Reading {
  const { entity } = part;
  const value = isThere({ part, spec }, now) ? part.value(spec.slot, now) : undefined;
  const isUnavailable = part.isExpired(spec.slot, now) || part.absence(now) !== undefined;
  const plain = value === undefined || spec.secret ? null : plainValue(value.value);
  return {
    name,
    value: plain,
    text:
      value === undefined
        ? absentValueText({ part, spec }, now)
        : harmless(valueText(spec, value), VALUE_MAX),
    ...(spec.unit !== undefined && { unit: spec.unit }),
    kind: entity.kind,
    ...(entity.class !== undefined && { class: entity.class }),
    at: value?.at ?? null,
    ...(isUnavailable && { unavailable: true }),
    tainted:
      value?.unreadable !== undefined || (spec.free && typeof plain === "string" && !isHarmless(plain)),
  };
}

function valueText(spec: ReadingSpec, { value, unreadable }: Value): string {
  return unreadable === undefined || spec.secret ? spec.words(value) : `not readable: ${unreadable}`;
}

function absentValueText(reading: Pick<NamedReading, "part" | "spec">, now: number): string {
  return isThere(reading, now) ? "not reported yet" : "none at present";
}

/** A value as it is told: a list is written with commas. */
export function plainValue(value: SlotValue): string | number | boolean | null {
  if (Array.isArray(value)) return value.join(",");
  // SAFETY: it is no list.
  const single = value as Exclude<SlotValue, readonly number[]>;
  if (single instanceof Quantity) return single.plain;
  return typeof single === "string" ? harmless(single, VALUE_MAX) : single;
}

/** Digits give no instruction. */
function isHarmless(text: string): boolean {
  return text === "" || Quantity.parse(text) !== undefined;
}

/** A line of the result of `read`. */
export function readingLine({ name, text, at, value, unavailable }: Reading, now: number): string {
  const age = value === null && at === null ? "" : ` (${ageText(at, now)})`;
  return `${name}: ${unavailable ? "unavailable; last: " : ""}${text}${age}`;
}

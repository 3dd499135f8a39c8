/** The registries of Home Assistant: entities, the devices that they belong to, areas, floors and labels. */
import type { DeviceInfo } from "../model/source.ts";
import { objectOf } from "./state.ts";

/**
 * Answers of `config/entity_registry/list`, `config/device_registry/list`, the lists of areas, floors and labels, and `manifest/list`.
 */
export type RegistryLists = {
  entities: unknown;
  devices: unknown;
  areas: unknown;
  floors?: unknown;
  labels?: unknown;
  manifests: unknown;
  /** Of `get_config`. */
  config: unknown;
  /** Of `config/entity_registry/get_entries`, for those that are exposed: only there are aliases. */
  details?: unknown;
};

export type Entry = {
  /** It survives a rename of the entity id. */
  id: string;
  entityId: string;
  domain: string;
  platform: string;
  /** Of its platform. */
  unique: string;
  /** Its own name; undefined: it is what the device is. */
  name?: string;
  category?: string;
  isExposed: boolean;
  /** The way by which its platform knows the state: `local_push`, `cloud_polling`, `assumed_state` … */
  iotClass: string;
  /** The time that it may take to answer (ms). */
  answersWithinMs: number;
  device: DeviceInfo;
  /** `°C` or `°F`: the one of the household, in which climates are set. */
  temperatureUnit: string;
  /** Of the household, by its IANA name. */
  timeZone: string;
  /** Areas that a vacuum knows on its map. */
  cleanedAreas?: { id: string; name: string }[];
  /** A person has given Home Assistant the code of a lock or an alarm. */
  hasDefaultCode?: true;
  publisher: string;
};

type Json = Readonly<Record<string, unknown>>;

const ENTRIES_MAX = 10_000;
const NAME_MAX = 500;
const ID_MAX = 200;
/** Identifiers of one device beyond these are left out. */
const IDENTITIES_MAX = 16;
const AREAS_MAX = 100;
const ALIASES_MAX = 32;

/** How long a device may take, by the way in which its integration knows the state. One with a battery sleeps. */
const PUSH_MS = 5_000;
const POLLING_MS = 10_000;
const BATTERY_MS = 15_000;
const CLOUD_MS = 35_000;

/** Entity ids of those that a person exposed: of these more is asked for. */
export function exposedIds(entities: unknown): string[] {
  return listOf(entities).flatMap((entry) => (isExposed(entry) ? (idIn(entry.entity_id) ?? []) : []));
}

/** Entities that are neither disabled nor hidden. What has another form than Home Assistant's is left out. */
export function readEntries(lists: RegistryLists): Entry[] {
  const { entities, devices, manifests, config, details } = lists;
  const places = placesOf(lists);
  const iotClasses = new Map(listOf(manifests).map((one) => [one.domain, textIn(one.iot_class)]));
  const byId = new Map(listOf(devices).map((device) => [device.id, device]));
  const all = listOf(entities);
  const sleepers = new Set(all.filter(isBattery).map(({ device_id }) => device_id));
  const unit = objectOf(objectOf(config).unit_system).temperature;
  const household = {
    temperatureUnit: unit === "°F" ? unit : "°C",
    timeZone: timeZoneOf(config),
  };
  return all.flatMap((entry): Entry[] => {
    const [id, entityId, platform] = [idIn(entry.id), idIn(entry.entity_id), idIn(entry.platform)];
    const unique = idIn(entry.unique_id) ?? (typeof entry.unique_id === "number" ? `${entry.unique_id}` : id);
    const domain = entityId?.split(".")[0];
    if (!id || !entityId || !platform || !unique || !domain) return [];
    if (isGiven(entry.disabled_by) || isGiven(entry.hidden_by)) return [];
    const device = byId.get(entry.device_id);
    if (isGiven(device?.disabled_by)) return [];
    const deviceName = textIn(device?.name_by_user) ?? textIn(device?.name);
    const name = ownName(textIn(entry.name) ?? textIn(entry.original_name), deviceName);
    const [manufacturer, model] = [textIn(device?.manufacturer), textIn(device?.model)];
    const category = textIn(entry.entity_category);
    const iotClass = iotClasses.get(platform) ?? "unknown";
    const isSleeper = isGiven(entry.device_id) && sleepers.has(entry.device_id);
    const cleanedAreas = places.named(objectOf(objectOf(entry.options).vacuum).area_mapping);
    const code = objectOf(objectOf(entry.options)[domain]).default_code;
    return [
      {
        id,
        entityId,
        domain,
        platform,
        unique,
        ...(name !== undefined && { name }),
        ...(category !== undefined && { category }),
        isExposed: isExposed(entry),
        iotClass,
        answersWithinMs: answersWithinMs(iotClass, isSleeper),
        device: {
          identities: device ? identitiesOf(device) : [`ha entity ${id}`],
          ...(deviceName !== undefined && { name: deviceName }),
          ...(manufacturer !== undefined && { manufacturer }),
          ...(model !== undefined && { model }),
          ...places.of(entry, device, objectOf(objectOf(details)[entityId])),
        },
        ...household,
        ...(cleanedAreas.length > 0 && { cleanedAreas }),
        ...(typeof code === "string" && code !== "" && { hasDefaultCode: true }),
        publisher: `Home Assistant: ${platform}`,
      },
    ];
  });
}

/** Where things are, and by which other names a person knows them. */
function placesOf({ areas, floors, labels }: RegistryLists) {
  const areaOf = new Map(listOf(areas).map((area) => [area.area_id, area]));
  const floorOf = new Map(listOf(floors).map((floor) => [floor.floor_id, floor]));
  const labelOf = new Map(listOf(labels).map((label) => [label.label_id, label]));
  const labelled = (of: Json | undefined) =>
    textsIn(of?.labels).flatMap((id) => textIn(labelOf.get(id)?.name) ?? []);
  return {
    /** An entity's own area comes before its device's. */
    of(entry: Json, device: Json | undefined, details: Json): Pick<DeviceInfo, "area" | "floor" | "aliases"> {
      const area = areaOf.get(entry.area_id) ?? areaOf.get(device?.area_id);
      const floor = floorOf.get(area?.floor_id);
      const aliases = new Set([
        // Many people name an entity, and not the device that it belongs to.
        ...(isExposed(entry) ? textsIn([entry.name]) : []),
        ...textsIn(details.aliases),
        ...labelled(entry),
        ...labelled(device),
        ...textsIn(area?.aliases),
        ...textsIn(floor?.aliases),
      ]);
      const [areaName, floorName] = [textIn(area?.name), textIn(floor?.name)];
      return {
        ...(areaName !== undefined && { area: areaName }),
        ...(floorName !== undefined && { floor: floorName }),
        ...(aliases.size > 0 && { aliases: [...aliases].slice(0, ALIASES_MAX) }),
      };
    },
    /** Areas by their ids, as keys of a table. */
    named(table: unknown): { id: string; name: string }[] {
      const ids = Object.keys(objectOf(table)).slice(0, AREAS_MAX);
      return ids.flatMap((id) => {
        const name = textIn(areaOf.get(id)?.name);
        return name === undefined ? [] : [{ id, name }];
      });
    },
  };
}

function isExposed(entry: Json): boolean {
  return objectOf(objectOf(entry.options).conversation).should_expose === true;
}

/** Integrations name it so: the class is not in the list. */
function isBattery({ entity_id, original_name, unique_id }: Json): boolean {
  return (
    typeof entity_id === "string" &&
    entity_id.startsWith("sensor.") &&
    [original_name, unique_id].some((one) => typeof one === "string" && /(?:^|[\W_])battery$/i.test(one))
  );
}

function answersWithinMs(iotClass: string, isSleeper: boolean): number {
  if (iotClass.startsWith("cloud_")) return CLOUD_MS;
  if (isSleeper) return BATTERY_MS;
  return iotClass.endsWith("_polling") ? POLLING_MS : PUSH_MS;
}

/** One that this machine does not know is taken for UTC. */
function timeZoneOf(config: unknown): string {
  const name = textIn(objectOf(config).time_zone) ?? "UTC";
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return name;
  } catch {
    return "UTC";
  }
}

/** A device of the integration `mqtt` has the identifier of its own description on the broker: both are one device. */
function identitiesOf(device: Json): string[] {
  const pairs = (value: unknown) =>
    (Array.isArray(value) ? value : []).filter(
      (pair: unknown): pair is [string, string] =>
        Array.isArray(pair) && pair.length >= 2 && pair.every((one) => typeof one === "string"),
    );
  const all = [
    ...pairs(device.identifiers).map(([domain, id]) =>
      domain === "mqtt" ? `id ${id}` : `ha ${domain} ${id}`,
    ),
    ...pairs(device.connections).map(([type, value]) => `${type} ${value}`.toLowerCase()),
  ].filter((one) => one.length <= ID_MAX);
  return all.length > 0 ? all.slice(0, IDENTITIES_MAX) : [`ha device ${String(device.id).slice(0, ID_MAX)}`];
}

/** Many integrations name an entity with its device's name before it. */
function ownName(name: string | undefined, deviceName: string | undefined): string | undefined {
  if (name === undefined || deviceName === undefined || !name.startsWith(deviceName)) return name;
  return name.slice(deviceName.length).replace(/^[\s:–-]+/, "") || undefined;
}

function listOf(value: unknown): Json[] {
  return (Array.isArray(value) ? value : []).slice(0, ENTRIES_MAX).map(objectOf);
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value.slice(0, NAME_MAX) : undefined;
}

function textsIn(value: unknown): string[] {
  return (Array.isArray(value) ? value : []).slice(0, ALIASES_MAX).flatMap((one) => textIn(one) ?? []);
}

function idIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && value.length <= ID_MAX ? value : undefined;
}

function isGiven(value: unknown): boolean {
  return value !== null && value !== undefined;
}

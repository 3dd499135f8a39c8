/** The registries of Home Assistant: entities, the devices that they belong to, and areas. */
import type { DeviceInfo } from "../model/source.ts";
import { objectOf } from "./state.ts";

/** Answers of `config/entity_registry/list`, `config/device_registry/list`, `config/area_registry/list` and `manifest/list`. */
export type RegistryLists = {
  entities: unknown;
  devices: unknown;
  areas: unknown;
  manifests: unknown;
  /** Of `get_config`. */
  config: unknown;
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
  device: DeviceInfo;
  /** `°C` or `°F`: the one of the household, in which climates are set. */
  temperatureUnit: string;
  publisher: string;
};

type Json = Readonly<Record<string, unknown>>;

const ENTRIES_MAX = 10_000;
const NAME_MAX = 500;
const ID_MAX = 200;
/** Identifiers of one device beyond these are left out. */
const IDENTITIES_MAX = 16;

/** Entities that are neither disabled nor hidden. What has another form than Home Assistant's is left out. */
export function readEntries({ entities, devices, areas, manifests, config }: RegistryLists): Entry[] {
  const unit = objectOf(objectOf(config).unit_system).temperature;
  const temperatureUnit = unit === "°F" ? unit : "°C";
  const areaNames = new Map(listOf(areas).map((area) => [area.area_id, textIn(area.name)]));
  const iotClasses = new Map(listOf(manifests).map((one) => [one.domain, textIn(one.iot_class)]));
  const byId = new Map(listOf(devices).map((device) => [device.id, device]));
  return listOf(entities).flatMap((entry): Entry[] => {
    const [id, entityId, platform] = [idIn(entry.id), idIn(entry.entity_id), idIn(entry.platform)];
    const unique = idIn(entry.unique_id) ?? (typeof entry.unique_id === "number" ? `${entry.unique_id}` : id);
    const domain = entityId?.split(".")[0];
    if (!id || !entityId || !platform || !unique || !domain) return [];
    if (isGiven(entry.disabled_by) || isGiven(entry.hidden_by)) return [];
    const device = byId.get(entry.device_id);
    if (isGiven(device?.disabled_by)) return [];
    const deviceName = textIn(device?.name_by_user) ?? textIn(device?.name);
    const area = areaNames.get(entry.area_id) ?? areaNames.get(device?.area_id);
    const name = ownName(textIn(entry.name) ?? textIn(entry.original_name), deviceName);
    const [manufacturer, model] = [textIn(device?.manufacturer), textIn(device?.model)];
    const category = textIn(entry.entity_category);
    const exposed = objectOf(objectOf(entry.options).conversation).should_expose;
    return [
      {
        id,
        entityId,
        domain,
        platform,
        unique,
        ...(name !== undefined && { name }),
        ...(category !== undefined && { category }),
        isExposed: exposed === true,
        iotClass: iotClasses.get(platform) ?? "unknown",
        device: {
          identities: device ? identitiesOf(device) : [`ha entity ${id}`],
          ...(deviceName !== undefined && { name: deviceName }),
          ...(manufacturer !== undefined && { manufacturer }),
          ...(model !== undefined && { model }),
          ...(area !== undefined && { area }),
        },
        temperatureUnit,
        publisher: `Home Assistant: ${platform}`,
      },
    ];
  });
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

function idIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && value.length <= ID_MAX ? value : undefined;
}

function isGiven(value: unknown): boolean {
  return value !== null && value !== undefined;
}

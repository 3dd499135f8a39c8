/** Members of JSON that entities read, which zigbee2mqtt calls properties. */
import type { MqttEntity } from "./entity/entity.ts";
import type { LiveEntity } from "./entity/live-entity.ts";

export function propertiesOf(parts: readonly LiveEntity[]): string[] {
  return [...new Set(parts.flatMap(({ entity }) => propertiesOfEntity(entity)))];
}

/** Its templates are searched once. */
const PROPERTIES = new WeakMap<MqttEntity, readonly string[]>();

function propertiesOfEntity(entity: MqttEntity): readonly string[] {
  const known = PROPERTIES.get(entity);
  if (known) return known;
  const templates = Object.entries(entity.config).flatMap(([key, value]) =>
    key.endsWith("_template") && !key.includes("command") && typeof value === "string" ? [value] : [],
  );
  const members = templates.flatMap((template) =>
    [...template.matchAll(/value_json(?:\.(\w+)|\[["'](\w+)["']\])/g)].map(([, a, b]) => a ?? b ?? ""),
  );
  if (entity.kind === "light") members.push("state", "brightness", "color_temp");
  const names = [...new Set(members)];
  PROPERTIES.set(entity, names);
  return names;
}

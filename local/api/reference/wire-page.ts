/** The messages of docs/reference/wire.md: values of zod's schemas, sentences of the comments beside them. */
import { fileURLToPath } from "node:url";
import * as audit from "@edgecall/core/protocol/audit.ts";
import * as conditions from "@edgecall/core/protocol/conditions.ts";
import { made } from "@edgecall/core/protocol/deferred-schema.ts";
import * as devices from "@edgecall/core/protocol/devices.ts";
import * as frames from "@edgecall/core/protocol/frames.ts";
import * as homeFrames from "@edgecall/core/protocol/home-frames.ts";
import * as media from "@edgecall/core/protocol/media.ts";
import * as mqtt from "@edgecall/core/protocol/mqtt.ts";
import type { z } from "@edgecall/core/protocol/parse.ts";
import * as rules from "@edgecall/core/protocol/rules.ts";
import { registry, toJSONSchema } from "zod/mini";
import { type Documented, type Notes, readDocumented } from "../declarations.ts";
import type { Schema } from "../type-schema.ts";
import { fieldTable, valuesOf } from "./fields.ts";
import { code } from "./regions.ts";

const MODULES = { mqtt, media, audit, rules, frames, "home-frames": homeFrames, devices, conditions };
const CONFIG = fileURLToPath(new URL("../../../core/tsconfig.json", import.meta.url));

/** By region of the page. A schema that stands in no list is described where it is used. */
const REGIONS = {
  adverts: ["Capabilities", "ToolsAdvert", "ActionAdvert", "Presence"],
  commands: [
    "Command",
    "Caller",
    "Chain",
    "ToolCommand",
    "PromptCommand",
    "AnswerCommand",
    "UploadCommand",
    "CalledCommand",
    "CalledOutcome",
    "WatchSetCommand",
  ],
  events: ["AgentEvent", "ApprovalRequest", "AuditLine", "InlineMedia", "StoredMedia"],
  rules: ["WatchCondition", "TimeWindow", "KnownState", "RuleChange"],
  "from-bridge": ["BridgeFrame", "AgentState", "HostedState", "DeviceReadings", "Reading", "LeftOut"],
  "from-home": ["HomeFrame", "AgentKey", "BridgeSession", "StoredTexts"],
  conditions: ["Condition"],
} as const;

export function wireSections(): Record<string, string> {
  const documented = readDocumented(
    CONFIG,
    Object.keys(MODULES).map((name) => `protocol/${name}.ts`),
  );
  const schemas = new Map<string, z.ZodMiniType>();
  for (const module of Object.values(MODULES))
    for (const [name, value] of Object.entries(module))
      if (documented.has(name)) schemas.set(name, made(value) as z.ZodMiniType);
  const ids = registry<{ id: string }>();
  const shown = Object.values(REGIONS).flat();
  for (const name of shown) {
    const schema = schemas.get(name);
    if (!schema) throw new Error(`${name}: no schema in core/protocol`);
    ids.add(schema, { id: name });
  }
  const sectionOf = (name: string) => {
    const schema = schemas.get(name);
    const notes = documented.get(name);
    if (!schema || !notes) return "";
    const json = toJSONSchema(schema, { io: "input", unrepresentable: "any", metadata: ids }) as Schema;
    const own = (json.$defs as Record<string, Schema> | undefined)?.[name] ?? json;
    return schemaSection(name, own, notes);
  };
  return Object.fromEntries(
    Object.entries(REGIONS).map(([region, names]) => [region, names.map(sectionOf).join("\n\n")]),
  );
}

function schemaSection(name: string, schema: Schema, { text, notes, members }: Documented): string {
  const parts = (schema.oneOf ?? schema.anyOf) as Schema[] | undefined;
  const head = [`#### ${name}`, text];
  if (!parts || members.length === 0)
    return [...head, fieldTable(noted(schema, notes)) || `${valuesOf(schema)}.`]
      .filter((part) => part !== "")
      .join("\n\n");
  const sections = parts.map((part, at) => {
    const member = members[at];
    const shown = typeof part.$ref === "string" ? valuesOf(part) : code(String(kindOf(part) ?? ""));
    const fields = { ...part, properties: withoutKind(part) };
    return [
      `##### ${shown === "``" ? name : shown}`,
      member?.text ?? "",
      fieldTable(noted(fields, member?.notes ?? {})),
    ]
      .filter((one) => one !== "")
      .join("\n\n");
  });
  return [...head, ...sections].filter((part) => part !== "").join("\n\n");
}

const KINDS = ["t", "type"];
const propertiesOf = (schema: Schema) => (schema.properties ?? {}) as Record<string, Schema>;
const kindOf = (schema: Schema) =>
  KINDS.map((name) => propertiesOf(schema)[name]?.const).find((value) => value !== undefined);
const withoutKind = (schema: Schema) =>
  Object.fromEntries(
    Object.entries(propertiesOf(schema)).filter(
      ([name, { const: value }]) => !KINDS.includes(name) || !value,
    ),
  );

/** Adds the comments to the properties. */
function noted(schema: Schema, notes: Notes): Schema {
  const properties = Object.entries(propertiesOf(schema)).map(([name, property]) => {
    const { text, of } = notes[name] ?? {};
    const isList = property.type === "array" && of !== undefined;
    const inner = isList
      ? { ...property, items: noted((property.items as Schema | undefined) ?? {}, of) }
      : noted(property, of ?? {});
    return [name, { ...inner, ...(text && { description: text }) }] as const;
  });
  return properties.length === 0 ? schema : { ...schema, properties: Object.fromEntries(properties) };
}

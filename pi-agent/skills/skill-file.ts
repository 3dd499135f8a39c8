/** Reads the tools that a skill.toml declares. A wrong one is left out with the reason; the others stay. */

import { check, z } from "@edgecall/core/protocol/parse.ts";
import { PERMISSIONS, type Permission, type PlannedStep } from "@edgecall/core/tools/contract.ts";
import { messageOf } from "@edgecall/node/log.ts";
import { parse as parseToml } from "smol-toml";
import { SANDBOX_ENGINES, type SandboxEngine } from "../env/sandbox/sandbox-engine.ts";
import { readSteps } from "./steps.ts";
import { defaultTimeoutMs } from "./timeouts.ts";

/** A larger file is a mistake, and must not fill the memory of a small device. */
export const SKILL_FILE_MAX_BYTES = 256 * 1024;
/** The wire's limit in an advert. */
const DESCRIPTION_MAX = 2_000;
const TIMEOUT_MAX_MS = 300_000;
/** A week, the limit of everything that waits. */
const JOB_MAX_S = 604_800;
/** Providers accept no other names. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** It becomes an option, `--name`. */
const PARAMETER_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
/** The argument of a tool that may be a job; its program does not get it. */
export const BACKGROUND = "background";
/** It follows the `@` in the name of an older version. */
const VERSION = /^[A-Za-z0-9][A-Za-z0-9.+-]{0,31}$/;
/** Devices in /dev that a skill may get: sensors, buses, cameras and sound; never memory or disks. */
const DEVICE =
  /^\/dev\/(gpio(chip|mem)\d*|i2c-\d+|spidev\d+\.\d+|tty(USB|ACM|AMA|S)\d+|serial\d+|video\d+|media\d+|vchiq|vcio|dri\/[a-zA-Z]+\d+|snd\/[A-Za-z0-9]+)$/;

/** Of an event that a program says. */
const EVENT_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const EVENTS_MAX = 20;

const PARAMETER_TYPES = ["string", "integer", "number", "boolean"] as const;
type ParameterType = (typeof PARAMETER_TYPES)[number];
export type Value = string | number | boolean;

export type Parameter = {
  name: string;
  type: ParameterType;
  description: string;
  default?: Value;
  /** The only allowed values of a string. */
  enum?: readonly string[];
  required: boolean;
};

export type ToolDefinition = {
  name: string;
  /** The program named in the file; absent = `dt-NAME`. */
  binary: string | undefined;
  description: string;
  /** In the order of the file, which is the order of the arguments. */
  parameters: readonly Parameter[];
  /** Absent = the agent's own engine. */
  sandboxing: SandboxEngine | undefined;
  timeoutMs: number;
  /** It runs as a background job for at most this time, and its call is answered at once; absent = no job. */
  jobMs: number | undefined;
  /** Only calls with the argument `background` are jobs. */
  jobOptional: boolean;
  /** Absent = not stated, so it may need anything. An empty list means that it needs nothing. */
  permissions: readonly Permission[] | undefined;
  /** Paths in /dev that it needs; it gets them only when the agent holds `device`. */
  devices: readonly string[];
  /** Values of process.platform; empty = all. */
  platforms: readonly string[];
  /** True if it may run again after a crash. */
  idempotent: boolean;
  /** Names of the events that the program may say. */
  events: readonly string[];
  /** Empty = none given. */
  version: string;
  skill: string;
  /** The tool is made of other tools; absent = it is a program. */
  steps?: readonly PlannedStep[];
};

/** A tool that is not offered, and why. `tool` is absent for a whole skill. */
export type Skipped = { skill: string; tool?: string; reason: string };

/** Converts to the general form of tools that are not offered. */
export function unavailableOf(skipped: readonly Skipped[]): Array<{ name: string; why: string }> {
  return skipped.map(({ skill, tool, reason }) => ({
    name: tool ?? skill,
    why: tool === undefined ? `skill: ${reason}` : `skill '${skill}': ${reason}`,
  }));
}

export type SkillFile = { tools: ToolDefinition[]; skipped: Skipped[] };

/** An optional field; when it is present and wrong, a person reads `words` instead of zod's error. */
const right = (schema: z.ZodMiniType, words: string) =>
  z.optional(z.any().check(z.refine((value) => schema.safeParse(value).success, { error: words })));
const text = (max: number) => z.string().check(z.minLength(1), z.maxLength(max));
const oneOf = (words: readonly string[]) => words.map((word) => `"${word}"`).join(", ");

const Property = z.looseObject({
  type: right(z.enum(PARAMETER_TYPES), `not supported; right would be one of: ${oneOf(PARAMETER_TYPES)}`),
  description: right(z.string().check(z.maxLength(DESCRIPTION_MAX)), "right would be text"),
  enum: right(z.array(z.string()).check(z.minLength(1)), "right would be a list of texts"),
});
type Property = { type?: ParameterType; description?: string; enum?: string[]; default?: unknown };

/** Loose, because unknown fields may belong to another runtime, e.g. EvoClaw's. */
const Declared = z.looseObject({
  name: z.string().check(z.regex(TOOL_NAME, "right would be 1 to 64 letters, digits, _ or -")),
  binary: right(text(4_096), 'right would be a path, e.g. "bin/dt-hello"'),
  description: text(DESCRIPTION_MAX),
  sandboxing: right(z.enum(SANDBOX_ENGINES), `right would be one of: ${oneOf(SANDBOX_ENGINES)}`),
  timeout_ms: right(
    z.int().check(z.minimum(1), z.maximum(TIMEOUT_MAX_MS)),
    `right would be whole milliseconds from 1 to ${TIMEOUT_MAX_MS}`,
  ),
  job_timeout_s: right(
    z.int().check(z.minimum(1), z.maximum(JOB_MAX_S)),
    `right would be whole seconds from 1 to ${JOB_MAX_S} (a week)`,
  ),
  job_optional: right(z.boolean(), "right would be true or false"),
  permissions: right(z.array(z.enum(PERMISSIONS)), `right would be a list of: ${oneOf(PERMISSIONS)}`),
  devices: right(
    z.array(z.string().check(z.regex(DEVICE))),
    'right would be a list of sensors, buses, cameras or sound in /dev, e.g. ["/dev/i2c-1"]',
  ),
  platforms: right(z.array(text(32)), 'right would be a list like ["linux", "darwin"]'),
  idempotent: right(z.boolean(), "right would be true or false"),
  events: right(
    z.array(z.string().check(z.regex(EVENT_NAME))).check(z.maxLength(EVENTS_MAX)),
    `right would be a list of up to ${EVENTS_MAX} names of letters, digits, _ and -, e.g. ["opened"]`,
  ),
  parameters: z.optional(
    z.looseObject({
      properties: z.optional(z.record(z.string(), Property)),
      required: right(z.array(z.string()), "right would be a list of parameter names"),
    }),
  ),
  // readSteps checks them.
  steps: z.optional(z.unknown()),
  metadata: z.optional(
    z.looseObject({
      version: right(z.string().check(z.regex(VERSION)), 'right would be text like "1.2.0"'),
      skill: right(text(64), "right would be a name"),
    }),
  ),
});
/** The types after the check with `right`. */
type Declared = {
  name: string;
  binary?: string;
  description: string;
  sandboxing?: SandboxEngine;
  timeout_ms?: number;
  job_timeout_s?: number;
  job_optional?: boolean;
  permissions?: Permission[];
  devices?: string[];
  platforms?: string[];
  idempotent?: boolean;
  events?: string[];
  parameters?: { properties?: Record<string, Property>; required?: string[] };
  steps?: unknown;
  metadata?: { version?: string; skill?: string };
};

/** Fields that say how a program runs. What is true of a tool with steps follows from theirs. */
const OF_PROGRAMS = [
  "binary",
  "sandboxing",
  "timeout_ms",
  "job_timeout_s",
  "job_optional",
  "permissions",
  "devices",
  "idempotent",
  "events",
] as const satisfies ReadonlyArray<keyof Declared>;

/** @param folder name of the skill's folder, used when the file has no name */
export function readSkillFile(source: string, folder: string, timeoutMs?: number): SkillFile {
  const whole = (reason: string): SkillFile => ({ tools: [], skipped: [{ skill: folder, reason }] });
  let file: Record<string, unknown>;
  try {
    file = parseToml(source);
  } catch (error) {
    return whole(`skill.toml: not TOML: ${firstLine(error)}`);
  }
  const { tools: declared = [] } = file;
  if (!Array.isArray(declared)) return whole("skill.toml: tools: right would be a list, [[tools]]");
  if (declared.length === 0) return whole("skill.toml: no [[tools]] in it");
  const read = declared.map((one, index) => readTool(one, folder, index, timeoutMs));
  return {
    tools: read.flatMap((one) => ("tool" in one ? [one.tool] : [])),
    skipped: read.flatMap((one) => ("skipped" in one ? [one.skipped] : [])),
  };
}

function readTool(
  value: unknown,
  folder: string,
  index: number,
  timeoutMs: number | undefined,
): { tool: ToolDefinition } | { skipped: Skipped } {
  const given = (value as { name?: unknown } | null)?.name;
  const tool = typeof given === "string" ? given.slice(0, 64) : `tools[${index}]`;
  const skip = (reason: string) => ({ skipped: { skill: folder, tool, reason } });
  const checked = check(Declared, value);
  if (!checked.ok) return skip(checked.error);
  const it = checked.value as Declared;
  const parameters = readParameters(it.parameters);
  if (typeof parameters === "string") return skip(parameters);
  const steps = it.steps === undefined ? undefined : readSteps(it.steps, parameters);
  if (typeof steps === "string") return skip(steps);
  const extra = steps && OF_PROGRAMS.find((field) => it[field] !== undefined);
  if (extra !== undefined) return skip(`${extra}: a tool with steps has none; it follows from its steps`);
  const jobOptional = it.job_optional ?? false;
  if (jobOptional && it.job_timeout_s === undefined)
    return skip("job_optional: right would be job_timeout_s beside it, which says how long a job may take");
  if (jobOptional && parameters.some(({ name }) => name === BACKGROUND))
    return skip(
      `parameters.properties.${BACKGROUND}: with job_optional the agent has an argument of this name`,
    );
  const permissions = it.permissions && [...new Set(it.permissions)];
  return {
    tool: {
      name: it.name,
      binary: it.binary,
      description: it.description,
      parameters,
      sandboxing: it.sandboxing,
      timeoutMs: it.timeout_ms ?? timeoutMs ?? defaultTimeoutMs(it.name),
      jobMs: it.job_timeout_s === undefined ? undefined : it.job_timeout_s * 1_000,
      jobOptional,
      permissions,
      devices: it.devices ?? [],
      platforms: it.platforms ?? [],
      idempotent: it.idempotent ?? permissions?.every((one) => one === "file_read") ?? false,
      events: it.events ?? [],
      version: it.metadata?.version ?? "",
      skill: it.metadata?.skill ?? folder,
      ...(steps && { steps }),
    },
  };
}

/** @returns the parameters, or what is wrong */
function readParameters({
  properties = {},
  required = [],
}: Declared["parameters"] = {}): Parameter[] | string {
  const missing = required.find((name) => !Object.hasOwn(properties, name));
  if (missing !== undefined) {
    return `parameters.required: '${missing}' is not one of the properties: ${Object.keys(properties).join(", ") || "none"}`;
  }
  const parameters: Parameter[] = [];
  for (const [name, property] of Object.entries(properties)) {
    const at = `parameters.properties.${name}`;
    if (!PARAMETER_NAME.test(name)) return `${at}: right would be a letter, then letters, digits, _ or -`;
    const { type, description = "", enum: values } = property;
    if (type === undefined) return `${at}.type: missing; right would be one of: ${oneOf(PARAMETER_TYPES)}`;
    if (values !== undefined && type !== "string") return `${at}.enum: only a string can have one`;
    const parameter = {
      name,
      type,
      description,
      required: required.includes(name),
      ...(values && { enum: values }),
    };
    if (property.default === undefined) parameters.push(parameter);
    else if (fits(property.default, parameter)) parameters.push({ ...parameter, default: property.default });
    else return `${at}.default: not ${values ? `one of: ${values.join(", ")}` : `of type ${type}`}`;
  }
  return parameters;
}

function fits(value: unknown, { type, enum: values }: Pick<Parameter, "type" | "enum">): value is Value {
  if (type === "integer") return Number.isSafeInteger(value);
  if (type === "string") return typeof value === "string" && (values === undefined || values.includes(value));
  return typeof value === type;
}

/** smol-toml shows the place on the lines after it. */
function firstLine(error: unknown): string {
  return messageOf(error).split("\n")[0] ?? "";
}

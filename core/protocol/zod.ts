/**
 * The parts of `zod/mini` that edgecall uses; parse.ts exports them as `z`. What makes a schema makes it at its first use.
 *
 * They are listed because a re-exported namespace is bundled as a whole, and all of `zod/mini` is 85 KB gzip (error texts in
 * 50 languages). Add what is missing; a schema that needs it fails to compile.
 */
import * as mini from "zod/mini";
import { deferred, deferredObject, made } from "./deferred-schema.ts";

export type { core, infer, output, ZodMiniObject, ZodMiniType } from "zod/mini";
export { config } from "zod/mini";

export const _default: typeof mini._default = /* @__PURE__ */ deferred(mini._default);
export const any: typeof mini.any = /* @__PURE__ */ deferred(mini.any);
export const array: typeof mini.array = /* @__PURE__ */ deferred(mini.array);
export const boolean: typeof mini.boolean = /* @__PURE__ */ deferred(mini.boolean);
export const describe: typeof mini.describe = /* @__PURE__ */ deferred(mini.describe);
export const discriminatedUnion: typeof mini.discriminatedUnion = /* @__PURE__ */ deferred(
  mini.discriminatedUnion,
);
export const int: typeof mini.int = /* @__PURE__ */ deferred(mini.int);
export const literal: typeof mini.literal = /* @__PURE__ */ deferred(mini.literal);
export const looseObject: typeof mini.looseObject = /* @__PURE__ */ deferredObject(mini.looseObject);
export const maximum: typeof mini.maximum = /* @__PURE__ */ deferred(mini.maximum);
export const maxLength: typeof mini.maxLength = /* @__PURE__ */ deferred(mini.maxLength);
export const minimum: typeof mini.minimum = /* @__PURE__ */ deferred(mini.minimum);
export const minLength: typeof mini.minLength = /* @__PURE__ */ deferred(mini.minLength);
export const nullable: typeof mini.nullable = /* @__PURE__ */ deferred(mini.nullable);
export const number: typeof mini.number = /* @__PURE__ */ deferred(mini.number);
export const object: typeof mini.object = /* @__PURE__ */ deferredObject(mini.object);
export const optional: typeof mini.optional = /* @__PURE__ */ deferred(mini.optional);
export const record: typeof mini.record = /* @__PURE__ */ deferred(mini.record);
export const refine: typeof mini.refine = /* @__PURE__ */ deferred(mini.refine);
export const regex: typeof mini.regex = /* @__PURE__ */ deferred(mini.regex);
export const strictObject: typeof mini.strictObject = /* @__PURE__ */ deferredObject(mini.strictObject);
export const string: typeof mini.string = /* @__PURE__ */ deferred(mini.string);
export const trim: typeof mini.trim = /* @__PURE__ */ deferred(mini.trim);
export const union: typeof mini.union = /* @__PURE__ */ deferred(mini.union);
export const unknown: typeof mini.unknown = /* @__PURE__ */ deferred(mini.unknown);
const catchDeferred: typeof mini.catch = /* @__PURE__ */ deferred(mini.catch);
const enumDeferred: typeof mini.enum = /* @__PURE__ */ deferred(mini.enum);
const nullDeferred: typeof mini.null = /* @__PURE__ */ deferred(mini.null);

export { catchDeferred as catch, enumDeferred as enum, nullDeferred as null };

/** @param schema declared by the functions above */
export function toJSONSchema(
  schema: mini.core.$ZodType,
  params?: mini.core.ToJSONSchemaParams,
): mini.core.JSONSchema.JSONSchema {
  return mini.toJSONSchema(made(schema) as mini.core.$ZodType, params);
}

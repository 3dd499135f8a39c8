/**
 * The parts of `zod/mini` that edgecall uses; parse.ts exports them as `z`. What makes a schema makes it at its first use.
 *
 * They are listed because a re-exported namespace is bundled as a whole, and all of `zod/mini` is 85 KB gzip (error texts in
 * 50 languages). Add what is missing; a schema that needs it fails to compile. All that stands here is in every program.
 */
import * as mini from "zod/mini";
import { deferred, deferredObject } from "./deferred-schema.ts";

export type { core, infer, output, ZodMiniObject, ZodMiniType } from "zod/mini";
export { config } from "zod/mini";

export const _default = /* @__PURE__ */ deferred(mini._default);
export const any = /* @__PURE__ */ deferred(mini.any);
export const array = /* @__PURE__ */ deferred(mini.array);
export const boolean = /* @__PURE__ */ deferred(mini.boolean);
export const describe = /* @__PURE__ */ deferred(mini.describe);
export const discriminatedUnion = /* @__PURE__ */ deferred(mini.discriminatedUnion);
export const int = /* @__PURE__ */ deferred(mini.int);
export const literal = /* @__PURE__ */ deferred(mini.literal);
export const looseObject = /* @__PURE__ */ deferredObject(mini.looseObject);
export const maximum = /* @__PURE__ */ deferred(mini.maximum);
export const maxLength = /* @__PURE__ */ deferred(mini.maxLength);
export const minimum = /* @__PURE__ */ deferred(mini.minimum);
export const minLength = /* @__PURE__ */ deferred(mini.minLength);
export const nullable = /* @__PURE__ */ deferred(mini.nullable);
export const number = /* @__PURE__ */ deferred(mini.number);
export const object = /* @__PURE__ */ deferredObject(mini.object);
export const optional = /* @__PURE__ */ deferred(mini.optional);
export const overwrite = /* @__PURE__ */ deferred(mini.overwrite);
export const record = /* @__PURE__ */ deferred(mini.record);
export const refine = /* @__PURE__ */ deferred(mini.refine);
export const regex = /* @__PURE__ */ deferred(mini.regex);
export const strictObject = /* @__PURE__ */ deferredObject(mini.strictObject);
export const string = /* @__PURE__ */ deferred(mini.string);
export const trim = /* @__PURE__ */ deferred(mini.trim);
export const union = /* @__PURE__ */ deferred(mini.union);
export const unknown = /* @__PURE__ */ deferred(mini.unknown);
const catchDeferred = /* @__PURE__ */ deferred(mini.catch);
const enumDeferred = /* @__PURE__ */ deferred(mini.enum);
const nullDeferred = /* @__PURE__ */ deferred(mini.null);

export { catchDeferred as catch, enumDeferred as enum, nullDeferred as null };

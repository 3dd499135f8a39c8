/**
 * The parts of `zod/mini` that edgecall uses; parse.ts exports them as `z`.
 *
 * They are listed because a re-exported namespace is bundled as a whole, and all of `zod/mini` is 85 KB gzip (error texts in
 * 50 languages). Add what is missing; a schema that needs it fails to compile.
 */

export type { core, infer, output, ZodMiniObject, ZodMiniType } from "zod/mini";
export {
  _default,
  any,
  array,
  boolean,
  catch,
  config,
  describe,
  discriminatedUnion,
  enum,
  int,
  literal,
  looseObject,
  maximum,
  maxLength,
  minimum,
  minLength,
  null,
  nullable,
  number,
  object,
  optional,
  record,
  refine,
  regex,
  strictObject,
  string,
  toJSONSchema,
  trim,
  union,
  unknown,
} from "zod/mini";

/**
 * The part of `zod/mini` that edgecall uses: `z`, as parse.ts hands it out.
 *
 * A list, because a namespace that is handed on goes into a bundle as a whole, and all of `zod/mini` is 85 KB
 * of gzip (50 languages of error texts). What is missing here may be added; a schema that needs it says so at
 * compile time.
 */

export type { core, infer, input, output, ZodMiniObject, ZodMiniType } from "zod/mini";
export {
  _default,
  any,
  array,
  boolean,
  catch,
  check,
  config,
  describe,
  discriminatedUnion,
  enum,
  int,
  length,
  literal,
  looseObject,
  maximum,
  maxLength,
  minimum,
  minLength,
  never,
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
  tuple,
  union,
  unknown,
} from "zod/mini";

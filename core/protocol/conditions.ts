/** Conditions on the wire: what is wrong with an agent or a bridge, as a code that core/conditions/ has the words of. */
import { z } from "./parse.ts";

/** Characters of a parameter. */
export const PARAMETER_MAX = 200;
/** An agent or a bridge tells of so many at most. */
export const CONDITIONS_MAX = 8;

/** The code may be one of a newer program. */
export const Condition = z.object({
  code: z.string().check(z.regex(/^[a-z_]{1,48}$/)),
  params: z.optional(
    z.record(z.string().check(z.maxLength(32)), z.string().check(z.maxLength(PARAMETER_MAX))),
  ),
});
export type Condition = z.infer<typeof Condition>;

/** A field of an advert or a frame. A wrong list counts as none, so that the rest is still read. */
export const ConditionList = z.catch(
  z.optional(z.array(Condition).check(z.maxLength(CONDITIONS_MAX))),
  undefined,
);

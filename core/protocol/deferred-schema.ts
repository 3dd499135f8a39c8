/**
 * Schemas that are made when they are first used. A program declares hundreds of them and uses few at its start: making them all was a
 * third of the processor time that the Worker needs to start.
 */
import type { ZodMiniObject } from "zod/mini";

/** Stands for a schema, or for a check of one. Within another schema the made one takes its place. */
class DeferredSchema {
  #make: (() => ZodMiniObject) | undefined;
  #made: ZodMiniObject | undefined;
  readonly #shape: ZodMiniObject["shape"] | undefined;

  /** @param shape of an object, which can be read before it is made */
  constructor(make: () => ZodMiniObject, shape?: ZodMiniObject["shape"]) {
    this.#make = make;
    this.#shape = shape;
  }

  get made(): ZodMiniObject {
    if (this.#made === undefined) {
      this.#made = this.#make?.();
      this.#make = undefined;
    }
    // SAFETY: whoever is made has been made by `#make`.
    return this.#made as ZodMiniObject;
  }

  check(...checks: unknown[]): DeferredSchema {
    // SAFETY: the declaration's types were checked with zod's own.
    const make = () => this.made.check(...(checks.map(made) as [])) as ZodMiniObject;
    return new DeferredSchema(make, this.#shape);
  }

  safeParse(value: unknown) {
    return this.made.safeParse(value);
  }

  parse(value: unknown) {
    return this.made.parse(value);
  }

  get shape() {
    return this.#shape ?? this.made.shape;
  }

  get def() {
    return this.made.def;
  }

  get _zod() {
    return this.made._zod;
  }
}

/** @param make a function of zod that makes a schema or a check @returns the same, which makes it at its first use */
export function deferred<F extends (...args: never[]) => unknown>(make: F): F {
  return declaring(make, () => undefined);
}

/** The same for a schema of objects, whose first argument is its shape. */
export function deferredObject<F extends (...args: never[]) => unknown>(make: F): F {
  return declaring(make, (shape) => shape as ZodMiniObject["shape"]);
}

function declaring<F extends (...args: never[]) => unknown>(
  make: F,
  shapeOf: (first: unknown) => ZodMiniObject["shape"] | undefined,
): F {
  const declare = (...args: unknown[]) =>
    // SAFETY: the arguments are those of `make`, whose types the declaration was checked with.
    new DeferredSchema(() => make(...(args.map(made) as never[])) as ZodMiniObject, shapeOf(args[0]));
  // SAFETY: programs use of a schema what DeferredSchema has.
  return declare as unknown as F;
}

/** Replaces deferred schemas in an argument of zod's functions: itself, in a list, or as a field. */
export function made(value: unknown): unknown {
  if (value instanceof DeferredSchema) return value.made;
  if (Array.isArray(value)) return value.map(made);
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  const fields = Object.entries(value);
  if (!fields.some(([, field]) => field instanceof DeferredSchema)) return value;
  return Object.fromEntries(fields.map(([name, field]) => [name, made(field)]));
}

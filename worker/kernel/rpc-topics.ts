/** Methods of an object over RPC that its parts give it, by topic. */
import { flatName } from "./api/flat-names.ts";
import type { Dotted, Joined } from "./api/home-api.ts";

/** A part for each topic. @template At what a part may do with its object */
export type Topics<At = never> = Readonly<Record<string, new (at: At) => object>>;

/**
 * Defines a method `topic.method` for each method of each part. One request is one call, and a trace names the topic. A getter
 * that returns an `RpcTarget` works in workerd too, but the tests' runner cannot follow nested paths.
 */
export function defineTopics<At>(
  Of: { readonly prototype: { readonly access: At } },
  all: ReadonlyArray<Topics<At> | undefined>,
): void {
  for (const [topic, Part] of all.flatMap((topics = {}) => Object.entries(topics)))
    for (const method of Object.getOwnPropertyNames(Part.prototype)) {
      if (method === "constructor") continue;
      const descriptor = {
        configurable: true,
        writable: true,
        value(this: { readonly access: At }, ...args: unknown[]) {
          // SAFETY: `method` is one of its own.
          return (new Part(this.access) as unknown as Methods)[method]?.(...args);
        },
      };
      const name = `${topic}.${method}`;
      Object.defineProperty(Of.prototype, name, descriptor);
      // For objects of 0.3.
      Object.defineProperty(Of.prototype, flatName(name), descriptor);
    }
}

type Methods = Record<string, (...args: unknown[]) => unknown>;

/** The methods of these features, by their dotted names. */
export type MethodsOf<Features extends readonly object[]> = Dotted<Joined<Parts<Features[number]>>>;
type Parts<Feature> = Feature extends { rpc: infer Own }
  ? { [Topic in keyof Own]: Own[Topic] extends new (...args: never[]) => infer Part ? Part : never }
  : never;

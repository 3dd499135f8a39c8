/** Methods of an object over RPC that its parts give it, by topic. */
import { flatName } from "./api/flat-names.ts";
import type { Dotted, Joined } from "./api/home-api.ts";

/**
 * The methods that `Api` lists. Each is called with what it may do with its object, then with its own arguments.
 * @template At what that is
 */
export type PartOf<At, Api> = {
  readonly [Method in keyof Api]: Api[Method] extends (...args: infer Args) => infer Result
    ? (at: At, ...args: Args) => Result
    : never;
};

/** A part for each topic. */
export type Topics<At> = Readonly<
  Record<string, Readonly<Record<string, (at: At, ...args: never[]) => unknown>>>
>;

/**
 * Defines a method `topic.method` for each method of each part. One request is one call, and a trace names the topic. A getter
 * that returns an `RpcTarget` works in workerd too, but the tests' runner cannot follow nested paths.
 */
export function defineTopics<At>(
  Of: { readonly prototype: { readonly access: At } },
  all: ReadonlyArray<Topics<At> | undefined>,
): void {
  for (const [topic, part] of all.flatMap((topics = {}) => Object.entries(topics)))
    for (const [method, call] of Object.entries(part)) {
      const descriptor = {
        configurable: true,
        writable: true,
        value(this: { readonly access: At }, ...args: never[]) {
          return call(this.access, ...args);
        },
      };
      const name = `${topic}.${method}`;
      Object.defineProperty(Of.prototype, name, descriptor);
      // For objects of 0.3.
      Object.defineProperty(Of.prototype, flatName(name), descriptor);
    }
}

/** The methods of these features, by their dotted names. */
export type MethodsOf<Features extends readonly object[]> = Dotted<Joined<Apis<Features[number]>>>;
type Apis<Feature> = Feature extends { rpc: infer Own } ? { [Topic in keyof Own]: ApiOf<Own[Topic]> } : never;
type ApiOf<Part> = {
  [Method in keyof Part]: Part[Method] extends (at: never, ...args: infer Args) => infer Result
    ? (...args: Args) => Result
    : never;
};

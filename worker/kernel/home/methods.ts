/** Methods of a home's object over RPC, from the kernel's parts and those of the features. */

import { flatName } from "../api/flat-names.ts";
import type { Dotted, Joined } from "../api/home-api.ts";
import { AgentsRpc } from "./agents/rpc.ts";
import { CallsRpc } from "./calls/rpc.ts";
import type { HomeFeature } from "./feature.ts";
import { FilesRpc } from "./files/rpc.ts";
import type { HomeObject } from "./home.ts";
import { NoticesRpc } from "./notices/rpc.ts";
import { ConversationsRpc } from "./people/conversations-rpc.ts";
import { TokensRpc } from "./people/tokens-rpc.ts";
import { QuestionsRpc } from "./questions/rpc.ts";
import { ModelsRpc } from "./usage/rpc.ts";

const KERNEL = {
  agents: AgentsRpc,
  calls: CallsRpc,
  files: FilesRpc,
  conversations: ConversationsRpc,
  tokens: TokensRpc,
  questions: QuestionsRpc,
  notices: NoticesRpc,
  models: ModelsRpc,
};

/**
 * Defines a method `topic.method` for each method of each part. One request is one call, and a trace names the topic. A getter
 * that returns an `RpcTarget` works in workerd too, but the tests' runner cannot follow nested paths.
 */
export function defineMethods(
  Home: { readonly prototype: HomeObject },
  features: readonly HomeFeature[],
): void {
  const topics = [KERNEL, ...features.map(({ rpc = {} }) => rpc)].flatMap(Object.entries);
  for (const [topic, Part] of topics)
    for (const method of Object.getOwnPropertyNames(Part.prototype).filter(
      (name) => name !== "constructor",
    )) {
      const descriptor = {
        configurable: true,
        writable: true,
        value(this: HomeObject, ...args: unknown[]) {
          // SAFETY: `method` is one of its own.
          return (new Part(this.access) as unknown as Methods)[method]?.(...args);
        },
      };
      const name = `${topic}.${method}`;
      Object.defineProperty(Home.prototype, name, descriptor);
      // For conversations of 0.3.
      Object.defineProperty(Home.prototype, flatName(name), descriptor);
    }
}

type Methods = Record<string, (...args: unknown[]) => unknown>;

/** The methods of these features, by their dotted names. */
export type MethodsOf<Features extends readonly HomeFeature[]> = Dotted<Joined<Parts<Features[number]>>>;
type Parts<Feature> = Feature extends { rpc: infer Topics }
  ? { [Topic in keyof Topics]: Topics[Topic] extends new (...args: never[]) => infer Part ? Part : never }
  : never;

/** Methods of a home's object over RPC, from the kernel's parts and those of the features. */
import { defineTopics } from "../rpc-topics.ts";
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

/** Its methods `topic.method`. */
export function defineMethods(
  Home: { readonly prototype: HomeObject },
  features: readonly HomeFeature[],
): void {
  defineTopics(Home, [KERNEL, ...features.map(({ rpc }) => rpc)]);
}

/** Methods of a home's object over RPC, from the kernel's parts and those of the features. */
import { defineTopics } from "../rpc-topics.ts";
import type { HomeFeature } from "./feature.ts";
import type { HomeObject } from "./home.ts";
import { AgentsRpc } from "./rpc/agents.ts";
import { CallsRpc } from "./rpc/calls.ts";
import { ConversationsRpc } from "./rpc/conversations.ts";
import { FilesRpc } from "./rpc/files.ts";
import { ModelsRpc } from "./rpc/models.ts";
import { NoticesRpc } from "./rpc/notices.ts";
import { QuestionsRpc } from "./rpc/questions.ts";
import { TokensRpc } from "./rpc/tokens.ts";

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

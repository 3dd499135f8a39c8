/** Methods of a home's object over RPC, from the kernel's parts and those of the features. */
import { defineTopics } from "../rpc-topics.ts";
import type { HomeFeature } from "./feature.ts";
import type { HomeObject } from "./home.ts";
import { agentsRpc } from "./rpc/agents.ts";
import { callsRpc } from "./rpc/calls.ts";
import { conversationsRpc } from "./rpc/conversations.ts";
import { filesRpc } from "./rpc/files.ts";
import { modelsRpc } from "./rpc/models.ts";
import { noticesRpc } from "./rpc/notices.ts";
import { passkeysRpc } from "./rpc/passkeys.ts";
import { permissionsRpc } from "./rpc/permissions.ts";
import { questionsRpc } from "./rpc/questions.ts";
import { tokensRpc } from "./rpc/tokens.ts";

const KERNEL = {
  agents: agentsRpc,
  calls: callsRpc,
  files: filesRpc,
  conversations: conversationsRpc,
  tokens: tokensRpc,
  questions: questionsRpc,
  notices: noticesRpc,
  models: modelsRpc,
  passkeys: passkeysRpc,
  permissions: permissionsRpc,
};

/** Its methods `topic.method`. */
export function defineMethods(
  Home: { readonly prototype: HomeObject },
  features: readonly HomeFeature[],
): void {
  defineTopics(Home, [KERNEL, ...features.map(({ rpc }) => rpc)]);
}

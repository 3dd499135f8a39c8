/** A home with its features. A new feature is one line of this list. */

import { AuditRpc } from "./features/audit/home/rpc.ts";
import { ChatRpc } from "./features/chat/home/rpc.ts";
import { DevicesRpc } from "./features/devices/home/rpc.ts";
import { LendingRpc } from "./features/lending/home/rpc.ts";
import { OauthRpc } from "./features/oauth/home/rpc.ts";
import { PairingRpc } from "./features/pairing/home/rpc.ts";
import { PushRpc } from "./features/push/home/rpc.ts";
import { RelayRpc } from "./features/relay/rpc.ts";
import { RulesRpc } from "./features/rules/home/rpc.ts";
import { UpdatesRpc } from "./features/updates/rpc.ts";
import { UsageRpc } from "./features/usage/home/rpc.ts";
import type { HomeMethods } from "./kernel/api/home-api.ts";
import { AgentsRpc } from "./kernel/home/agents/rpc.ts";
import { CallsRpc } from "./kernel/home/calls/rpc.ts";
import { FilesRpc } from "./kernel/home/files/rpc.ts";
import { HomeObject } from "./kernel/home/home.ts";
import { ConversationsRpc } from "./kernel/home/people/conversations-rpc.ts";
import { TokensRpc } from "./kernel/home/people/tokens-rpc.ts";
import { QuestionsRpc } from "./kernel/home/questions/rpc.ts";

const PARTS = {
  agents: AgentsRpc,
  calls: CallsRpc,
  files: FilesRpc,
  conversations: ConversationsRpc,
  tokens: TokensRpc,
  questions: QuestionsRpc,
  audit: AuditRpc,
  chat: ChatRpc,
  devices: DevicesRpc,
  lending: LendingRpc,
  oauth: OauthRpc,
  pairing: PairingRpc,
  push: PushRpc,
  relay: RelayRpc,
  rules: RulesRpc,
  updates: UpdatesRpc,
  usage: UsageRpc,
};

export interface Home extends HomeMethods {}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the methods are defined below, from the list
export class Home extends HomeObject {}

for (const [topic, Part] of Object.entries(PARTS))
  for (const method of Object.getOwnPropertyNames(Part.prototype).filter((name) => name !== "constructor"))
    Object.defineProperty(Home.prototype, `${topic}.${method}`, {
      configurable: true,
      writable: true,
      value(this: Home, ...args: unknown[]) {
        // SAFETY: `method` is one of its own.
        return (new Part(this.access) as unknown as Methods)[method]?.(...args);
      },
    });

type Methods = Record<string, (...args: unknown[]) => unknown>;

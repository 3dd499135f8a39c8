/** What the rest of the Worker asks a home about chat. */

import type { HomePart } from "../../../kernel/home/part.ts";
import { chatConnectionsOf } from "../../../kernel/home/people/chat-connections.ts";
import { sendersOf } from "../../../kernel/home/people/senders.ts";
import type { ChatApi } from "../chat-api.ts";

export const chatRpc: HomePart<ChatApi> = {
  async admit({ home }, stranger, mayRequestAccess) {
    const role = sendersOf(home).roleOf(stranger);
    if (role) return { role };
    return { knock: mayRequestAccess ? sendersOf(home).requestAccess(stranger, Date.now()) : undefined };
  },
  senders: async ({ home }) => ({
    pairings: sendersOf(home).requests(Date.now()),
    senders: sendersOf(home).senders(),
  }),
  approveSender: async ({ home }, code, role, by) => sendersOf(home).approve(code, role, by, Date.now()),
  dismissSender: async ({ home }, code) => sendersOf(home).dismiss(code),
  removeSender: async ({ home }, sender) => sendersOf(home).remove(sender),
  connection: async (at, channel, name) =>
    at.isBlank ? undefined : await chatConnectionsOf(at.home).find(channel, name),
  connections: async ({ home }) => chatConnectionsOf(home).list(),
  storeConnection: async ({ home }, connection, by) =>
    await chatConnectionsOf(home).store(connection, by, Date.now()),
  removeConnection: async ({ home }, channel, name) => chatConnectionsOf(home).remove(channel, name),
};

/**
 * The Worker as it is, and one route more: `/room?name=&path=` hands a client's socket to a conversation's waiting room, as the
 * Worker does with its own. `/listening?name=` counts the room's sockets. Both objects say how a socket ended.
 */

import { Home as RealHome } from "../worker/home.ts";
import worker, { Conversation as RealConversation } from "../worker/index.ts";
import type { Env } from "../worker/kernel/env.ts";

export class Home extends RealHome {
  override async webSocketError(socket: WebSocket): Promise<void> {
    console.log("home: socket error");
    await super.webSocketError(socket);
  }
}

export class Conversation extends RealConversation {
  async listening(): Promise<number> {
    return this.ctx.getWebSockets().length;
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    console.log("conversation: socket error");
    await super.webSocketError(socket);
  }
}

export default {
  ...worker,
  async fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
    const url = new URL(request.url);
    // SAFETY: the class that this file exports under the binding's name.
    const room = env.CONVERSATION.getByName(url.searchParams.get("name") ?? "") as unknown as Conversation;
    if (url.pathname === "/listening") return Response.json(await room.listening());
    if (url.pathname === "/room")
      return await room.fetch(
        new Request(`https://object${url.searchParams.get("path")}`, { headers: { upgrade: "websocket" } }),
      );
    return await worker.fetch(request, env, ctx);
  },
};

/** WebSockets of the two objects, accepted with the hibernation API: the object sleeps while a client waits. */

/** @returns the object's end, and the response that gives the other end away */
export function acceptSocket(
  ctx: DurableObjectState,
  tags: string[],
): { socket: WebSocket; response: Response } {
  const { 0: webSocket, 1: socket } = new WebSocketPair();
  ctx.acceptWebSocket(socket, tags);
  return { socket, response: new Response(null, { status: 101, webSocket }) };
}

/** Closing a socket that is closed already throws, and nothing is to be done about it. */
export function closeQuietly(socket: WebSocket, reason: string, code = 1000): void {
  try {
    socket.close(code, reason);
  } catch {
    // Closed already.
  }
}

/** Sending over a socket that was closed meanwhile throws, and nobody is there to read it. */
export function sendQuietly(socket: WebSocket, text: string): void {
  try {
    socket.send(text);
  } catch {
    // Closed already.
  }
}

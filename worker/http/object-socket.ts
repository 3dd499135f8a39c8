/** The socket by which an object tells the Worker what happens, while the Worker holds the caller's response. */

/** The stub of either object. */
export type ObjectStub = { fetch(request: Request): Promise<Response> };

/** @param stub a new one for each try: a stub that threw is broken @returns "gone" when the object has nothing to tell */
export async function openSocket(stub: ObjectStub, path: string): Promise<WebSocket | "gone"> {
  const response = await stub.fetch(
    new Request(`https://object${path}`, { headers: { upgrade: "websocket" } }),
  );
  if (response.status === 404 || response.status === 410) return "gone";
  if (!response.webSocket) throw new Error(`no socket: ${response.status}`);
  response.webSocket.accept();
  return response.webSocket;
}

/** Messages of a socket until it closes or the signal fires. */
export async function* messagesOf(socket: WebSocket, signal: AbortSignal): AsyncGenerator<string> {
  const queue: string[] = [];
  let wake: () => void = () => {};
  let closed = false;
  const close = () => {
    closed = true;
    wake();
  };
  socket.addEventListener("message", ({ data }) => {
    if (typeof data === "string") queue.push(data);
    wake();
  });
  socket.addEventListener("close", close);
  socket.addEventListener("error", close);
  signal.addEventListener("abort", close);
  try {
    while (!signal.aborted) {
      const text = queue.shift();
      if (text !== undefined) yield text;
      else if (closed) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    signal.removeEventListener("abort", close);
    socket.close(1000, "bye");
  }
}

/** Messages of an object's socket until it closes or the signal fires; none when the object has nothing to tell. */
export async function* socketMessages(
  stub: ObjectStub,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const socket = await openSocket(stub, path);
  if (socket !== "gone") yield* messagesOf(socket, signal);
}

/** The first message; undefined when there is none within `patienceMs`. */
export async function firstMessage(
  stub: ObjectStub,
  path: string,
  patienceMs: number,
  hangup: AbortSignal,
): Promise<string | undefined> {
  const socket = await openSocket(stub, path);
  if (socket === "gone") return undefined;
  for await (const text of messagesOf(socket, AbortSignal.any([hangup, AbortSignal.timeout(patienceMs)])))
    return text;
  return undefined;
}

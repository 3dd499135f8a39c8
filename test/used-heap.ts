/** The heap of the Worker's isolate, read over V8's inspector. Locally Worker and objects share one isolate. */
import { WebSocket } from "ws";
import { until } from "./wait.ts";

type HeapUsage = { usedSize: number; backingStorageSize: number };
type Answer = { id: number; result?: Partial<HeapUsage> };

/** V8 collects in a task that runs when the isolate does, so it is woken this often. */
const WAKE_EVERY_MS = 20;

/**
 * Returns the bytes in use after a full collection, array buffers included.
 * @param wake makes the isolate run @throws when the inspector does not answer
 */
export async function usedHeap(inspectorUrl: string, wake: () => Promise<unknown>): Promise<number> {
  const socket = new WebSocket(inspectorUrl);
  const answers = new Map<number, Answer>();
  socket.on("message", (text) => {
    const answer = JSON.parse(String(text)) as Answer;
    answers.set(answer.id, answer);
  });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const ask = async (id: number, method: string) => {
    socket.send(JSON.stringify({ id, method }));
    return await until(
      async () => {
        await wake();
        return answers.get(id);
      },
      { every: WAKE_EVERY_MS, what: `${method} is answered` },
    );
  };
  try {
    await ask(1, "HeapProfiler.collectGarbage");
    const { result } = await ask(2, "Runtime.getHeapUsage");
    return (result?.usedSize ?? Number.NaN) + (result?.backingStorageSize ?? 0);
  } finally {
    socket.close();
  }
}

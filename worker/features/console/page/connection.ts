/** Whether the gateway answers this page. Each request says it; a stream that broke is opened again at once, so a lost gateway is noticed soon. */
import { NoAnswerError } from "@edgecall/client/client.ts";
import { useEffect, useState } from "preact/hooks";

/** Since when no answer comes, epoch ms; undefined: the last one came. */
let lostSince: number | undefined;
const listeners = new Set<() => void>();

/** @param error of a request; undefined: it was answered */
export function noteAnswer(error?: unknown): void {
  const isLost = error instanceof NoAnswerError;
  if (isLost === (lostSince !== undefined)) return;
  lostSince = isLost ? Date.now() : undefined;
  for (const listener of listeners) listener();
}

/** @returns since when no answer comes, epoch ms */
export function useLostSince(): number | undefined {
  const [since, setSince] = useState(lostSince);
  useEffect(() => {
    const listener = () => setSince(lostSince);
    listener();
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return since;
}

// The system knows at once that the network is gone. That it is back says nothing of the gateway.
globalThis.addEventListener?.("offline", () => noteAnswer(new NoAnswerError("the network is gone")));

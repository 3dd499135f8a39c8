/**
 * Says if the gateway answers this page. Each request tells it; a stream that broke is opened again at once, so a lost gateway is noticed
 * soon. A connection that stays open and brings nothing fails no request: for that the gateway is asked while a person looks.
 */
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

/** Together less than 5 s: so long a person believes what stands there. */
const ASK_AFTER_MS = 2_300;
const ANSWER_MS = 2_000;
/** A tablet on a wall asks seldom: each request is billed. */
const ACTIVE_MS = 120_000;
const ASK_IDLE_AFTER_MS = 30_000;
const ACTS = ["pointerdown", "keydown", "scroll", "visibilitychange"] as const;
/** A request that hangs is given up, so that the next one can find the gateway. */
const GIVE_UP_MS = 8_000;

/** Asks the gateway again and again whether it is there, while the page is seen: often in the two minutes after a person did something there. It wakes no home. @returns ends it */
export function watchGateway(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let ended = false;
  let actedAt = Date.now();
  const look = async () => {
    if (document.visibilityState === "visible") await lookForGateway();
    if (!ended) later();
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(look, Date.now() - actedAt < ACTIVE_MS ? ASK_AFTER_MS : ASK_IDLE_AFTER_MS);
  };
  const onAct = () => {
    const wasIdle = Date.now() - actedAt >= ACTIVE_MS;
    actedAt = Date.now();
    if (wasIdle) later();
  };
  for (const act of ACTS) document.addEventListener(act, onAct, { capture: true, passive: true });
  later();
  return () => {
    ended = true;
    clearTimeout(timer);
    for (const act of ACTS) document.removeEventListener(act, onAct, { capture: true });
  };
}

async function lookForGateway(): Promise<void> {
  const isLate = setTimeout(() => noteAnswer(new NoAnswerError("the gateway does not answer")), ANSWER_MS);
  try {
    await fetch("/healthz", { cache: "no-store", signal: AbortSignal.timeout(GIVE_UP_MS) });
    noteAnswer();
  } catch (error) {
    noteAnswer(new NoAnswerError("the gateway cannot be reached", { cause: error }));
  } finally {
    clearTimeout(isLate);
  }
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

/** Streams of the gateway that stay open while the page is visible, and reconnect by themselves. */
import {
  addressOf,
  type EventOf,
  type RequestOf,
  ResponseError,
  type StreamRoute,
} from "@edgecall/client/client.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { client } from "./api.ts";

const AGAIN_AFTER_MS = 1_500;

export type StreamOptions<R extends StreamRoute> = {
  onEvent: (event: EventOf<R>) => void;
  /** Called when the stream is refused; it is not tried again. */
  onRefused?: (error: ResponseError) => void;
  /** Keeps the stream on a hidden page, because something is running. */
  keep?: boolean;
};

/** A hidden page closes the stream and opens a new one when it becomes visible. */
export function useStream<R extends StreamRoute>(
  route: R,
  request: RequestOf<R>,
  options: StreamOptions<R>,
): void {
  const latest = useRef(options);
  latest.current = options;
  const open = useVisible() || options.keep === true;
  useEffect(() => {
    if (!open) return;
    const control = new AbortController();
    void follow(route, { ...request, signal: control.signal }, latest, control.signal);
    return () => control.abort();
  }, [addressOf(route, request), open]);
}

async function follow<R extends StreamRoute>(
  route: R,
  request: RequestOf<R>,
  latest: { current: StreamOptions<R> },
  signal: AbortSignal,
) {
  while (!signal.aborted) {
    try {
      for await (const event of client.events(route, request))
        if (!signal.aborted) latest.current.onEvent(event);
    } catch (error) {
      const refused = error instanceof ResponseError && error.status >= 400 && error.status < 429;
      if (refused && !signal.aborted) {
        latest.current.onRefused?.(error);
        return;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS));
  }
}

function useVisible(): boolean {
  const [visible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const change = () => setVisible(!document.hidden);
    document.addEventListener("visibilitychange", change);
    return () => document.removeEventListener("visibilitychange", change);
  }, []);
  return visible;
}

/** Streams of the gateway that stay open while the page is visible, and reconnect by themselves. */
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, type ServerEvent, send, serverEvents } from "./api.ts";

const AGAIN_AFTER_MS = 1_500;
/** The gateway sends something every 15 s, so a longer silence is a broken stream. */
const SILENT_MS = 40_000;

export type StreamOptions = {
  onEvent: (event: ServerEvent) => void;
  /** Called when the stream is refused; it is not tried again. */
  onRefused?: (error: ApiError) => void;
  /** Keeps the stream on a hidden page, because something is running. */
  keep?: boolean;
};

/** @param path absent = no stream. A hidden page closes the stream and opens a new one when it becomes visible. */
export function useStream(path: string | undefined, options: StreamOptions): void {
  const latest = useRef(options);
  latest.current = options;
  const open = (useVisible() || options.keep === true) && path !== undefined;
  useEffect(() => {
    if (!open || path === undefined) return;
    const control = new AbortController();
    void follow(path, latest, control.signal);
    return () => control.abort();
  }, [path, open]);
}

async function follow(path: string, latest: { current: StreamOptions }, signal: AbortSignal) {
  while (!signal.aborted) {
    const one = new AbortController();
    const end = () => one.abort();
    signal.addEventListener("abort", end);
    let silent = setTimeout(end, SILENT_MS);
    const heard = () => {
      clearTimeout(silent);
      silent = setTimeout(end, SILENT_MS);
    };
    try {
      const response = await send(path, { signal: one.signal });
      for await (const event of serverEvents(response, heard))
        if (!signal.aborted) latest.current.onEvent(event);
    } catch (error) {
      const refused = error instanceof ApiError && error.status >= 400 && error.status < 429;
      if (refused && !signal.aborted) {
        latest.current.onRefused?.(error);
        return;
      }
    } finally {
      clearTimeout(silent);
      signal.removeEventListener("abort", end);
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

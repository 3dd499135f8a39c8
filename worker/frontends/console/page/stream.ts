/** Streams of the gateway's that last while somebody looks at the page: they come again by themselves. */
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, type ServerEvent, send, serverEvents } from "./api.ts";

const AGAIN_AFTER_MS = 1_500;
/** The gateway says something every 15 s. */
const SILENT_MS = 40_000;

export type StreamOptions = {
  onEvent: (event: ServerEvent) => void;
  /** It is refused, and not tried again. */
  onRefused?: (error: ApiError) => void;
  /** It stays, though nobody looks: something is under way. */
  keep?: boolean;
};

/** @param path absent: none. A hidden page lets go of it, and begins anew when it is looked at. */
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

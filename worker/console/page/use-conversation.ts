/** One conversation, live: asks, listens until the end whatever happens to the connection, and stops. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError, json, send, serverEvents, wordsOf } from "./api.ts";
import type { PastTurn } from "./shapes.ts";
import { applied, isOver, newTurn, pastTurn, type TurnEvent, type TurnView } from "./turns.ts";

const AGAIN_AFTER_MS = 1_500;

export type Conversation = {
  turns: TurnView[];
  problem: string | undefined;
  busy: boolean;
  ask(text: string, images: string[]): void;
  stop(): void;
};

export function useConversation(id: string): Conversation {
  const [turns, setTurns] = useState<TurnView[]>([]);
  const [problem, setProblem] = useState<string>();
  const left = useRef(new AbortController());
  const base = `/v1/conversations/${id}`;
  const last = turns.at(-1);
  const busy = last !== undefined && !isOver(last);

  const change = useCallback((by: (turn: TurnView) => TurnView) => {
    setTurns((all) => all.map((turn, at) => (at === all.length - 1 ? by(turn) : turn)));
  }, []);

  /** Applies a stream's events. @returns the id to go on after, or "done" */
  const listen = useCallback(
    async (response: Response, after: string): Promise<string> => {
      let seen = after;
      for await (const { id: seq, event, data } of serverEvents(response)) {
        seen = seq ?? seen;
        change((turn) => applied(turn, { event, data } as TurnEvent, Date.now()));
        if (event === "done") return "done";
      }
      return seen;
    },
    [change],
  );

  /** To the end of a turn, over as many connections as it takes. */
  const follow = useCallback(
    async (turn: string, first: Response | undefined, signal: AbortSignal) => {
      let after = "0";
      let stream = first;
      while (!signal.aborted) {
        try {
          stream ??= await send(`${base}/turns/${turn}/events`, {
            signal,
            headers: { "last-event-id": after },
          });
          after = await listen(stream, after);
          if (after === "done") return;
          // Text that was on its way comes again from where the gateway is.
          change((view) => ({ ...view, saying: "" }));
        } catch (error) {
          if (signal.aborted) return;
          if (error instanceof ApiError && error.status >= 400) {
            change((view) => ({ ...view, status: "failed", problem: wordsOf(error) }));
            return;
          }
        }
        stream = undefined;
        await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS));
      }
    },
    [base, listen, change],
  );

  useEffect(() => {
    const control = new AbortController();
    left.current = control;
    setTurns([]);
    setProblem(undefined);
    void (async () => {
      try {
        const past = (await json<{ turns: PastTurn[] }>(base, { signal: control.signal })).turns;
        // Somebody quick has asked something by now.
        const known = new Set(past.map(({ turn }) => turn));
        setTurns((asked) => [...past.map(pastTurn), ...asked.filter(({ id }) => !known.has(id))]);
        const running = past.findLast(({ status }) => status === "running");
        if (running) await follow(running.turn, undefined, control.signal);
      } catch (error) {
        const isNew = error instanceof ApiError && error.status === 404;
        if (!isNew && !control.signal.aborted) setProblem(wordsOf(error));
      }
    })();
    return () => control.abort();
  }, [base, follow]);

  async function ask(text: string, images: string[]) {
    const { signal } = left.current;
    setTurns((all) => [...all, newTurn(text)]);
    try {
      const response = await send(`${base}/messages`, {
        method: "POST",
        signal,
        body: { text, ...(images.length > 0 && { images }) },
        headers: { accept: "text/event-stream", "idempotency-key": crypto.randomUUID() },
      });
      const turn = response.headers.get("edgecall-turn") ?? "";
      change((view) => ({ ...view, id: turn, status: "running" }));
      await follow(turn, response, signal);
    } catch (error) {
      if (!signal.aborted) change((view) => ({ ...view, status: "failed", problem: wordsOf(error) }));
    }
  }

  async function stop() {
    if (!last?.id) return;
    try {
      await send(`${base}/turns/${last.id}/cancel`, { method: "POST" });
    } catch (error) {
      change((view) => ({ ...view, problem: wordsOf(error) }));
    }
  }

  return { turns, problem, busy, ask: (...args) => void ask(...args), stop: () => void stop() };
}

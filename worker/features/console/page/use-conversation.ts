/** A live conversation: sends and stops turns, and follows all turns, wherever they were started. */
import { ResponseError } from "@edgecall/client/client.ts";
import { startTurn } from "@edgecall/client/turns.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { client, errorText } from "./api.ts";
import { useStream } from "./stream.ts";
import {
  type EventAt,
  followed,
  followedAll,
  isOver,
  newTurn,
  type Page,
  refreshed,
  type Shown,
  type TurnView,
  withEarlier,
} from "./turns.ts";

export type Conversation = {
  turns: readonly TurnView[];
  /** Loads the page before the shown turns; absent when the conversation begins here. */
  earlier?: () => void;
  /** Whether the gateway has sent the conversation's content. */
  loaded: boolean;
  problem: string | undefined;
  busy: boolean;
  ask(text: string, images: string[]): void;
  stop(): void;
};

/** @param id never changes; another conversation needs another component */
export function useConversation(id: string): Conversation {
  const [{ turns, before }, setShown] = useState<Shown>({ turns: [], before: null });
  const setTurns = (by: (turns: readonly TurnView[]) => TurnView[]) =>
    setShown((shown) => ({ ...shown, turns: by(shown.turns) }));
  const [loaded, setLoaded] = useState(false);
  const [problem, setProblem] = useState<string>();
  const running = turns.findLast((turn) => !isOver(turn));
  const busy = running !== undefined;

  /** The stream's events since the turns were asked for. The turns may be older, so the events are applied to them once more. */
  const since = useRef<EventAt[]>(undefined);

  async function load() {
    const told: EventAt[] = [];
    since.current = told;
    // Another load replaces this one when the stream is opened again meanwhile.
    const isLast = () => since.current === told;
    try {
      const page = await pageOf(id);
      if (!isLast()) return;
      setShown((shown) => followedAll(refreshed(shown, page), told));
      setLoaded(true);
      setProblem(undefined);
    } catch (error) {
      if (isLast()) setProblem(errorText(error));
    }
    if (isLast()) since.current = undefined;
  }

  useStream(
    "GET /v1/conversations/{id}/events",
    { path: { id } },
    {
      // A running turn is followed to its end even on a hidden page, because the title shows when a question waits.
      keep: busy,
      onEvent: (event) => {
        // The stream sends what happens from now on; earlier turns are loaded.
        if (event.event === "open") return void load();
        const at = Date.now();
        since.current?.push({ event, at });
        setTurns((all) => followed(all, event, at));
      },
      onRefused: (error) => setProblem(errorText(error)),
    },
  );

  /** Stop was pressed before the turn had its id. It is sent as soon as the id is known. */
  const stopsSoon = useRef(false);
  useEffect(() => {
    if (stopsSoon.current && running?.id) void stop();
  }, [running?.id]);

  const asking = useRef(false);
  async function earlier() {
    if (asking.current) return;
    asking.current = true;
    try {
      const page = await pageOf(id, before ?? undefined);
      // A reload may have restarted from another position meanwhile.
      setShown((shown) => (shown.before === before ? withEarlier(shown, page) : shown));
      setProblem(undefined);
    } catch (error) {
      setProblem(errorText(error));
    } finally {
      asking.current = false;
    }
  }

  async function ask(text: string, images: string[]) {
    const key = crypto.randomUUID();
    stopsSoon.current = false;
    const isAsked = (one: TurnView) => one.key === key;
    setTurns((all) => [...all, newTurn(text, images, key)]);
    try {
      // The conversation's stream delivers everything else.
      const turn = await startTurn(client, id, { text, ...(images.length > 0 && { images }) });
      setTurns((all) =>
        all.some((one) => one.id === turn)
          ? all.filter((one) => one.id === turn || !isAsked(one))
          : all.map((one) => (isAsked(one) ? { ...one, id: turn, status: "running" } : one)),
      );
    } catch (error) {
      const failed = { status: "failed", problem: errorText(error) } as const;
      // The stream may have brought the turn, and only the answer to this request was lost.
      setTurns((all) => all.map((one) => (isAsked(one) && one.id === "" ? { ...one, ...failed } : one)));
    }
  }

  async function stop() {
    if (!running) return;
    stopsSoon.current = running.id === "";
    if (stopsSoon.current) return;
    try {
      const path = { id, turn: running.id };
      await client.json("POST /v1/conversations/{id}/turns/{turn}/cancel", { path });
    } catch (error) {
      setTurns((all) =>
        all.map((one) => (one.id === running.id ? { ...one, problem: errorText(error) } : one)),
      );
    }
  }

  return {
    turns,
    ...(before !== null && { earlier: () => void earlier() }),
    loaded,
    problem,
    busy,
    ask: (...args) => void ask(...args),
    stop: () => void stop(),
  };
}

async function pageOf(id: string, before?: number): Promise<Page> {
  try {
    return await client.json("GET /v1/conversations/{id}", { path: { id }, query: { before } });
  } catch (error) {
    if (error instanceof ResponseError && error.status === 404) return { turns: [], before: null };
    throw error;
  }
}

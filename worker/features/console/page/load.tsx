/** Loads a screen's data from one route when the screen opens, and again on demand. */
import {
  type AnswerOf,
  type Arguments,
  addressOf,
  ResponseError,
  type Route,
} from "@edgecall/client/client.ts";
import type { ComponentChildren } from "preact";
import { useCallback, useContext, useEffect, useRef, useState } from "preact/hooks";
import { client, errorText } from "./api.ts";
import { ScreenTools } from "./screen-tools.ts";
import { say } from "./texts/say.ts";

type Reading = Extract<Route, `GET ${string}`>;

export type Loaded<T> = {
  /** Until another address's answer is there, the one before. */
  value: T | undefined;
  /** True while `value` is an earlier address's. */
  stale: boolean;
  problem: string | undefined;
  /** Resolves once an answer is shown, or why there is none; never when the part is gone before. */
  reload: () => Promise<void>;
};

export function useLoaded<R extends Reading>(route: R, ...[request]: Arguments<R>): Loaded<AnswerOf<R>> {
  const address = addressOf(route, request);
  const [{ value, of }, setValue] = useState<{ value?: AnswerOf<R>; of?: string }>({});
  const [problem, setProblem] = useState<string>();
  const [time, setTime] = useState(0);
  const waiting = useRef<Array<() => void>>([]);
  useEffect(() => {
    const own = waiting.current.splice(0);
    const ended = () => {
      for (const resolve of own.splice(0)) resolve();
    };
    const control = new AbortController();
    const { signal } = control;
    client.json(route, ...([{ ...request, signal }] as unknown as Arguments<R>)).then(
      (loaded) => {
        // The answer for an earlier address may arrive after a later one.
        if (signal.aborted) return;
        setValue({ value: loaded, of: address });
        setProblem(undefined);
        ended();
      },
      (error: unknown) => {
        if (signal.aborted) return;
        setProblem(saidOf(error));
        ended();
      },
    );
    return () => {
      control.abort();
      // The load in place of this one ends them.
      waiting.current.unshift(...own);
    };
  }, [address, time]);
  const reload = useCallback(() => {
    setTime((before) => before + 1);
    return new Promise<void>((resolve) => waiting.current.push(resolve));
  }, []);
  return { value, stale: of !== address, problem, reload };
}

function saidOf(error: unknown): string {
  if (error instanceof ResponseError && error.status === 401)
    return "You are signed out. Load the page again.";
  return errorText(error);
}

/** A placeholder until the gateway has answered. */
export function Skeleton({ lines }: { lines: number }) {
  return (
    <div class="skeleton" role="status" aria-label={say("loading")}>
      {Array.from({ length: lines }, () => (
        <span />
      ))}
    </div>
  );
}

export function Problem({ text }: { text: string | undefined }) {
  return text ? (
    <p role="alert" class="problem">
      {text}
    </p>
  ) : null;
}

export function Screen({
  title,
  tools,
  children,
}: {
  title: string;
  tools?: ComponentChildren;
  children: ComponentChildren;
}) {
  const always = useContext(ScreenTools);
  return (
    <div class="screen">
      <header class="screen-head">
        <h1>{title}</h1>
        <div class="row">{tools}</div>
        <div class="top-tools">{always}</div>
      </header>
      {children}
    </div>
  );
}

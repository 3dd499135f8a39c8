/** Runs what a tile or a switch asks for. One at a time for each thing. */
import { useState } from "preact/hooks";
import { outcomeOf } from "./outcome.ts";
import { say } from "./texts/say.ts";
import type { Thing } from "./things.ts";
import { type Command, useCommand } from "./use-command.ts";

export type Pressing = {
  /** The id of the thing that was told something, until its outcome is known. */
  busy: string | undefined;
  /** The call while it runs: a question of it may be open. */
  call: string | undefined;
  /** Why the last one did not do what it should, in words, and its thing. */
  failed: { name: string; text: string } | undefined;
  press: (thing: Thing) => void;
  /** The person has read it. */
  dismiss: () => void;
};

/** @param look shows the state that came of it */
export function usePress(look: () => Promise<unknown>): Pressing {
  const [thing, setThing] = useState<Thing>();
  const { command, run } = useCommand(undefined, look);
  const press = (next: Thing) => {
    const { press: what, device } = next;
    if (!what || command.running) return;
    setThing(next);
    const timeoutMs = device?.actions.find(({ name }) => name === what.action)?.timeout_ms;
    void run(what.action, what.parameters, timeoutMs, next.id);
  };
  const text = failureOf(command);
  return {
    busy: command.running ? thing?.id : undefined,
    call: command.running ? command.call : undefined,
    failed: thing && text !== undefined ? { name: thing.name, text } : undefined,
    press,
    dismiss: () => setThing(undefined),
  };
}

function failureOf({ reply, problem }: Command): string | undefined {
  if (problem !== undefined) return problem;
  const outcome = reply && outcomeOf(reply);
  if (!outcome || outcome.style === "success") return undefined;
  return outcome.style === "partial" ? say("notConfirmed") : outcome.text;
}

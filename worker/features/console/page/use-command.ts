/** Runs a command on an agent to its end, even when it takes longer than a request or becomes a job. */
import type { CommandReport, Running } from "@edgecall/client/routes.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { client, errorText } from "./api.ts";

/** Not often, since a job may take hours and each request wakes the home. */
const LOOK_AT_JOB_EVERY_MS = 5_000;

export type Command = {
  running: boolean;
  /** The call's id while it runs; questions for it name this id. */
  call?: string;
  /** The text of an accepted job whose result is not there yet. */
  begun?: string;
  reply?: CommandReport;
  problem?: string;
};

/**
 * Leaving the screen stops the wait.
 * @param agent whose commands these are; another one is given to `run` where one form serves several
 * @param look shows what is so now. The command runs until then: an earlier state would be read as what came of it
 * @returns the state to show, and functions to run a command or report a problem
 */
export function useCommand(
  agent?: string,
  look?: () => Promise<unknown>,
): {
  command: Command;
  run: (tool: string, parameters: Record<string, unknown>, timeoutMs?: number, of?: string) => Promise<void>;
  fail: (problem: string) => void;
} {
  const [command, setCommand] = useState<Command>({ running: false });
  const control = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => control.current?.abort(), [agent]);

  async function run(
    tool: string,
    parameters: Record<string, unknown>,
    timeoutMs?: number,
    of = agent ?? "",
  ) {
    control.current?.abort();
    const mine = new AbortController();
    control.current = mine;
    const { signal } = mine;
    const ended = async (
      begun: CommandReport | Pick<Running, "request_id" | "status">,
      pause = 0,
    ): Promise<CommandReport> => {
      let answer = begun;
      while ("status" in answer) {
        if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
        answer = await client.json("GET /v1/agents/{agent}/commands/{request}", {
          path: { agent: of, request: answer.request_id },
          // For a call the request waits; a job is polled.
          query: { wait: pause > 0 ? 0 : 25 },
          signal,
        });
      }
      return answer;
    };
    let outcome: Omit<Command, "running">;
    setCommand({ running: true });
    try {
      const payload = { tool, parameters, ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }) };
      const body = { command: "tool", payload };
      const first = await client.json("POST /v1/agents/{agent}/commands", {
        path: { agent: of },
        query: { wait: 0 },
        body,
        signal,
      });
      setCommand({ running: true, call: first.request_id });
      let reply = await ended(first);
      const { status, job, result } = reply.payload;
      if (status === "accepted" && typeof job === "string") {
        setCommand({ running: true, begun: String(result ?? "") });
        reply = await ended({ request_id: job, status: "running" }, LOOK_AT_JOB_EVERY_MS);
      }
      outcome = { reply };
    } catch (error) {
      if (signal.aborted) return;
      outcome = { problem: errorText(error) };
    }
    await look?.();
    if (!signal.aborted) setCommand({ running: false, ...outcome });
  }
  return { command, run, fail: (problem) => setCommand({ running: false, problem }) };
}

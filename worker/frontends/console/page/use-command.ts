/** One command to an agent, to its end: through what takes longer than a request, and a job's result after it. */
import { useEffect, useRef, useState } from "preact/hooks";
import { json, wordsOf } from "./api.ts";
import type { Reply } from "./shapes.ts";

/** A job may take hours, and each look wakes the home. */
const LOOK_AT_JOB_EVERY_MS = 5_000;

export type Command = {
  running: boolean;
  /** Its id while it runs: what is asked for it names this. */
  call?: string;
  /** A job was accepted, in these words; its result is to come. */
  begun?: string;
  reply?: Reply;
  problem?: string;
};

/** A screen that is left waits for nothing. @returns what there is to show, and what sets it off */
export function useCommand(agent: string): {
  command: Command;
  run: (tool: string, parameters: Record<string, unknown>, timeoutMs?: number) => Promise<void>;
  fail: (problem: string) => void;
} {
  const [command, setCommand] = useState<Command>({ running: false });
  const control = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => control.current?.abort(), [agent]);

  async function run(tool: string, parameters: Record<string, unknown>, timeoutMs?: number) {
    control.current?.abort();
    const mine = new AbortController();
    control.current = mine;
    const { signal } = mine;
    const path = `/v1/agents/${agent}/commands`;
    const ended = async (begun: Reply, pause = 0): Promise<Reply> => {
      let answer = begun;
      while (answer.status === "running") {
        if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
        // A request that waits for it; a job is looked at.
        answer = await json<Reply>(`${path}/${answer.request_id}?wait=${pause > 0 ? 0 : 25}`, { signal });
      }
      return answer;
    };
    setCommand({ running: true });
    try {
      const payload = { tool, parameters, ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }) };
      const body = { command: "tool", payload };
      const first = await json<Reply>(`${path}?wait=0`, { method: "POST", body, signal });
      setCommand({ running: true, call: first.request_id });
      let reply = await ended(first);
      const { status, job, result } = reply.payload ?? {};
      if (status === "accepted" && typeof job === "string") {
        setCommand({ running: true, begun: String(result ?? "") });
        reply = await ended({ request_id: job, status: "running" }, LOOK_AT_JOB_EVERY_MS);
      }
      setCommand({ running: false, reply });
    } catch (error) {
      if (!signal.aborted) setCommand({ running: false, problem: wordsOf(error) });
    }
  }
  return { command, run, fail: (problem) => setCommand({ running: false, problem }) };
}

/** One command to an agent, to its end: through what takes longer than a request, and a job's result after it. */
import { useEffect, useRef, useState } from "preact/hooks";
import { json, wordsOf } from "./api.ts";
import type { Question, Reply } from "./shapes.ts";

const LOOK_EVERY_MS = 1_500;
/** A job may take hours, and each look wakes the home. */
const LOOK_AT_JOB_EVERY_MS = 5_000;

export type Command = {
  running: boolean;
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
    const ended = async (reply: Reply, every: number): Promise<Reply> => {
      let answer = reply;
      while (answer.status === "running") {
        await new Promise((resolve) => setTimeout(resolve, every));
        answer = await json<Reply>(`${path}/${answer.request_id}`, { signal });
      }
      return answer;
    };
    setCommand({ running: true });
    try {
      const payload = { tool, parameters, ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }) };
      const first = await json<Reply>(path, { method: "POST", body: { command: "tool", payload }, signal });
      let reply = await ended(first, LOOK_EVERY_MS);
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

/** What this agent asks while something runs here. @param tool only what it asks of that one */
export function useQuestions(agent: string, running: boolean, tool?: string): Question[] {
  const [questions, setQuestions] = useState<Question[]>([]);
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(async () => {
      const open = await json<{ questions: Question[] }>("/v1/questions").catch(() => undefined);
      const asked = open?.questions.filter((one) => one.agent === agent);
      if (asked) setQuestions(tool ? asked.filter(({ approval }) => approval?.tool === tool) : asked);
    }, LOOK_EVERY_MS);
    return () => {
      clearInterval(timer);
      setQuestions([]);
    };
  }, [agent, running, tool]);
  return questions;
}

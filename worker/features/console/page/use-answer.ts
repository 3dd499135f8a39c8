/** A person's answer to a question, from a row, a card or a sheet. */
import type { TurnQuestion } from "@edgecall/client/routes.ts";
import { useState } from "preact/hooks";
import { client, errorText } from "./api.ts";
import type { Keep } from "./next-time.tsx";
import { sentenceOf } from "./open-questions.tsx";
import { announcePermissions } from "./permission-toast.tsx";

export type Answering = {
  /** It is on its way, or there. */
  sent: boolean;
  /** Why it did not count. */
  problem: string | undefined;
  reply: (answer: string, keep?: Keep) => void;
};

/** @param onDone the gateway has taken it */
export function useAnswer({ id, text }: Pick<TurnQuestion, "id" | "text">, onDone?: () => void): Answering {
  const [problem, setProblem] = useState<string>();
  const [sent, setSent] = useState(false);
  async function reply(answer: string, keep?: Keep) {
    setSent(true);
    setProblem(undefined);
    try {
      await client.json("POST /v1/questions/{id}", { path: { id }, body: { answer, ...(keep && { keep }) } });
      if (keep) announcePermissions({ sentence: sentenceOf({ text }), questions: keep.questions ?? [id] });
      onDone?.();
    } catch (error) {
      setProblem(errorText(error));
      setSent(false);
    }
  }
  return { sent, problem, reply: (answer, keep) => void reply(answer, keep) };
}

/** The open questions for the person, from all conversations and commands, as the gateway tells them: a count on every screen. */
import type { OpenQuestion, QuestionList, TurnQuestion } from "@edgecall/client/routes.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { createContext } from "preact";
import { useContext, useState } from "preact/hooks";
import { Icon } from "./parts/icon.tsx";
import { useStream } from "./stream.ts";
import { say } from "./texts/say.ts";

/** Undefined until the gateway has answered. It sends the oldest of very many. */
export const OpenQuestions = createContext<QuestionList | undefined>(undefined);

export function useOpenQuestions(): QuestionList | undefined {
  const [open, setOpen] = useState<QuestionList>();
  useStream("GET /v1/questions/events", {}, { onEvent: ({ data }) => setOpen(data) });
  return open;
}

/** Returns the open questions of a running call. */
export function useQuestionsOf(call: string | undefined): readonly OpenQuestion[] {
  const all = useContext(OpenQuestions)?.questions ?? [];
  return call === undefined ? [] : all.filter((question) => question.call === call);
}

/** The question itself: one sentence. A gateway before 0.4 wrote the arguments of an approval below it. */
export function sentenceOf({ text }: Pick<TurnQuestion, "text">): string {
  return visible(text.split("\n", 1)[0] ?? "");
}

export function WaitsLink() {
  const count = useContext(OpenQuestions)?.total ?? 0;
  return (
    <span class="waits" role="status">
      {count > 0 && (
        <a class="waits-link" href="#/waiting">
          <Icon name="clock" />
          <span>
            <span class="words">{say("waiting")}</span> ({count.toLocaleString()})
          </span>
        </a>
      )}
    </span>
  );
}

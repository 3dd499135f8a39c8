/** The open questions for the person, from all conversations and commands: a count on every screen, and a list. */
import type { OpenQuestion, QuestionList, SessionView } from "@edgecall/client/routes.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { Screen, Skeleton } from "./load.tsx";
import { Pager, useSlice } from "./pager.tsx";
import { QuestionCard } from "./question-card.tsx";
import { useStream } from "./stream.ts";

/** Questions on a page. */
const SHOWN = 20;

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

/** Shows them. */
export function Questions({ of, session }: { of: readonly OpenQuestion[]; session: SessionView }) {
  const mayApprove = session.scopes?.includes("approve") ?? false;
  return of.map((question) => <QuestionCard key={question.id} question={question} mayApprove={mayApprove} />);
}

export function WaitsLink() {
  const count = useContext(OpenQuestions)?.total ?? 0;
  return (
    <span class="waits" role="status">
      {count > 0 && (
        <a class="waits-link" href="#/waiting">
          Waiting for you ({count})
        </a>
      )}
    </span>
  );
}

/** @param item the question of the address, which an MCP client showed: it comes first */
export function Waiting({ session, item }: { session: SessionView; item?: string | undefined }) {
  const open = useContext(OpenQuestions);
  const questions = open && firstOf(open.questions, item);
  const isGone = item !== undefined && questions !== undefined && questions[0]?.id !== item;
  const more = open ? open.total - open.questions.length : 0;
  const head = useRef<HTMLDivElement>(null);
  const answered = useRef(false);
  const { slice, paging } = useSlice(questions ?? [], SHOWN);
  const count = questions?.length;
  useEffect(() => {
    // The card has disappeared with its buttons, so the focus moves to this screen.
    if (answered.current) head.current?.focus();
    answered.current = false;
  }, [count]);
  return (
    <Screen title="Waiting for you">
      <div ref={head} tabIndex={-1} class="list">
        {questions === undefined && <Skeleton lines={3} />}
        {isGone && <p class="notice">This question is answered, withdrawn, or not for you.</p>}
        {count === 0 && (
          <p class="empty">
            Nothing is waiting for you. Approvals and questions of your devices appear here.
          </p>
        )}
        <Pager paging={paging} what="questions" />
        {slice.map((question) => (
          <QuestionCard
            key={question.id}
            question={question}
            mayApprove={session.scopes?.includes("approve") ?? false}
            onAnswered={() => {
              answered.current = true;
            }}
            place={<Place question={question} />}
          />
        ))}
        {more > 0 && <p class="quiet">{more.toLocaleString()} more appear here as these are answered.</p>}
      </div>
    </Screen>
  );
}

function firstOf(questions: readonly OpenQuestion[], item: string | undefined): readonly OpenQuestion[] {
  return [...questions.filter(({ id }) => id === item), ...questions.filter(({ id }) => id !== item)];
}

/** Shows where the question comes from: a conversation of the console, one of a chat app, or a command. */
function Place({ question: { channel, conversation, title } }: { question: OpenQuestion }) {
  if (channel === "api")
    return (
      <p class="place">
        In <a href={`#/chat/${conversation}`}>{visible(title ?? conversation)}</a>
      </p>
    );
  const words =
    channel === "command" ? "For a command (Fleet, or the API)" : `Over ${channel}: ${visible(conversation)}`;
  return <p class="place">{words}</p>;
}

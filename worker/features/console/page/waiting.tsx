/** The list of the open questions, and those of one call. */
import type { OpenQuestion, SessionView } from "@edgecall/client/routes.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { useContext, useEffect, useRef } from "preact/hooks";
import { Screen, Skeleton } from "./load.tsx";
import { OpenQuestions } from "./open-questions.tsx";
import { Pager, useSlice } from "./pager.tsx";
import { QuestionCard } from "./question-card.tsx";

/** Questions on a page. */
const SHOWN = 20;

/** Shows them. */
export function Questions({ of, session }: { of: readonly OpenQuestion[]; session: SessionView }) {
  const mayApprove = session.scopes?.includes("approve") ?? false;
  return of.map((question) => <QuestionCard key={question.id} question={question} mayApprove={mayApprove} />);
}

/** @param item the question of the address, which an MCP client showed: it comes first */
export function Waiting({ session, item }: { session: SessionView; item?: string | undefined }) {
  const open = useContext(OpenQuestions);
  const questions = open && firstOf(open.questions, item);
  const isGone = item !== undefined && questions !== undefined && questions[0]?.id !== item;
  const more = open ? open.total - open.questions.length : 0;
  const head = useRef<HTMLDivElement>(null);
  const listed = useRef(0);
  const { slice, paging } = useSlice(questions ?? [], SHOWN);
  const count = questions?.length ?? 0;
  useEffect(() => {
    // A card has disappeared with the button that had the focus, so it moves to this screen.
    if (count < listed.current && document.activeElement === document.body) head.current?.focus();
    listed.current = count;
  }, [count]);
  return (
    <Screen title="Waiting for you">
      <div ref={head} tabIndex={-1} class="list">
        {questions === undefined && <Skeleton lines={3} />}
        {isGone && <p class="notice">This question is answered, withdrawn, or not for you.</p>}
        {questions?.length === 0 && (
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
    channel === "command"
      ? "For a command (Devices, or the API)"
      : `Over ${channel}: ${visible(conversation)}`;
  return <p class="place">{words}</p>;
}

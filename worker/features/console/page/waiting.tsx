/** The list of the open questions, and those of one call. */
import type { OpenQuestion, SessionView } from "@edgecall/client/routes.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { useContext } from "preact/hooks";
import { addressOfPlace } from "./address.ts";
import { Screen, Skeleton } from "./load.tsx";
import { OpenQuestions } from "./open-questions.tsx";
import { Pager, useSlice } from "./pager.tsx";
import { Fine } from "./parts/parts.tsx";
import { QuestionCard } from "./question-card.tsx";
import { say } from "./texts/say.ts";
import { WaitRow } from "./wait-row.tsx";

/** Questions on a page. */
const SHOWN = 20;

/** Shows them where they were caused. */
export function Questions({ of, session }: { of: readonly OpenQuestion[]; session: SessionView }) {
  const mayApprove = session.scopes?.includes("approve") ?? false;
  return of.map((question) => <QuestionCard key={question.id} question={question} mayApprove={mayApprove} />);
}

export function Waiting({ session }: { session: SessionView }) {
  const open = useContext(OpenQuestions);
  const questions = open?.questions;
  const more = open ? open.total - open.questions.length : 0;
  const { slice, paging } = useSlice(questions ?? [], SHOWN);
  return (
    <Screen title={say("waiting")}>
      <div class="list">
        {questions === undefined && <Skeleton lines={3} />}
        {questions?.length === 0 && <Fine text={say("nothingWaits")} />}
        <Pager paging={paging} what="questions" />
        {slice.length > 0 && (
          <ul class="card rows waits-card">
            {slice.map((question) => (
              <WaitRow
                key={question.id}
                question={question}
                session={session}
                second={<From question={question} session={session} />}
              />
            ))}
          </ul>
        )}
        {more > 0 && <p class="quiet">{say("moreAsAnswered", { count: more })}</p>}
      </div>
    </Screen>
  );
}

/** The asker and the place: a conversation of the console, one of a chat app, or a command. */
function From({ question, session }: { question: OpenQuestion; session: SessionView }) {
  const { approval, channel, conversation, title } = question;
  const asker = approval?.card && `${visible(approval.card.asker)} · `;
  if (channel === "api")
    return (
      <>
        {asker}
        <a href={addressOfPlace("chat", conversation)}>{visible(title ?? conversation)}</a>
      </>
    );
  const place =
    channel === "command"
      ? say("byCommand", { name: session.name ?? "" })
      : say("overChat", { channel: `${channel}: ${visible(conversation)}` });
  return (
    <>
      {asker}
      {place}
    </>
  );
}

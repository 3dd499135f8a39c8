/**
 * One question as a sheet over the screen on which it was opened: a native dialog, so the browser keeps focus and keys in it. Its name
 * is the card's sentence. Nothing in it is replaced while it is open; closed, the question goes on waiting.
 */
import type { SessionView } from "@edgecall/client/routes.ts";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { addressOfPlace } from "./address.ts";
import { Skeleton } from "./load.tsx";
import { OpenQuestions, sentenceOf } from "./open-questions.tsx";
import { Round } from "./parts/parts.tsx";
import { QuestionCard } from "./question-card.tsx";
import { say, spanText } from "./texts/say.ts";

const LOOK_EVERY_MS = 15_000;

type Props = { id: string; session: SessionView; onClose: () => void };

export function QuestionSheet({ id, session, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = useContext(OpenQuestions);
  const at = open?.questions.findIndex((one) => one.id === id) ?? -1;
  const question = open?.questions[at];
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    const { current } = dialog;
    if (!current) return;
    const onEnd = () => close.current();
    current.showModal();
    current.addEventListener("close", onEnd);
    return () => {
      current.removeEventListener("close", onEnd);
      // The focus goes back to what opened it, or to the screen where that is gone.
      current.close();
      if (document.activeElement === document.body) document.getElementById("main")?.focus();
    };
  }, []);
  const isThere = question !== undefined;
  useEffect(() => {
    // A screen reader begins with the sentence, and no button is under the finger.
    if (isThere) dialog.current?.querySelector<HTMLElement>(".sheet-body")?.focus();
  }, [isThere]);
  const total = open?.total ?? 0;
  return (
    <dialog ref={dialog} class="sheet" aria-label={question ? sentenceOf(question) : say("waiting")}>
      <header>
        <span class="grow">
          {isThere && total > 1 ? say("waitingOf", { at: at + 1, count: total }) : say("waiting")}
        </span>
        {question && <Left until={question.expires_at} />}
        <Round icon="close" label={say("closeStays")} onClick={() => dialog.current?.close()} />
      </header>
      <div class="sheet-body" tabIndex={-1}>
        {open === undefined && <Skeleton lines={4} />}
        {open && !question && (
          <p class="notice" role="status">
            {say("questionGone")}
          </p>
        )}
        {question && (
          <QuestionCard
            key={question.id}
            question={question}
            mayApprove={session.scopes?.includes("approve") ?? false}
            onAnswered={() => dialog.current?.close()}
            inSheet
            place={
              question.channel === "api" && (
                <p class="place">
                  <a href={addressOfPlace("chat", question.conversation)}>{say("showConversation")}</a>
                </p>
              )
            }
          />
        )}
      </div>
    </dialog>
  );
}

function Left({ until }: { until: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return until > now ? <span class="num">{say("timeLeft", { time: spanText(until - now) })}</span> : null;
}

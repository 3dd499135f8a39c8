/** Asks a person during a call: for an approval, a choice or a text. */
import type { TurnQuestion } from "@edgecall/client/routes.ts";
import { hiddenNotice, visible } from "@edgecall/core/tools/visible.ts";
import type { ComponentChildren } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { addressOfPlace } from "./address.ts";
import { ApprovalCard } from "./approval-card.tsx";
import { Form } from "./controls.tsx";
import { Problem } from "./load.tsx";
import { Me } from "./me.ts";
import { sentenceOf } from "./open-questions.tsx";
import { outcomeText } from "./person-text.ts";
import { say } from "./texts/say.ts";
import { useAnswer } from "./use-answer.ts";

type Props = {
  question: TurnQuestion;
  mayApprove: boolean;
  /** Where it comes from, in a sheet. */
  place?: ComponentChildren;
  /** Its sheet has its name already. */
  inSheet?: boolean;
  onAnswered?: () => void;
};

export function QuestionCard({ question, mayApprove, place, inSheet = false, onAnswered }: Props) {
  const [text, setText] = useState("");
  const me = useContext(Me);
  const { id, approval, options, answer, answered_by: by, answered_by_name: name } = question;
  const { sent, problem, reply } = useAnswer(question, onAnswered);
  const agent = visible(question.agent);
  const words = useRef<HTMLParagraphElement>(null);
  const answered = answer !== undefined;
  // The buttons disappear, so the keyboard focus must stay at this place of the page.
  useEffect(() => {
    if (answered && sent) words.current?.focus();
  }, [answered, sent]);

  if (answered)
    return (
      <p class="answered" ref={words} tabIndex={-1}>
        {approval ? sentenceOf(question) : visible(question.text)}{" "}
        <strong>{approval ? outcomeText({ answer, by, name, me }) : visible(answer)}</strong>
        {!approval && by !== undefined && ` (${by === me ? say("you") : visible(name ?? by)})`}
      </p>
    );
  if (approval)
    return (
      <ApprovalCard
        question={question}
        approval={approval}
        mayApprove={mayApprove}
        isSent={sent}
        onAnswer={reply}
        inSheet={inSheet}
        place={
          place ?? (
            <p class="place">
              <a href={addressOfPlace("waiting", id)}>{say("openSheet")}</a>
            </p>
          )
        }
        problem={<Problem text={problem} />}
      />
    );
  const hidden = hiddenNotice([question.text, options]);
  return (
    <div class="question" {...(!inSheet && { role: "group", "aria-label": say("asksYou", { name: agent }) })}>
      {place}
      <p class="what">
        {say("asksYou", { name: agent })}
        {question.via && ` (${say("askedVia", { names: visible(question.via.join(" → ")) })})`}
      </p>
      <p>{visible(question.text)}</p>
      {hidden && <p class="notice">{hidden}</p>}
      {options.length > 0 ? (
        <div class="row">
          {options.map((option) => (
            <button type="button" disabled={sent} onClick={() => reply(option)}>
              {visible(option)}
            </button>
          ))}
        </div>
      ) : (
        <Form
          class="row"
          onSend={() => {
            if (text.trim() !== "") reply(text.trim());
          }}
        >
          <input
            aria-label={say("yourAnswer")}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            maxLength={4000}
          />
          <button type="submit" disabled={sent}>
            {say("answer")}
          </button>
        </Form>
      )}
      <Problem text={problem} />
    </div>
  );
}

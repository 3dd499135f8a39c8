/** Asks a person during a call: for an approval, a choice or a text. */
import type { TurnQuestion } from "@edgecall/client/routes.ts";
import { hiddenNotice, visible } from "@edgecall/core/tools/visible.ts";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { client, errorText } from "./api.ts";
import { ApprovalCard, sentenceOf } from "./approval-card.tsx";
import { Form } from "./controls.tsx";
import { Problem } from "./load.tsx";
import type { Keep } from "./next-time.tsx";

type Props = {
  question: TurnQuestion;
  mayApprove: boolean;
  /** The conversation that asks, when it is not the one on screen. */
  place?: ComponentChildren;
};

export function QuestionCard({ question, mayApprove, place }: Props) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string>();
  const [sent, setSent] = useState(false);
  const { id, approval, options, answer } = question;
  const agent = visible(question.agent);
  const words = useRef<HTMLParagraphElement>(null);
  const answered = answer !== undefined;
  // The buttons disappear, so the keyboard focus must stay at this place of the page.
  useEffect(() => {
    if (answered && sent) words.current?.focus();
  }, [answered, sent]);

  async function reply(answer: string, keep?: Keep) {
    setSent(true);
    setProblem(undefined);
    try {
      await client.json("POST /v1/questions/{id}", { path: { id }, body: { answer, ...(keep && { keep }) } });
    } catch (error) {
      setProblem(errorText(error));
      setSent(false);
    }
  }

  if (answered)
    return (
      <p class="answered" ref={words} tabIndex={-1}>
        {approval ? sentenceOf(question) : visible(question.text)} <strong>{visible(answer)}</strong>
        {question.answered_by && ` (${question.answered_by_name ?? question.answered_by})`}
      </p>
    );
  if (approval)
    return (
      <ApprovalCard
        question={question}
        approval={approval}
        mayApprove={mayApprove}
        isSent={sent}
        onAnswer={(one, keep) => void reply(one, keep)}
        place={place}
        problem={<Problem text={problem} />}
      />
    );
  const hidden = hiddenNotice([question.text, options]);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a landmark for each question would be too many
    <div class="question" role="group" aria-label={`${agent} asks`}>
      {place}
      <p class="what">
        <strong>{agent}</strong>
        {question.via && ` (asked by ${visible(question.via.join(" → "))})`} asks
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
            if (text.trim() !== "") void reply(text.trim());
          }}
        >
          <input
            aria-label="Your answer"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            maxLength={4000}
          />
          <button type="submit" disabled={sent}>
            Answer
          </button>
        </Form>
      )}
      <Problem text={problem} />
    </div>
  );
}

/** What a person is asked in the middle of a call: an approval, a choice, or words. */
import { useEffect, useRef, useState } from "preact/hooks";
import { json, wordsOf } from "./api.ts";
import { Pre } from "./markdown-view.tsx";
import type { Question } from "./shapes.ts";

type Props = { question: Question; mayApprove: boolean; onAnswered?: () => void };

export function QuestionCard({ question, mayApprove, onAnswered }: Props) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string>();
  const [sent, setSent] = useState(false);
  const { id, agent, approval, options, answer } = question;
  const words = useRef<HTMLParagraphElement>(null);
  const answered = answer !== undefined;
  // The buttons go: whoever pressed one by keyboard stays at this place of the page.
  useEffect(() => {
    if (answered && sent) words.current?.focus();
  }, [answered, sent]);

  async function reply(words: string) {
    setSent(true);
    setProblem(undefined);
    try {
      await json(`/v1/questions/${id}`, { method: "POST", body: { answer: words } });
      onAnswered?.();
    } catch (error) {
      setProblem(wordsOf(error));
      setSent(false);
    }
  }

  if (answered)
    return (
      <p class="answered" ref={words} tabIndex={-1}>
        {question.text} <strong>{answer}</strong>
        {question.answered_by && ` (${question.answered_by})`}
      </p>
    );
  return (
    // biome-ignore lint/a11y/useSemanticElements: a landmark for each question would be one too many
    <div class="question" role="group" aria-label={approval ? `${agent} asks for approval` : `${agent} asks`}>
      <p class="what">
        <strong>{agent}</strong> {approval ? `asks before it runs ${approval.tool}` : "asks"}
      </p>
      {approval ? (
        <>
          <Pre text={JSON.stringify(approval.parameters, null, 2)} label="what would be run" />
          <p class="quiet">
            {approval.cwd && `In ${approval.cwd}. `}
            {approval.reason}
          </p>
        </>
      ) : (
        <p>{question.text}</p>
      )}
      {approval && !mayApprove && (
        <p class="quiet">Your token may not approve; somebody with the scope 'approve' has to.</p>
      )}
      {approval ? (
        <div class="row">
          <button type="button" class="good" disabled={sent || !mayApprove} onClick={() => reply("approve")}>
            Approve
          </button>
          <button type="button" class="bad" disabled={sent || !mayApprove} onClick={() => reply("deny")}>
            Deny
          </button>
        </div>
      ) : options.length > 0 ? (
        <div class="row">
          {options.map((option) => (
            <button type="button" disabled={sent} onClick={() => reply(option)}>
              {option}
            </button>
          ))}
        </div>
      ) : (
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault();
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
        </form>
      )}
      {problem && (
        <p role="alert" class="problem">
          {problem}
        </p>
      )}
    </div>
  );
}

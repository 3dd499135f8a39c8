/** Asks a person during a call: for an approval, a choice or a text. */
import type { TurnQuestion } from "@edgecall/client/routes.ts";
import { approvalText } from "@edgecall/core/tools/approval-text.ts";
import { headAndTail, hiddenNotice, visible } from "@edgecall/core/tools/visible.ts";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { client, errorText } from "./api.ts";
import { Form, Small } from "./controls.tsx";
import { Problem } from "./load.tsx";
import { Pre } from "./markdown-view.tsx";

type Props = {
  question: TurnQuestion;
  mayApprove: boolean;
  onAnswered?: () => void;
  /** The conversation that asks, when it is not the one on screen. */
  place?: ComponentChildren;
};

/** A longer text first shows only its head and tail. Of several calls each is a line, and all lines fit. */
const SHOWN = { chars: 2_000, lines: 30 };
const SHOWN_OF_SEVERAL = { chars: 8_000, lines: 64 };

export function QuestionCard({ question, mayApprove, onAnswered, place }: Props) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string>();
  const [sent, setSent] = useState(false);
  const [whole, setWhole] = useState(false);
  const { id, approval, members, options, answer } = question;
  const agent = visible(question.agent);
  const words = useRef<HTMLParagraphElement>(null);
  const answered = answer !== undefined;
  // The buttons disappear, so the keyboard focus must stay at this place of the page.
  useEffect(() => {
    if (answered && sent) words.current?.focus();
  }, [answered, sent]);

  async function reply(answer: string) {
    setSent(true);
    setProblem(undefined);
    try {
      await client.json("POST /v1/questions/{id}", { path: { id }, body: { answer } });
      onAnswered?.();
    } catch (error) {
      setProblem(errorText(error));
      setSent(false);
    }
  }

  if (answered)
    return (
      <p class="answered" ref={words} tabIndex={-1}>
        {visible(members ? (question.text.split("\n", 1)[0] ?? "") : question.text)}{" "}
        <strong>{visible(answer)}</strong>
        {question.answered_by && ` (${question.answered_by_name ?? question.answered_by})`}
      </p>
    );
  const shown = approval && approvalText({ approval, members }, 2);
  const max = members ? SHOWN_OF_SEVERAL : SHOWN;
  const isCut = shown !== undefined && headAndTail(shown, max) !== undefined;
  const hidden = hiddenNotice(approval ?? [question.text, options]);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a landmark for each question would be too many
    <div class="question" role="group" aria-label={approval ? `${agent} asks for approval` : `${agent} asks`}>
      {place}
      <p class="what">
        <strong>{agent}</strong>
        {question.via && ` (asked by ${visible(question.via.join(" → "))})`}{" "}
        {approval ? `asks before it runs ${visible(approval.tool)}` : "asks"}
      </p>
      {approval && shown !== undefined ? (
        <>
          <Whole text={shown} max={max} isShown={whole} onShow={() => setWhole(true)} />
          <p class="quiet">
            {approval.cwd && `In ${visible(approval.cwd)}. `}
            {visible(approval.reason)}
          </p>
        </>
      ) : (
        <p>{visible(question.text)}</p>
      )}
      {approval?.unread?.map((text) => (
        <Unread key={text.agent} text={text} />
      ))}
      {hidden && <p class="notice">{hidden}</p>}
      {approval && !mayApprove && (
        <p class="quiet">
          Your token may not approve; the scope 'approve' is needed.
          {question.asks && question.asks.length > 0 && ` Asked: ${visible(question.asks.join(", "))}.`}
        </p>
      )}
      {approval && mayApprove && isCut && !whole && <p class="quiet">Show all of it before you approve.</p>}
      {approval ? (
        <div class="row">
          <button
            type="button"
            class="good"
            disabled={sent || !mayApprove || (isCut && !whole)}
            onClick={() => reply("approve")}
          >
            {members ? "Approve all" : "Approve"}
          </button>
          {approval.unread && (
            <button
              type="button"
              disabled={sent || !mayApprove || (isCut && !whole)}
              onClick={() => reply("accept")}
            >
              Accept text and approve
            </button>
          )}
          <button type="button" class="bad" disabled={sent || !mayApprove} onClick={() => reply("deny")}>
            {members ? "Deny all" : "Deny"}
          </button>
        </div>
      ) : options.length > 0 ? (
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

/** An agent's words about itself that nobody has accepted, for which the person is asked. */
function Unread({ text }: { text: NonNullable<NonNullable<TurnQuestion["approval"]>["unread"]>[number] }) {
  const { agent, line, was, actions, group } = text;
  return (
    <div class="notice">
      {line !== undefined && (
        <p>
          {visible(agent)} says of itself: {visible(line)}
        </p>
      )}
      {was !== undefined && <p>Accepted before: {visible(was)}</p>}
      {actions.length > 0 && (
        <p>
          {visible(agent)} offers new actions: {visible(actions.join(", "))}
        </p>
      )}
      {group !== undefined && (
        <p>
          {visible(agent)} says that it belongs to the group {visible(group)}
        </p>
      )}
    </div>
  );
}

/** Shows the call that would run, whole or as head and tail until "Show all". No scroll box may hide its end. */
function Whole({
  text,
  max,
  isShown,
  onShow,
}: {
  text: string;
  max: typeof SHOWN;
  isShown: boolean;
  onShow: () => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [pressed, setPressed] = useState(false);
  useEffect(() => {
    // The button has disappeared, so the focus moves to the text that it revealed.
    if (pressed) box.current?.querySelector("pre")?.focus();
  }, [pressed]);
  const cut = isShown ? undefined : headAndTail(text, max);
  return (
    <div class="whole" ref={box}>
      {cut ? (
        <>
          <Pre text={cut.head} label="its beginning" />
          <div class="row between">
            <span>{cut.between.toLocaleString()} more characters between</span>
            <Small
              onClick={() => {
                onShow();
                setPressed(true);
              }}
            >
              Show all
            </Small>
          </div>
          <Pre text={cut.tail} label="its end" />
        </>
      ) : (
        <Pre text={text} label="what would be run" />
      )}
    </div>
  );
}

/**
 * An approval: the sentence, who asked, what is known, what exactly would be run, and two buttons that say what they do. The gateway
 * makes the words of what is hashed (`ApprovalCard`); nothing of it may move or be replaced while the card is open.
 */
import type { TurnQuestion } from "@edgecall/client/routes.ts";
import { approvalText } from "@edgecall/core/approvals/approval-text.ts";
import { headAndTail, hiddenNotice, visible } from "@edgecall/core/tools/visible.ts";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Small } from "./controls.tsx";
import { Pre } from "./markdown-view.tsx";
import { useAsker } from "./me.ts";
import { type Keep, NextTime } from "./next-time.tsx";
import { sentenceOf } from "./open-questions.tsx";
import { RuleLines } from "./rule-lines.tsx";
import { isLong, ScriptLines } from "./script-lines.tsx";
import { say } from "./texts/say.ts";

type Approval = NonNullable<TurnQuestion["approval"]>;
type Props = {
  question: TurnQuestion;
  approval: Approval;
  mayApprove: boolean;
  isSent: boolean;
  onAnswer: (answer: string, keep?: Keep) => void;
  /** Its sheet has its name already. */
  inSheet: boolean;
  place?: ComponentChildren;
  problem?: ComponentChildren;
};

/** A longer text first shows only its head and tail. Of several calls each is a line, and all lines fit. */
const SHOWN = { chars: 2_000, lines: 30 };
const SHOWN_OF_SEVERAL = { chars: 8_000, lines: 64 };
/** More marked lines are not read one by one on a phone. */
const MARKS_ON_A_PHONE = 5;

export function ApprovalCard({
  question,
  approval,
  mayApprove,
  isSent,
  onAnswer,
  inSheet,
  place,
  problem,
}: Props) {
  const [isWhole, setWhole] = useState(false);
  const [ticked, setTicked] = useState<ReadonlySet<number>>(new Set());
  const [keep, setKeep] = useState<Keep>();
  const id = useId();
  const askerOf = useAsker();
  const { members, offers = [] } = question;
  const { card, cwd, reason, unread = [] } = approval;
  const { marks = [], facts = [], verb = "Approve", decline = "Deny", accept } = card ?? {};
  const ruleLines = card?.lines ?? [];
  const { lines, rest } = approvalText({ approval, members }, 2);
  const max = members ? SHOWN_OF_SEVERAL : SHOWN;
  // The lines of a rule that acts say all of it.
  const isCut =
    ruleLines.length === 0 &&
    ((lines !== undefined && isLong(lines)) || headAndTail(rest, max) !== undefined);
  const isUnseen = isCut && !isWhole;
  const shownMarks = lines ? marks : [];
  const isUnread = shownMarks.some(({ line }) => !ticked.has(line));
  const isTooSmall =
    shownMarks.length > MARKS_ON_A_PHONE && !globalThis.matchMedia("(min-width: 700px)").matches;
  const mayYes = !isSent && mayApprove && !isUnseen && !isUnread && !isTooSmall;
  const hidden = hiddenNotice({ ...approval, card: undefined });
  const exact = rest !== "" && (
    <Exact text={rest} max={max} isWhole={isWhole} onWhole={() => setWhole(true)} />
  );
  return (
    <div
      class={`question approval${card?.danger ? " danger" : ""}`}
      {...(!inSheet && { role: "group", "aria-labelledby": id })}
    >
      <p class="sentence" id={id}>
        {sentenceOf(question)}
      </p>
      <div class="about">
        {card ? (
          <p class="asker">{askerOf(card)}</p>
        ) : (
          question.via && <p class="asker">{say("askedVia", { names: visible(question.via.join(" → ")) })}</p>
        )}
        {facts.length > 0 && (
          <dl class="facts">
            {facts.map(({ label, text }) => (
              <div key={label}>
                <dt>{label}</dt>
                <dd>{visible(text)}</dd>
              </div>
            ))}
          </dl>
        )}
      </div>
      {ruleLines.length > 0 && card?.danger && <p>{say("tapAgain")}</p>}
      {ruleLines.length > 0 && <RuleLines lines={ruleLines} />}
      {members && (
        <ol class="batch" aria-label={say("theCalls")}>
          {members.map(({ id: member, text }) => (
            <li key={member}>{visible(text)}</li>
          ))}
        </ol>
      )}
      {lines && (
        <ScriptLines
          lines={lines}
          marks={shownMarks}
          ticked={ticked}
          onTick={(line, on) => setTicked(on ? withLine(ticked, line) : withoutLine(ticked, line))}
          isWhole={isWhole || !isCut}
          onWhole={() => setWhole(true)}
        />
      )}
      {/* A marked line has its own reason beside it. */}
      {!shownMarks.some(({ why }) => why === reason) && (
        <p class="quiet">
          {cwd && !card && `In ${visible(cwd)}. `}
          {visible(reason)}
        </p>
      )}
      {unread.map((text) => (
        <Unread key={text.agent} text={text} />
      ))}
      {hidden && <p class="notice">{hidden}</p>}
      {/* What the sentence says, or the lines show, is one press away; the rest is there at once. */}
      {exact && (isSaid(approval, lines) && !isCut ? <Folded>{exact}</Folded> : exact)}
      {question.asked && question.asked.length > 0 && (
        <p class="quiet">
          {say("askedAlso", {
            names: visible(question.asked.map(({ name, time }) => `${name} (${time})`).join(", ")),
          })}
        </p>
      )}
      {mayApprove && offers.length > 0 && <NextTime offers={offers} members={members} onKeep={setKeep} />}
      {mayApprove && offers.length === 0 && card?.danger && ruleLines.length === 0 && (
        <p class="quiet">{say("dangerousAsk")}.</p>
      )}
      {!mayApprove && <p class="quiet">{say("mayNotApprove")}</p>}
      {mayApprove && isUnseen && <p class="quiet">{say("showAllBefore")}</p>}
      {mayApprove && !isUnseen && isTooSmall && <p class="quiet">{say("largerScreen")}</p>}
      {mayApprove && !isUnseen && !isTooSmall && isUnread && (
        <p class="quiet" role="status">
          {say("tickMarked", { count: shownMarks.length })}
        </p>
      )}
      {place}
      <div class="row answers">
        <button type="button" disabled={isSent || !mayApprove} onClick={() => onAnswer("deny")}>
          {visible(decline)}
        </button>
        {unread.length > 0 && (
          <button type="button" disabled={!mayYes} onClick={() => onAnswer("accept")}>
            {visible(accept ?? "Accept text and approve")}
          </button>
        )}
        <button
          type="button"
          class={card?.danger ? "bad" : "good"}
          disabled={!mayYes}
          onClick={() => onAnswer("approve", keep)}
        >
          {visible(verb)}
        </button>
      </div>
      {problem}
    </div>
  );
}

/** True if the sentence and the lines below it have each value. */
function isSaid({ card }: Approval, lines: readonly string[] | undefined): boolean {
  return card !== undefined && !card.partial && (card.shows === undefined || lines !== undefined);
}

function Folded({ children }: { children: ComponentChildren }) {
  return (
    <details>
      <summary>{say("exactlySent")}</summary>
      {children}
    </details>
  );
}

function withLine(lines: ReadonlySet<number>, line: number): ReadonlySet<number> {
  return new Set([...lines, line]);
}

function withoutLine(lines: ReadonlySet<number>, line: number): ReadonlySet<number> {
  return new Set([...lines].filter((one) => one !== line));
}

/** An agent's words about itself that nobody has accepted, for which the person is asked. */
function Unread({ text }: { text: NonNullable<Approval["unread"]>[number] }) {
  const { agent, line, was, actions, group } = text;
  const name = visible(agent);
  return (
    <div class="notice">
      {line !== undefined && <p>{say("saysOfItself", { name, text: visible(line) })}</p>}
      {was !== undefined && <p>{say("acceptedBefore", { text: visible(was) })}</p>}
      {actions.length > 0 && <p>{say("offersNew", { name, text: visible(actions.join(", ")) })}</p>}
      {group !== undefined && <p>{say("saysGroup", { name, text: visible(group) })}</p>}
    </div>
  );
}

type ExactProps = { text: string; max: typeof SHOWN; isWhole: boolean; onWhole: () => void };

/** Shows the call that would run, whole or as head and tail until "Show all". No scroll box may hide its end. */
function Exact({ text, max, isWhole, onWhole }: ExactProps) {
  const box = useRef<HTMLDivElement>(null);
  const [pressed, setPressed] = useState(false);
  useEffect(() => {
    // The button has disappeared, so the focus moves to the text that it revealed.
    if (pressed) box.current?.querySelector("pre")?.focus();
  }, [pressed]);
  const cut = isWhole ? undefined : headAndTail(text, max);
  return (
    <div class="whole" ref={box}>
      {cut ? (
        <>
          <Pre text={cut.head} label={say("itsBeginning")} />
          <div class="row between">
            <span>{say("moreBetween", { count: cut.between })}</span>
            <Small
              onClick={() => {
                onWhole();
                setPressed(true);
              }}
            >
              {say("showAll")}
            </Small>
          </div>
          <Pre text={cut.tail} label={say("itsEnd")} />
        </>
      ) : (
        <Pre text={text} label={say("whatRuns")} />
      )}
    </div>
  );
}

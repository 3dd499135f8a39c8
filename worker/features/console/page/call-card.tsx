/** Shows one call: the device, the action, its progress and its result. All texts come from a device or a model. */
import type { CallRecord, TurnQuestion } from "@edgecall/client/routes.ts";
import { NO_TOOL_CALLED } from "@edgecall/core/loop/history.ts";
import { hiddenNotice, shortened, visible, visibleJson } from "@edgecall/core/tools/visible.ts";
import { Pre } from "./markdown-view.tsx";
import { MediaList } from "./media-view.tsx";
import { QuestionCard } from "./question-card.tsx";
import { duration } from "./times.ts";
import type { CallView } from "./turns.ts";

const STAGE_TEXT = { sent: "sent", accepted: "accepted", waits: "asked you" } as const;

/**
 * @property times how often the model asked for this call in one step; it ran once
 * @property waits a question at another call lists it
 * @property answer the turn's answer; text that it repeats word for word is not shown twice
 */
type Props = {
  call: CallView;
  times: number;
  questions: TurnQuestion[];
  waits: boolean;
  mayApprove: boolean;
  answer: string | null;
};

export function CallCard({ call, times, questions, waits, mayApprove, answer }: Props) {
  const title = visible(call.action ?? (call.query !== undefined ? "asked in words" : call.name));
  // A device may answer although a call that it made for the answer was denied or failed.
  const { calls = [] } = call;
  const failed = call.status === "success" ? calls.filter(({ status }) => status === "error").length : 0;
  const open = waits || questions.some((question) => question.answer === undefined);
  return (
    <article
      class={`call ${open ? "waiting" : failed > 0 ? "partial" : call.status}`}
      aria-label={`${title} on ${call.agent ?? "the gateway"}`}
    >
      <header>
        <span class="agent">{call.agent ?? "gateway"}</span>
        <span class="action">{title}</span>
        {times > 1 && <span class="end">asked {times} times, ran once</span>}
        <Stages call={call} waits={open} failed={failed} />
      </header>
      {call.query !== undefined && <p class="query">{visible(call.query)}</p>}
      <Arguments call={call} />
      {questions.map((question) => (
        <QuestionCard key={question.id} question={question} mayApprove={mayApprove} />
      ))}
      {call.status === "pending" && call.output !== "" && <Pre text={call.output} label="output so far" />}
      {!isSaid(call, answer) && <Outcome call={call} />}
      {call.calls && call.calls.length > 0 && (
        <details open={failed > 0}>
          <summary>
            {call.calls.length} {call.calls.length === 1 ? "call" : "calls"} on the device
          </summary>
          {call.calls.map((inner) => (
            <Inner call={inner} />
          ))}
        </details>
      )}
    </article>
  );
}

function endText({ status, error_type, asked }: CallRecord, failed: number): string {
  if (asked === false) return "answered without a tool";
  if (failed > 0) return `done, ${failed} ${failed === 1 ? "call" : "calls"} failed`;
  if (status === "success") return "done";
  return error_type === "permission_denied" ? "denied" : (error_type ?? "failed").replaceAll("_", " ");
}

function Stages({ call, waits, failed }: { call: CallView; waits: boolean; failed: number }) {
  const began = call.stages[0]?.at;
  const on = call.stages.filter(({ name }) => name !== "ended" && !(name === "waits" && waits));
  return (
    <ol class="stages">
      {on.map(({ name, at }) => (
        <li>
          {STAGE_TEXT[name as keyof typeof STAGE_TEXT]}
          {began !== undefined && at > began && ` +${duration(at - began)}`}
        </li>
      ))}
      {call.status !== "pending" && (
        <li class="end">
          {endText(call, failed)}
          {/* 0: the gateway ended the call itself, so no device measured a time. */}
          {call.elapsed_ms ? ` ${duration(call.elapsed_ms)}` : ""}
          {call.waited_ms && call.waited_ms >= 1_000 ? `, ${duration(call.waited_ms)} waiting` : ""}
        </li>
      )}
      {call.status === "pending" && (
        <li class="busy">
          <span class="dot" aria-hidden="true" />
          {waits ? "waits for you" : "running"}
        </li>
      )}
    </ol>
  );
}

/** Shows the arguments that the card's head does not show. */
function Arguments({ call }: { call: CallView }) {
  const { agent_id: _, action: __, query: ___, params, ...more } = call.args ?? {};
  const shown =
    call.agent === undefined ? call.args : (params ?? (Object.keys(more).length > 0 ? more : undefined));
  if (shown === undefined || (typeof shown === "object" && shown !== null && Object.keys(shown).length === 0))
    return null;
  const short = visibleJson(shown);
  const hidden = hiddenNotice(shown);
  return (
    <>
      {short.length <= 80 ? (
        <code class="args">{short}</code>
      ) : (
        <details>
          <summary>arguments, {short.length.toLocaleString()} characters</summary>
          <Pre text={visibleJson(shown, 2)} label="arguments" />
        </details>
      )}
      {hidden && <p class="notice">{hidden}</p>}
    </>
  );
}

/** A longer result is folded, because the answer matters more. */
const SHORT_RESULT = 400;

function Outcome({ call }: { call: CallRecord }) {
  if (call.status === "pending") return null;
  const text = textOf(call);
  return (
    <>
      {call.asked === false && <p class="notice">Note: {NO_TOOL_CALLED}.</p>}
      {call.for_user !== undefined && <Pre text={call.for_user} label="for you" />}
      {text.length > SHORT_RESULT || (call.for_user !== undefined && text !== "") ? (
        <details>
          <summary>result, {text.length.toLocaleString()} characters</summary>
          <Pre text={text} label="result" />
        </details>
      ) : (
        text !== "" && <Pre text={text} label="result" />
      )}
      <MediaList media={call.media} agent={call.agent ?? "the gateway"} />
    </>
  );
}

/** Whether the answer contains the failure's text. */
function isSaid(call: CallRecord, answer: string | null): boolean {
  const words = textOf(call).trim();
  return call.status === "error" && words !== "" && (answer ?? "").includes(words);
}

function textOf(call: CallRecord): string {
  return call.status === "success" ? (call.result ?? "") : (call.error ?? call.result ?? "");
}

function Inner({ call }: { call: CallRecord }) {
  return (
    <div class={`inner ${call.status}`}>
      <p>
        <span class="action">{visible(call.name)}</span> <span class="end">{endText(call, 0)}</span>{" "}
        <code class="args">{shortened(visibleJson(call.args ?? {}), { chars: 2_000 })}</code>{" "}
        {call.elapsed_ms !== undefined && duration(call.elapsed_ms)}
      </p>
      <Outcome call={call} />
      {call.calls?.map((inner) => (
        <Inner call={inner} />
      ))}
    </div>
  );
}

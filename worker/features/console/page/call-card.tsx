/**
 * Shows one call as a line: what it does and how it ended. Opened, it has the call's arguments and its result. What a person is asked, what
 * it made, and its output while it runs stand below the line. All texts come from a device or a model.
 */
import type { CallRecord, TurnQuestion } from "@edgecall/client/routes.ts";
import { NO_TOOL_CALLED } from "@edgecall/core/loop/history.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { hiddenNotice, shortened, visible, visibleJson } from "@edgecall/core/tools/visible.ts";
import { callText } from "./change-text.ts";
import { Pre } from "./markdown-view.tsx";
import { MediaList } from "./media-view.tsx";
import { QuestionCard } from "./question-card.tsx";
import { capital, say } from "./texts/say.ts";
import { duration } from "./times.ts";
import type { CallView } from "./turns.ts";
import { useNames } from "./use-names.ts";

const STAGE_TEXT = { sent: "sent", accepted: "accepted", waits: "asked you", ended: "ended" } as const;

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
  const nameOf = useNames();
  const title = visible(call.action ?? (call.query !== undefined ? "asked in words" : call.name));
  // A device may answer although a call that it made for the answer was denied or failed.
  const { calls = [] } = call;
  const failed = call.status === "success" ? calls.filter(({ status }) => status === "error").length : 0;
  const isOpen = waits || questions.some((question) => question.answer === undefined);
  const isSaid = saysAll(answer);
  return (
    <article
      class={`call ${isOpen ? "waiting" : failed > 0 ? "partial" : call.status}`}
      aria-label={`${title} on ${call.agent ?? "the gateway"}`}
    >
      <details>
        <summary>
          <span class="what">{sentenceOf(call, nameOf)}</span>
          {times > 1 && <span class="quiet">asked {times} times, ran once</span>}
          <Outcome call={call} waits={isOpen} failed={failed} />
        </summary>
        <Facts call={call} />
        {call.query !== undefined && <p class="query">{visible(call.query)}</p>}
        <Arguments call={call} />
        {/* A failure that the answer repeats is not said again. */}
        {!(call.status === "error" && isSaid(textOf(call))) && <Result call={call} />}
        {calls.length > 0 && (
          <div class="list">
            <p class="quiet">
              {calls.length} {calls.length === 1 ? "call" : "calls"} on the device
            </p>
            {calls.map((inner) => (
              <Inner key={inner.id} call={inner} isSaid={saysAll(textOf(call), answer)} />
            ))}
          </div>
        )}
      </details>
      {call.asked === false && <p class="notice">Note: {NO_TOOL_CALLED}.</p>}
      {questions.map((question) => (
        <QuestionCard key={question.id} question={question} mayApprove={mayApprove} />
      ))}
      {call.status === "pending" && call.output !== "" && <Pre text={call.output} label="output so far" />}
      <Made call={call} isSaid={isSaid} />
    </article>
  );
}

/** "Washing machine: off", "garden-pi: read note.txt" */
function sentenceOf(call: CallView, nameOf: (id: string) => string): string {
  const { agent, action, query, name, args, status } = call;
  const { agent_id: _, action: __, query: ___, params, ...more } = args ?? {};
  const parameters = params ?? more;
  const done = status === "success";
  if (agent === undefined) return capital(callText({ action: name, parameters, done }));
  const text =
    query === undefined
      ? callText({ action: action ?? name, parameters, done })
      : `“${visible(cutText(query, QUERY_CHARS))}”`;
  return say("named", { name: nameOf(agent), text });
}

const QUERY_CHARS = 80;

/** A shorter text, such as a figure, stands in many others by chance. */
const REPEATED_CHARS = 16;

/** Which texts stand word for word in one of these. */
function saysAll(...texts: readonly (string | null)[]): (text: string) => boolean {
  return (text) => {
    const words = text.trim();
    const isLong = words.length >= REPEATED_CHARS;
    return words !== "" && texts.some((one) => (isLong ? one?.includes(words) : one?.trim() === words));
  };
}

function endText({ status, error_type, asked }: CallRecord, failed: number): string {
  if (asked === false) return "answered without a tool";
  if (failed > 0) return `done, ${failed} ${failed === 1 ? "call" : "calls"} failed`;
  if (status === "success") return "done";
  return error_type === "permission_denied" ? "denied" : (error_type ?? "failed").replaceAll("_", " ");
}

/** Its end and how long it took, or its progress. */
function Outcome({ call, waits, failed }: { call: CallView; waits: boolean; failed: number }) {
  if (call.status !== "pending")
    return (
      <span class="end">
        {endText(call, failed)}
        {/* 0: the gateway ended the call itself, so no device measured a time. */}
        {call.elapsed_ms ? ` ${duration(call.elapsed_ms)}` : ""}
        {call.waited_ms && call.waited_ms >= 1_000 ? `, ${duration(call.waited_ms)} waiting` : ""}
      </span>
    );
  const isAccepted = call.stages.some(({ name }) => name === "accepted");
  return (
    <span class="busy">
      <span class="dot" aria-hidden="true" />
      {waits ? "waits for you" : isAccepted ? "accepted, running" : "running"}
    </span>
  );
}

/** Its ids, which a person needs for other tools, and when it reached each stage. */
function Facts({ call: { agent, action, name, stages } }: { call: CallView }) {
  const began = stages[0]?.at;
  return (
    <ul class="stages">
      <li class="agent">{agent ?? "gateway"}</li>
      <li class="action">{visible(action ?? name)}</li>
      {stages.map(({ name: stage, at }) => (
        <li key={stage}>
          {STAGE_TEXT[stage]}
          {began !== undefined && at > began && ` +${duration(at - began)}`}
        </li>
      ))}
    </ul>
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

function Result({ call }: { call: CallRecord }) {
  const text = textOf(call);
  if (call.status === "pending" || text === "" || text === call.for_user) return null;
  return <Pre text={text} label="result" />;
}

/** The parts for the person: they are not folded. Text that the answer has is not shown again. */
function Made({ call, isSaid }: { call: CallRecord; isSaid: (text: string) => boolean }) {
  if (call.status === "pending") return null;
  const { for_user, media, agent = "the gateway" } = call;
  return (
    <>
      {for_user !== undefined && !isSaid(for_user) && <Pre text={for_user} label="for you" />}
      <MediaList media={media} agent={agent} />
    </>
  );
}

function textOf(call: CallRecord): string {
  return call.status === "success" ? (call.result ?? "") : (call.error ?? call.result ?? "");
}

/** A call that the device made for its answer. @param isSaid text that stands around it */
function Inner({ call, isSaid }: { call: CallRecord; isSaid: (text: string) => boolean }) {
  return (
    <div class={`inner ${call.status}`}>
      <p>
        <span class="action">{visible(call.name)}</span> <span class="end">{endText(call, 0)}</span>{" "}
        <code class="args">{shortened(visibleJson(call.args ?? {}), { chars: 2_000 })}</code>{" "}
        {call.elapsed_ms !== undefined && duration(call.elapsed_ms)}
      </p>
      {call.asked === false && <p class="notice">Note: {NO_TOOL_CALLED}.</p>}
      {!isSaid(textOf(call)) && <Result call={call} />}
      <Made call={call} isSaid={isSaid} />
      {call.calls?.map((inner) => (
        <Inner key={inner.id} call={inner} isSaid={isSaid} />
      ))}
    </div>
  );
}

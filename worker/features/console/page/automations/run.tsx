/** A run: when, by which values, how each step ended, and why it stopped. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { RUN_STATES } from "../run-words.ts";
import { locale, say, type TextKey } from "../texts/say.ts";

type Status = NonNullable<AnswerOf<"GET /v1/automations">["automations"][number]["now"]>;
type RunView = Status["runs"][number];

const OUTCOMES: Record<RunView["steps"][number]["outcome"], TextKey> = {
  confirmed: "stepConfirmed",
  sent: "stepSent",
  not_sent: "stepNotSent",
  unconfirmed: "notConfirmed",
  unknown: "stepUnknown",
  late: "stepLate",
};
const WELL: ReadonlySet<string> = new Set(["confirmed", "sent", "late"]);

export function Run({ run, zone }: { run: RunView; zone: string }) {
  const { at, state, because, steps, why } = run;
  const isWell = state === "running" || state === "done" || state === "undone";
  return (
    <div class="run">
      <p>
        <time dateTime={new Date(at).toISOString()}>{timeIn(zone, at)}</time>:{" "}
        <strong class={isWell ? undefined : "bad-text"}>{say(RUN_STATES[state])}</strong>
        {because.length > 0 && `, ${say("runBecause", { text: because.map(visible).join("; ") })}`}
      </p>
      {why !== undefined && <p class="quiet">{visible(why)}</p>}
      {steps.length > 0 && (
        <ol>
          {steps.map(({ step, outcome, text, at: stepAt }) => (
            <li key={step} value={step + 1}>
              {visible(text)}{" "}
              <span class={WELL.has(outcome) ? "quiet" : "bad-text"}>
                {say(OUTCOMES[outcome])}, {clockIn(zone, stepAt)}
              </span>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

export function timeIn(timeZone: string, at: number): string {
  return new Date(at).toLocaleString(locale(), { timeZone, dateStyle: "medium", timeStyle: "short" });
}

export function clockIn(timeZone: string, at: number): string {
  return new Date(at).toLocaleTimeString(locale(), { timeZone, timeStyle: "medium" });
}

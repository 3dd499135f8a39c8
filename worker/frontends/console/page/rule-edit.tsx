/** Edits a rule. Only what was changed is sent: of the others some may not fit this rule. */
import type { AnswerOf, RequestOf } from "@edgecall/client/client.ts";
import type { SessionView } from "@edgecall/client/routes.ts";
import { useState } from "preact/hooks";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { Problem } from "./load.tsx";

export type Rule = AnswerOf<"GET /v1/rules">["rules"][number];
export type RuleChange = RequestOf<"PATCH /v1/rules/{rule}">["body"];

/** As a person writes it; empty: none. */
type Written = Record<
  "name" | "limit" | "minutes" | "repeat" | "hours" | "severity" | "say" | "second" | "after",
  string
>;

const REPEATS = {
  each_time: "each time",
  until_ack: "until somebody answers",
  once: "once, then it ends",
};
const SEVERITIES = {
  info: "info",
  warning: "warning",
  critical: "critical: also in quiet hours",
};
/** Minutes without an answer. */
const THEN_AFTER = "10";

export function writtenOf({
  name,
  value,
  for_minutes,
  repeat,
  only_between,
  severity,
  say,
  then_to,
}: Rule): Written {
  return {
    name,
    limit: value === undefined ? "" : String(value),
    minutes: String(for_minutes ?? ""),
    repeat: repeat ?? "",
    hours: only_between ?? "",
    severity: severity ?? "",
    say: say ?? "",
    second: then_to?.to ?? "",
    after: String(then_to?.after_minutes ?? THEN_AFTER),
  };
}

/** A comma and a long minus are what phones write. */
function numberOf(text: string): number {
  return Number(text.replace(",", ".").replace("−", "-"));
}

export function changesOf(rule: Rule, now: Written): RuleChange {
  const before = writtenOf(rule);
  const has = (...names: Array<keyof Written>) => names.some((name) => now[name].trim() !== before[name]);
  if (rule.kind === "remind") return has("name") ? { text: now.name } : {};
  const second = now.second.trim();
  return {
    ...(has("name") && { name: now.name }),
    ...(has("limit") && { value: typeof rule.value === "number" ? numberOf(now.limit) : now.limit }),
    ...(has("minutes") && { for_minutes: numberOf(now.minutes) }),
    // SAFETY of the next two: the page offers only these.
    ...(has("repeat") && { repeat: now.repeat as Rule["repeat"] & string }),
    ...(has("severity") && { severity: now.severity as Rule["severity"] & string }),
    ...(has("hours") && { only_between: now.hours.trim().replace("–", "-") || null }),
    ...(has("say") && { say: now.say.trim() || null }),
    ...(has("second", ...(second === "" ? [] : (["after"] as const))) && {
      then_to: second === "" ? null : { to: second, after_minutes: numberOf(now.after) },
    }),
  };
}

type Props = { rule: Rule; role: SessionView["role"]; onDone: () => void };

export function RuleEdit({ rule, role, onDone }: Props) {
  const [now, setNow] = useState(() => writtenOf(rule));
  const { failed, busy, attempt } = useAttempt();
  const isWatch = rule.kind === "watch";
  const field = (name: keyof Written) => ({
    value: now[name],
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
      setNow({ ...now, [name]: currentTarget.value }),
  });
  const save = () =>
    attempt(async () => {
      await client.json("PATCH /v1/rules/{rule}", { path: { rule: rule.id }, body: changesOf(rule, now) });
      onDone();
    });
  return (
    <form
      class="list"
      aria-label={`Edit ${rule.name}`}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <div class="row">
        <label>
          {isWatch ? "Name" : "Text"}
          <input {...field("name")} required maxLength={isWatch ? 60 : 500} />
        </label>
        {isWatch && (
          <>
            {rule.value !== undefined && typeof rule.value !== "boolean" && (
              <label>
                Limit
                <input {...field("limit")} required />
              </label>
            )}
            <label>
              For minutes
              <input {...field("minutes")} inputMode="decimal" required />
            </label>
            <Choice
              label="Tells"
              options={REPEATS}
              value={now.repeat}
              onChoose={(repeat) => setNow({ ...now, repeat })}
            />
            <Choice
              label="Severity"
              options={SEVERITIES}
              value={now.severity}
              barred={role === "owner" ? undefined : "critical"}
              onChoose={(severity) => setNow({ ...now, severity })}
            />
            <label>
              Only between
              <input {...field("hours")} placeholder="08:00-20:00" maxLength={11} />
            </label>
            <label>
              Words to add
              <input {...field("say")} maxLength={200} />
            </label>
            <label>
              If nobody answers, tell
              <input {...field("second")} placeholder="owners" maxLength={200} />
            </label>
            {now.second.trim() !== "" && (
              <label>
                After minutes
                <input {...field("after")} inputMode="numeric" required />
              </label>
            )}
          </>
        )}
      </div>
      <div class="row">
        <button type="submit" class="small good" disabled={busy}>
          Save
        </button>
        <button type="button" class="small" onClick={onDone}>
          Cancel
        </button>
      </div>
      <Problem text={failed} />
    </form>
  );
}

type ChoiceProps = {
  label: string;
  options: Readonly<Record<string, string>>;
  value: string;
  barred?: string | undefined;
  onChoose: (value: string) => void;
};

function Choice({ label, options, value, barred, onChoose }: ChoiceProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        {Object.entries(options).map(([one, words]) => (
          <option value={one} disabled={one === barred}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Edits a rule. */
import type { SessionView } from "@edgecall/client/routes.ts";
import { useState } from "preact/hooks";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { Form, SaveRow, Select } from "./controls.tsx";
import { Problem } from "./load.tsx";
import { changesOf, type Rule, type Written, writtenOf } from "./rule-changes.ts";

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
type Props = { rule: Rule; role: SessionView["role"]; onDone: () => void };

export function RuleEdit({ rule, role, onDone }: Props) {
  // The person changes what the form opened with, whatever is loaded meanwhile.
  const [opened] = useState(rule);
  const [now, setNow] = useState(() => writtenOf(opened));
  const { failed, busy, attempt } = useAttempt();
  const isWatch = rule.kind === "watch";
  const field = (name: keyof Written) => ({
    value: now[name],
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
      setNow({ ...now, [name]: currentTarget.value }),
  });
  const save = () =>
    attempt(async () => {
      await client.json("PATCH /v1/rules/{rule}", { path: { rule: rule.id }, body: changesOf(opened, now) });
      onDone();
    });
  return (
    <Form class="list" aria-label={`Edit ${rule.name}`} onSend={save}>
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
      <SaveRow busy={busy} onCancel={onDone} />
      <Problem text={failed} />
    </Form>
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
    <Select label={label} value={value} onChoose={onChoose}>
      {Object.entries(options).map(([one, words]) => (
        <option value={one} disabled={one === barred}>
          {words}
        </option>
      ))}
    </Select>
  );
}

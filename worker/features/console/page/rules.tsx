/** What acts, what is watched, and what people are reminded of: its state, why it is silent, its history; pause, edit, delete. */
import type { SessionView } from "@edgecall/client/routes.ts";
import { useState } from "preact/hooks";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { AtHome } from "./automations/at-home.tsx";
import { ActExamples, Automations } from "./automations/automations.tsx";
import { ClockPanel } from "./clock-panel.tsx";
import { Small } from "./controls.tsx";
import { Problem, Screen, Skeleton, useLoaded } from "./load.tsx";
import type { Rule } from "./rule-changes.ts";
import { RuleEdit } from "./rule-edit.tsx";
import { Sure } from "./sure.tsx";
import { ago } from "./times.ts";
import { useRepeated } from "./use-repeated.ts";

export function Rules({ session }: { session: SessionView }) {
  const { value, problem, reload: look } = useLoaded("GET /v1/rules");
  const acting = useLoaded("GET /v1/automations");
  const reload = () => {
    void look();
    void acting.reload();
  };
  useRepeated(reload);
  const all = value?.rules ?? [];
  // What wants a person comes first.
  const urgent = all.filter(isUrgent);
  return (
    <Screen title="Rules" tools={<Small onClick={reload}>Refresh</Small>}>
      <Problem text={problem} />
      <Problem text={acting.problem === problem ? undefined : acting.problem} />
      {acting.value && <Automations list={acting.value} onChange={acting.reload} />}
      {!value && !problem && <Skeleton lines={4} />}
      {value && all.length === 0 && (
        <p>Nothing is watched. Say it in a chat: “Tell me when the freezer is above −15.”</p>
      )}
      {value &&
        [...urgent, ...all.filter((rule) => !isUrgent(rule))].map((rule) => (
          <RuleCard key={rule.id} rule={rule} session={session} zone={value.zone} onChange={reload} />
        ))}
      {acting.value && session.role !== "guest" && (
        <>
          <ActExamples />
          <AtHome list={acting.value} session={session} onChange={acting.reload} />
        </>
      )}
      {value && (
        <ClockPanel
          clock={value}
          mayChange={session.role === "owner" && (session.scopes?.includes("admin") ?? false)}
          onChange={reload}
        />
      )}
      <p>
        <a href="#/setup/notifications">Where you are told: this browser, and topics of ntfy</a>
      </p>
    </Screen>
  );
}

function isUrgent({ state, status }: Rule): boolean {
  return status === "orphaned" || (status === "active" && (state === "firing" || state === "clearing"));
}

const STATES = {
  idle: "waiting",
  pending: "true, not for long enough yet",
  firing: "firing",
  clearing: "nearly over",
  unknown: "no value",
};

function stateOf({ status, state }: Rule): string {
  if (status !== "active") return status === "paused" ? "paused" : "stopped";
  return STATES[state ?? "idle"];
}

type CardProps = { rule: Rule; session: SessionView; zone: string; onChange: () => void };

function RuleCard({ rule, session, zone, onChange }: CardProps) {
  const { id, name, status, device, condition, history, last_firing: last } = rule;
  const { failed, busy, attempt } = useAttempt(onChange);
  const [edits, setEdits] = useState(false);
  const path = { rule: id };
  const change = (next: "active" | "paused") =>
    attempt(() => client.json("PATCH /v1/rules/{rule}", { path, body: { status: next } }));
  // It names the firing that is shown: when that is over, and another one was told, nothing is answered.
  const press = (what: "ack" | "snooze") => {
    const body = { do: what, occurrence: history[0]?.occurrence };
    return attempt(() => client.json("POST /v1/rules/{rule}/press", { path, body }));
  };
  const time = (at: number) => timeIn(zone, at);
  const resumes = status !== "active";
  const answers = !resumes && rule.state === "firing";
  const facts = [
    rule.by !== session.name && `Made by ${rule.by}.`,
    rule.severity && rule.severity !== "info" && `${rule.severity}.`,
    rule.only_between !== undefined && `Only ${rule.only_between}.`,
    rule.to.startsWith("you ") ? undefined : `Tells ${rule.to}.`,
    rule.repeat === "until_ack" && "Again until somebody answers.",
    rule.then_to && `Without an answer in ${rule.then_to.after_minutes} min: ${rule.then_to.to}.`,
    rule.next?.length && `Next: ${rule.next.map(time).join("; ")}.`,
    rule.since !== undefined && `So since ${time(rule.since)}.`,
    last !== null && `Last: ${time(last)}, ${ago(last, Date.now())}.`,
    last === null && rule.kind === "watch" && "It has not fired yet.",
  ];
  return (
    <section class="panel" aria-labelledby={id}>
      <div class="row">
        <h2 id={id}>{name}</h2>
        <span class={`badge ${isUrgent(rule) ? "bad" : ""}`}>{stateOf(rule)}</span>
      </div>
      <p>
        {device !== undefined && <strong>{device}: when </strong>}
        {condition}
      </p>
      <p class="quiet">{facts.filter(Boolean).join(" ")}</p>
      {rule.note && <p class="quiet">{rule.note}</p>}
      {rule.silent && <p class="notice">Silent: {rule.silent}.</p>}
      {rule.why && <p class="problem">{rule.why}</p>}
      {edits && (
        <RuleEdit
          rule={rule}
          role={session.role}
          onDone={() => {
            setEdits(false);
            onChange();
          }}
        />
      )}
      <Problem text={failed} />
      <div class="row">
        {answers && (
          <>
            <Small kind="good" disabled={busy} onClick={() => press("ack")}>
              Got it
            </Small>
            <Small disabled={busy} onClick={() => press("snooze")}>
              Snooze 1 h
            </Small>
          </>
        )}
        <Small
          aria-label={`${resumes ? "Resume" : "Pause"} ${name}`}
          disabled={busy}
          onClick={() => change(resumes ? "active" : "paused")}
        >
          {resumes ? "Resume" : "Pause"}
        </Small>
        {!edits && (
          <Small aria-label={`Edit ${name}`} onClick={() => setEdits(true)}>
            Edit
          </Small>
        )}
        <Sure
          label="Delete"
          about={name}
          onSure={() => void attempt(() => client.json("DELETE /v1/rules/{rule}", { path }))}
        />
      </div>
      {history.length > 0 && (
        <details>
          <summary>History</summary>
          <ul>
            {history.map(({ at, until, value, text, acked_by }) => (
              <li key={at}>
                {time(at)}
                {until !== null && ` to ${time(until)}`}
                {value !== undefined && `: ${text ?? value}`}
                {acked_by !== null && `, answered by ${acked_by}`}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function timeIn(timeZone: string, at: number): string {
  return new Date(at).toLocaleString(undefined, { timeZone, dateStyle: "medium", timeStyle: "short" });
}

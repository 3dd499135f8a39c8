/** One rule that acts: its state, its card's words, the values now, its runs, and what a person may do with it. */

import { visible } from "@edgecall/core/tools/visible.ts";
import { useContext, useId, useState } from "preact/hooks";
import { client } from "../api.ts";
import { useAttempt } from "../attempt.ts";
import { Small } from "../controls.tsx";
import { lazyPart } from "../lazy.tsx";
import { Problem } from "../load.tsx";
import { Me } from "../me.ts";
import { RuleLines } from "../rule-lines.tsx";
import { Sure } from "../sure.tsx";
import { say, type TextKey } from "../texts/say.ts";
import { AllowAgain } from "./allow-again.tsx";
import { type Automation, newestRuns, stateOf, wordsOf } from "./automation.ts";
import { clockIn, Run, timeIn } from "./run.tsx";

type Props = { automation: Automation; mayAllow: boolean; zone: string; onChange: () => void };

function isUrgent(automation: Automation): boolean {
  const { status, now } = automation;
  const [last] = newestRuns(automation);
  return status === "paused" || now?.state === "stopped" || last?.state === "stopped";
}

export function AutomationCard({ automation, mayAllow, zone, onChange }: Props) {
  const { id, name, status, why, card, now, by, allowed_by, allowed_at, until } = automation;
  const { failed, busy, attempt } = useAttempt(onChange);
  const [isAllowing, setAllowing] = useState(false);
  const [undone, setUndone] = useState<{ text: string; confirmed: boolean }>();
  const title = useId();
  const path = { automation: id };
  const time = (at: number) => timeIn(zone, at);
  const named = (text: string) => ({ "aria-label": say("named", { name: text, text: visible(name) }) });
  const of = (key: TextKey) => named(say(key));
  const me = useContext(Me);
  const runs = newestRuns(automation);
  const [last, ...earlier] = runs;
  // Runs after it may have changed nothing, so its button names its time.
  const undoable = runs.find((run) => run.undo);
  const undoes = undoable && say("named", { name: say("undo"), text: time(undoable.at) });
  const undo = (firing: number) =>
    attempt(async () => {
      setUndone(await client.json("POST /v1/automations/{automation}/undo", { path, body: { firing } }));
    });
  return (
    <section class="panel automation" aria-labelledby={title}>
      <div class="row">
        <h3 id={title}>{visible(name)}</h3>
        <span class={`badge ${isUrgent(automation) ? "bad" : ""}`}>
          {stateOf(automation, (at) => clockIn(zone, at))}
        </span>
      </div>
      {why !== null && <p class="problem">{visible(why)}</p>}
      {/* What it says of values and of the last days is of that moment. */}
      <p class="quiet">
        {say(allowed_by === me ? "asYouAllowed" : "asTheyAllowed", {
          name: visible(allowed_by),
          date: time(allowed_at),
        })}
      </p>
      <RuleLines lines={wordsOf(card, name)} />
      {now && now.now.length > 0 && (
        <p>
          {say("actNow")}: {now.now.map(visible).join("; ")}
        </p>
      )}
      {now?.next !== undefined && <p>{say("actNext", { time: time(now.next) })}</p>}
      {last ? <Run run={last} zone={zone} /> : now && <p class="quiet">{say("actNeverRan")}</p>}
      {undone && (
        <p class={undone.confirmed ? undefined : "problem"} role="status">
          {visible(undone.text)}
        </p>
      )}
      <p class="quiet">
        {say("actBy", {
          by: visible(by),
          name: visible(allowed_by),
          date: time(allowed_at),
          until: time(until),
        })}
      </p>
      {isAllowing && (
        <AllowAgain
          automation={automation}
          onDone={(isAllowed) => {
            setAllowing(false);
            if (isAllowed) onChange();
          }}
        />
      )}
      <Problem text={failed} />
      <div class="row">
        {undoes && mayAllow && (
          <Small {...named(undoes)} kind="main" disabled={busy} onClick={() => undo(undoable.firing)}>
            {undoes}
          </Small>
        )}
        {status === "active" ? (
          <Small
            {...of("pause")}
            disabled={busy}
            onClick={() =>
              attempt(() =>
                client.json("PATCH /v1/automations/{automation}", { path, body: { status: "paused" } }),
              )
            }
          >
            {say("pause")}
          </Small>
        ) : (
          mayAllow &&
          !isAllowing && (
            <Small {...of("resume")} disabled={busy} onClick={() => setAllowing(true)}>
              {say("resume")}
            </Small>
          )
        )}
        <Sure
          label={say("erase")}
          about={visible(name)}
          buttons={{ sure: say("eraseSure"), cancel: say("cancel") }}
          onSure={() => void attempt(() => client.json("DELETE /v1/automations/{automation}", { path }))}
        />
      </div>
      {status === "paused" && !mayAllow && <p class="quiet">{say("actOwner")}</p>}
      {earlier.length > 0 && (
        <details>
          <summary>{say("actRuns", { count: earlier.length })}</summary>
          <ol class="rows">
            {earlier.map((run) => (
              <li key={run.firing}>
                <Run run={run} zone={zone} />
              </li>
            ))}
          </ol>
        </details>
      )}
      <ValuesSince automation={automation} />
    </section>
  );
}

const Values = lazyPart(async () => (await import("./values.tsx")).Values);

/** Drawn when it is opened. */
function ValuesSince({ automation: { reads, now } }: { automation: Automation }) {
  const [isOpen, setOpen] = useState(false);
  if (reads.length === 0) return null;
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{say("actValues")}</summary>
      {isOpen && <Values devices={reads} runs={(now?.runs ?? []).map(({ at }) => at)} />}
    </details>
  );
}

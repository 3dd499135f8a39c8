/** The home's zone and quiet hours: shown to everybody, set by owners. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import { useState } from "preact/hooks";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { Field, Form, Panel, SaveRow, Small } from "./controls.tsx";
import { Problem } from "./load.tsx";

type Clock = Pick<AnswerOf<"GET /v1/home/clock">, "zone" | "quiet_hours">;
type Props = { clock: Clock; mayChange: boolean; onChange: () => void };

export function ClockPanel({ clock, mayChange, onChange }: Props) {
  const { zone, quiet_hours: quiet } = clock;
  const [edits, setEdits] = useState(false);
  return (
    <Panel id="clock" title="Time">
      <p class="quiet">
        Times are of {zone}.{" "}
        {quiet === null
          ? "There are no quiet hours."
          : `Quiet hours: ${quiet}. What is not critical waits until their end.`}
      </p>
      {mayChange && !edits && (
        <div class="row">
          <Small onClick={() => setEdits(true)}>Change the time</Small>
        </div>
      )}
      {edits && (
        <ClockForm
          clock={clock}
          onDone={(isOther) => {
            setEdits(false);
            if (isOther) onChange();
          }}
        />
      )}
    </Panel>
  );
}

function ClockForm({ clock, onDone }: { clock: Clock; onDone: (isOther: boolean) => void }) {
  // The person changes what the form opened with, whatever is loaded meanwhile.
  const [opened] = useState(clock);
  const [before, after] = opened.quiet_hours?.split("-") ?? [];
  const [zone, setZone] = useState(opened.zone);
  const [from, setFrom] = useState(before ?? "");
  const [to, setTo] = useState(after ?? "");
  const { failed, busy, attempt } = useAttempt();
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const save = () =>
    attempt(async () => {
      const quiet_hours = from === "" && to === "" ? "off" : `${from}-${to}`;
      const body = {
        ...(zone !== opened.zone && { zone }),
        ...(quiet_hours !== (opened.quiet_hours ?? "off") && { quiet_hours }),
      };
      const isChanged = Object.keys(body).length > 0;
      if (isChanged) await client.json("PATCH /v1/home/clock", { body });
      onDone(isChanged);
    });
  return (
    <Form class="list" aria-label="The home's time" onSend={save}>
      <div class="row">
        <label>
          Time zone
          <input
            value={zone}
            required
            maxLength={64}
            list="zones"
            onInput={(event) => setZone(event.currentTarget.value)}
          />
          <datalist id="zones">
            {Intl.supportedValuesOf("timeZone").map((one) => (
              <option value={one} />
            ))}
          </datalist>
        </label>
        <Field label="Quiet from" type="time" value={from} onValue={setFrom} />
        <Field label="until" type="time" value={to} onValue={setTo} />
      </div>
      {own !== zone && (
        <p class="quiet">
          This browser is in {own}. <Small onClick={() => setZone(own)}>Use it</Small>
        </p>
      )}
      <p class="quiet">Both empty: no quiet hours. Rules keep their times of the clock.</p>
      <SaveRow busy={busy} onCancel={() => onDone(false)} />
      <Problem text={failed} />
    </Form>
  );
}

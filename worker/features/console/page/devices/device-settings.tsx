/** An administrator's decisions about a device of the broker: its name, its area, and what is allowed. */
import type { DeviceView, SessionView } from "@edgecall/client/routes.ts";
import { useState } from "preact/hooks";
import { client } from "../api.ts";
import { useAttempt } from "../attempt.ts";
import { Check, Field, Form, Select } from "../controls.tsx";
import { Problem } from "../load.tsx";
import { ago } from "../times.ts";
import { bodyOf, changedFrom, type Settings, settingsOf } from "./device-changes.ts";

type Mode = DeviceView["mode"];

const MODES: Record<Mode, string> = {
  off: "off: nobody sees it",
  read: "read: changes are refused",
  ask: "ask: each change asks",
  allowed: "allowed: only dangerous changes ask",
};

type Props = { device: DeviceView; session: SessionView; look: () => Promise<unknown> };

export function DeviceSettings({ device, session, look }: Props) {
  const { id, allow, allowed_by: by, allowed_at: since } = device;
  const [changes, setChanges] = useState<Partial<Settings>>({});
  const present = settingsOf(device);
  // The other fields follow the device.
  const { name, area, mode, settings } = { ...present, ...changes };
  const change = (one: Partial<Settings>) =>
    setChanges((before) => changedFrom(present, { ...before, ...one }));
  const { failed, busy, attempt } = useAttempt();
  const mayAllow = session.scopes?.includes("approve") ?? false;
  const save = () =>
    attempt(async () => {
      const body = bodyOf(changes, allow);
      await client.json("PATCH /v1/devices/{device}", { path: { device: id }, body }).finally(look);
      setChanges((now) => changedFrom(changes, now));
    });
  return (
    <Form class="list" lang="en" aria-label={`Settings of ${device.name}`} onSend={save}>
      <h3>Settings</h3>
      <div class="row">
        <Field
          label="Name"
          value={name}
          maxLength={60}
          placeholder="as it calls itself"
          onValue={(text) => change({ name: text })}
        />
        <Field
          label="Area"
          value={area}
          maxLength={60}
          list="areas"
          placeholder="as it says"
          onValue={(text) => change({ area: text })}
        />
        <Select label="What is allowed" value={mode} onChoose={(one) => change({ mode: one })}>
          <option value="">as the bridge is set{device.chosen ? "" : ` (${device.mode})`}</option>
          {(Object.keys(MODES) as Mode[]).map((one) => (
            <option value={one} disabled={one === "allowed" && !mayAllow}>
              {MODES[one]}
            </option>
          ))}
        </Select>
      </div>
      {device.settings.actions.length > 0 && (
        <Check checked={settings} onCheck={(on) => change({ settings: on })}>
          offer its settings, of which each change asks ({device.settings.actions.length})
        </Check>
      )}
      {by !== null && (
        <p class="quiet">
          Allowed by {by} {ago(since, Date.now())}.
        </p>
      )}
      <div class="row">
        <button type="submit" class="small" disabled={busy || Object.keys(changes).length === 0}>
          Save
        </button>
      </div>
      <Problem text={failed} />
    </Form>
  );
}

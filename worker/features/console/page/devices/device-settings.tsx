/** An administrator's decisions about a device of the broker: its name, its area, and what is allowed. */
import type { DeviceView, SessionView } from "@edgecall/client/routes.ts";
import { useState } from "preact/hooks";
import { client } from "../api.ts";
import { useAttempt } from "../attempt.ts";
import { Check, Field, Form, Select } from "../controls.tsx";
import { Problem } from "../load.tsx";
import { ago } from "../times.ts";

type Mode = DeviceView["mode"];

const MODES: Record<Mode, string> = {
  off: "off: nobody sees it",
  read: "read: changes are refused",
  ask: "ask: each change asks",
  allowed: "allowed: only dangerous changes ask",
};

type Props = { device: DeviceView; session: SessionView; look: () => void };

export function DeviceSettings({ device, session, look }: Props) {
  const { id, own, allow, allowed_by: by, allowed_at: since } = device;
  const [name, setName] = useState(own.name ?? "");
  const [area, setArea] = useState(own.area ?? "");
  const [mode, setMode] = useState<Mode | "">(device.chosen ? device.mode : "");
  const [settings, setSettings] = useState(device.settings.offered);
  const { failed, busy, attempt } = useAttempt(look);
  const mayAllow = session.scopes?.includes("approve") ?? false;
  const isNewMode = mode !== (device.chosen ? device.mode : "");
  const save = () =>
    attempt(() =>
      client.json("PATCH /v1/devices/{device}", {
        path: { device: id },
        body: {
          name: name.trim() || null,
          area: area.trim() || null,
          ...(settings !== device.settings.offered && { settings }),
          ...(isNewMode && { mode: mode === "" ? null : mode, allow }),
        },
      }),
    );
  return (
    <Form class="list" lang="en" aria-label={`Settings of ${device.name}`} onSend={save}>
      <h3>Settings</h3>
      <div class="row">
        <Field label="Name" value={name} maxLength={60} placeholder="as it calls itself" onValue={setName} />
        <Field
          label="Area"
          value={area}
          maxLength={60}
          list="areas"
          placeholder="as it says"
          onValue={setArea}
        />
        <Select label="What is allowed" value={mode} onChoose={setMode}>
          <option value="">as the bridge is set{device.chosen ? "" : ` (${device.mode})`}</option>
          {(Object.keys(MODES) as Mode[]).map((one) => (
            <option value={one} disabled={one === "allowed" && !mayAllow}>
              {MODES[one]}
            </option>
          ))}
        </Select>
      </div>
      {device.settings.actions.length > 0 && (
        <Check checked={settings} onCheck={setSettings}>
          offer its settings, of which each change asks ({device.settings.actions.length})
        </Check>
      )}
      {by !== null && (
        <p class="quiet">
          Allowed by {by} {ago(since, Date.now())}.
        </p>
      )}
      <div class="row">
        <button type="submit" class="small" disabled={busy}>
          Save
        </button>
      </div>
      <Problem text={failed} />
    </Form>
  );
}

/** An administrator's decisions about a device of the broker: its name, its area, and what is allowed. */
import type { DeviceView, SessionView } from "@edgecall/client/routes.ts";
import { useState } from "preact/hooks";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { Problem } from "./load.tsx";
import { ago } from "./times.ts";

type Mode = DeviceView["mode"];

const MODES: Record<Mode, string> = {
  off: "off: nobody sees it",
  read: "read: changes are refused",
  ask: "ask: its first change asks",
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
    <form
      class="list"
      aria-label={`Settings of ${device.name}`}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <div class="row">
        <label>
          Name
          <input
            value={name}
            maxLength={60}
            placeholder="as it calls itself"
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <label>
          Area
          <input
            value={area}
            maxLength={60}
            list="areas"
            placeholder="as it says"
            onInput={(event) => setArea(event.currentTarget.value)}
          />
        </label>
        <label>
          What is allowed
          <select value={mode} onChange={({ currentTarget }) => setMode(currentTarget.value as Mode | "")}>
            <option value="">as the bridge is set{device.chosen ? "" : ` (${device.mode})`}</option>
            {(Object.keys(MODES) as Mode[]).map((one) => (
              <option value={one} disabled={one === "allowed" && !mayAllow}>
                {MODES[one]}
              </option>
            ))}
          </select>
        </label>
      </div>
      {device.settings.actions.length > 0 && (
        <label class="check">
          <input
            type="checkbox"
            checked={settings}
            onChange={({ currentTarget: { checked } }) => setSettings(checked)}
          />
          offer its settings, of which each change asks ({device.settings.actions.length})
        </label>
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
    </form>
  );
}

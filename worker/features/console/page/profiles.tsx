/** The profiles, in three lines: a choice for the devices that are shown, and for no other one. */
import type { AnswerOf, RequestOf } from "@edgecall/client/client.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { useState } from "preact/hooks";
import { addressOfPlace } from "./address.ts";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { Check, Form, Panel } from "./controls.tsx";
import { Problem, Skeleton, useLoaded } from "./load.tsx";
import { language, say } from "./texts/say.ts";

type Device = AnswerOf<"GET /v1/profile">["devices"][number];
type Profile = RequestOf<"PUT /v1/profile">["body"]["profile"];

const PROFILES = [
  { id: "look", name: "profileLook", about: "profileLookText" },
  { id: "ask", name: "profileAsk", about: "profileAskText" },
  { id: "act", name: "profileAct", about: "profileActText" },
] as const;

export function Profiles() {
  const { value, problem, reload } = useLoaded("GET /v1/profile");
  if (!value) return problem ? <Problem text={problem} /> : <Skeleton lines={4} />;
  const { devices } = value;
  return (
    <div lang={language()}>
      <Panel id="profile" title={say("profileTitle")}>
        <Problem text={problem} />
        {devices.length === 0 ? (
          <p class="quiet">{say("profileNone")}</p>
        ) : (
          <Choice devices={devices} look={reload} />
        )}
        <p>
          <a href={addressOfPlace("setup", "permissions")}>{say("permissions")}</a>
        </p>
      </Panel>
    </div>
  );
}

/** The devices' present profiles. */
function profileOf(devices: readonly Device[]): Profile {
  if (devices.some(({ mode }) => mode === "allowed")) return "act";
  return devices.every(({ mode }) => mode === "read") ? "look" : "ask";
}

function Choice({ devices, look }: { devices: readonly Device[]; look: () => Promise<void> }) {
  const now = profileOf(devices);
  const [profile, setProfile] = useState<Profile>(now);
  const [left, setLeft] = useState<readonly string[]>([]);
  // With `act` nothing is ticked for a person: trust is given to each. What was not ticked here stays as it is.
  const [ticked, setTicked] = useState<Readonly<Record<string, boolean>>>({});
  const [saved, setSaved] = useState<number>();
  const { failed, busy, attempt } = useAttempt();
  const acts = profile === "act";
  const shown = acts ? devices.filter((device) => device.acts.length > 0) : devices;
  const isChosen = ({ id, mode }: Device) => (acts ? (ticked[id] ?? mode === "allowed") : !left.includes(id));
  const chosen = shown.filter((device) => isChosen(device) && !(acts && device.mode === "allowed"));
  // One that is ticked no more asks again.
  const ended = shown.filter((device) => acts && device.mode === "allowed" && !isChosen(device));
  const toggle = (device: Device) => {
    const { id } = device;
    if (acts) setTicked({ ...ticked, [id]: !isChosen(device) });
    else setLeft(left.includes(id) ? left.filter((one) => one !== id) : [...left, id]);
    setSaved(undefined);
  };
  const save = () =>
    attempt(async () => {
      setSaved(undefined);
      const of = (some: readonly Device[]) => some.map(({ id, allow }) => ({ id, allow }));
      try {
        if (chosen.length > 0)
          await client.json("PUT /v1/profile", { body: { profile, devices: of(chosen) } });
        if (ended.length > 0)
          await client.json("PUT /v1/profile", { body: { profile: "ask", devices: of(ended) } });
      } finally {
        await look();
      }
      setTicked((now) => (now === ticked ? {} : now));
      setSaved(chosen.length + ended.length);
    });
  return (
    <Form class="list" aria-label={say("profileTitle")} onSend={save}>
      {PROFILES.map(({ id, name, about }) => (
        <label class="check">
          <input
            type="radio"
            name="profile"
            checked={profile === id}
            onChange={() => {
              setProfile(id);
              setSaved(undefined);
            }}
          />
          <span>
            <strong>{say(name)}</strong>
            <br />
            {say(about)}
          </span>
        </label>
      ))}
      <p class="quiet">{say("profileAlways")}</p>
      <fieldset>
        <legend>{say("profileFor")}</legend>
        {shown.map((device) => (
          <Check checked={isChosen(device)} onCheck={() => toggle(device)}>
            <span>
              {visible(device.area === null ? device.name : `${device.name}, ${device.area}`)}
              {acts && <Actions device={device} isTicked={isChosen(device)} />}
            </span>
          </Check>
        ))}
      </fieldset>
      <div class="row">
        <button type="submit" class="small good" disabled={busy || chosen.length + ended.length === 0}>
          {say("save")}
        </button>
        <span role="status">{saved !== undefined && say("profileSaved", { count: saved })}</span>
      </div>
      <Problem text={failed} />
    </Form>
  );
}

/** Exactly what is written for it, and what asks all the same. */
function Actions({ device: { acts, asks }, isTicked }: { device: Device; isTicked: boolean }) {
  const names = (of: readonly string[]) => ({ names: visible(of.join(", ")) });
  return (
    <small class="quiet">
      <br />
      {say(isTicked ? "profileActs" : "profileWould", names(acts))}
      {asks.length > 0 && `; ${say("profileAsks", names(asks))}`}
    </small>
  );
}

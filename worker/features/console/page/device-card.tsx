/** One device of the broker: how it is, its controls, and behind a button everything else. */
import type { DeviceView, SessionView } from "@edgecall/client/routes.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { Actions } from "./actions.tsx";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { Small } from "./controls.tsx";
import { DeviceControls } from "./device-controls.tsx";
import { mainReadings } from "./device-groups.ts";
import { DeviceSettings } from "./device-settings.tsx";
import { Problem } from "./load.tsx";
import { NewText } from "./new-text.tsx";
import { Sure } from "./sure.tsx";
import { ago } from "./times.ts";

type Props = { device: DeviceView; session: SessionView; look: () => void };
type Reading = NonNullable<DeviceView["readings"]>[number];

type CardProps = Props & {
  /** It shows everything. */
  opened: boolean;
  onOpen: (open: boolean) => void;
};

export function DeviceCard({ device, session, look, opened, onOpen }: CardProps) {
  const { id, name, online, mode, changed, readings } = device;
  const may = (scope: NonNullable<SessionView["scopes"]>[number]) => session.scopes?.includes(scope) ?? false;
  const { failed, attempt } = useAttempt(look);
  const allowAgain = () =>
    attempt(() =>
      client.json("PATCH /v1/devices/{device}", {
        path: { device: id },
        // The device as it is shown here: one that changes meanwhile is not allowed.
        body: { mode: "allowed", allow: device.allow },
      }),
    );
  return (
    <article class={`card device ${online ? "online" : "offline"}`} aria-labelledby={`device-${id}`}>
      <header>
        <h3 id={`device-${id}`}>{visible(name)}</h3>
        <span class={`state ${online ? "online" : ""}`}>{stateOf(device)}</span>
      </header>
      {opened ? (
        <ReadingList readings={readings} />
      ) : (
        mainReadings(device).length > 0 && (
          <p class="readings">
            {mainReadings(device).map((reading) => (
              <span key={reading.name}>
                <span class="quiet">{visible(reading.name)}</span> <strong>{visible(reading.text)}</strong>{" "}
                <small>{ago(reading.at, Date.now())}</small>
              </span>
            ))}
          </p>
        )
      )}
      {!online && device.reason && <p class="quiet">{visible(device.reason)}</p>}
      {changed && (
        <div class="notice">
          <p>It has changed since you allowed it: its actions, or what they send, are others now.</p>
          {may("admin") && may("approve") && <Small onClick={() => allowAgain()}>Allow it again</Small>}
        </div>
      )}
      <Problem text={failed} />
      <NewText
        agent={{
          id,
          capabilities: device.line,
          hosted: true,
          ...(device.new_text && { new_text: device.new_text }),
        }}
        session={session}
        look={look}
      />
      {may("command") && (mode === "ask" || mode === "allowed") && (
        <DeviceControls device={device} session={session} look={look} isWhole={opened} />
      )}
      <div class="row">
        <button
          type="button"
          class="small plain"
          aria-expanded={opened}
          aria-label={`${opened ? "Less" : "More"} of ${name}`}
          onClick={() => onOpen(!opened)}
        >
          {opened ? "Less" : "More"}
        </button>
      </div>
      {opened && <Details device={device} session={session} look={look} />}
    </article>
  );
}

function stateOf({ online, ghost, last_seen, mode }: DeviceView): string {
  if (mode === "off") return "switched off";
  if (online) return "online";
  return ghost ? `gone, last heard ${ago(last_seen, Date.now())}` : "offline";
}

function ReadingList({ readings }: { readings: DeviceView["readings"] }) {
  if (!readings) return <p class="quiet">The bridge did not answer.</p>;
  if (readings.length === 0) return <p class="quiet">It reports nothing.</p>;
  const now = Date.now();
  return (
    <dl class="facts">
      {readings.map((reading) => (
        <div key={reading.name}>
          <dt>{visible(reading.name)}</dt>
          <dd>
            {visible(reading.text)} <small class="quiet">{ageOf(reading, now)}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function ageOf({ at, unavailable, value }: Reading, now: number): string {
  const age = at === null ? (value === null ? "" : "of unknown age") : ago(at, now);
  return [unavailable && "unavailable", age].filter(Boolean).join(", ");
}

function Details({ device, session, look }: Props) {
  const { id, model, publisher, last_seen, online, not_offered, mode } = device;
  const isAdmin = session.scopes?.includes("admin") ?? false;
  const { failed, attempt } = useAttempt(look);
  const forget = () => attempt(() => client.json("DELETE /v1/devices/{device}", { path: { device: id } }));
  const facts = [model, publisher && `described by ${publisher}`].filter(Boolean).join(", ");
  return (
    <>
      <p class="quiet">
        <code>{id}</code> {facts !== "" && visible(facts)}
        {!online && `. Last heard ${ago(last_seen, Date.now())}.`}
      </p>
      {not_offered.length > 0 && (
        <div>
          <h4>Not offered</h4>
          <ul>
            {not_offered.map(({ what, why }) => (
              <li key={what}>
                {visible(what)}: {visible(why)}
              </li>
            ))}
          </ul>
        </div>
      )}
      {session.scopes?.includes("command") && mode !== "off" && (
        <Actions agent={{ id, online }} session={session} />
      )}
      {isAdmin && <DeviceSettings key={device.allow} device={device} session={session} look={look} />}
      {isAdmin && !online && (
        <div class="row">
          <Sure
            label="Forget"
            about={device.name}
            note="It comes back if it describes itself again."
            onSure={() => void forget()}
          />
        </div>
      )}
      <Problem text={failed} />
    </>
  );
}

/** One device of the broker: its state and controls, who may change it, what was done lately, and everything about it. */
import type { DeviceView, SessionView } from "@edgecall/client/routes.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { useState } from "preact/hooks";
import { Actions } from "../actions.tsx";
import { addressOfPlace } from "../address.ts";
import { client } from "../api.ts";
import { useAttempt } from "../attempt.ts";
import { Small } from "../controls.tsx";
import { lazyPart } from "../lazy.tsx";
import { Problem } from "../load.tsx";
import { NewText } from "../new-text.tsx";
import { Line, Mark } from "../parts/parts.tsx";
import { PermissionLines, usePermissions } from "../permissions.tsx";
import { Sure } from "../sure.tsx";
import { agoText, say } from "../texts/say.ts";
import type { Reading, Thing } from "../things.ts";
import { DeviceControls } from "./device-controls.tsx";
import { DeviceSettings } from "./device-settings.tsx";
import { Lately } from "./lately.tsx";
import { ageText } from "./thing-row.tsx";

type Props = { device: DeviceView; thing: Thing; session: SessionView; look: () => Promise<unknown> };

export function DevicePage({ device, thing, session, look }: Props) {
  const { id, online, mode, changed, readings, reason } = device;
  const may = (scope: NonNullable<SessionView["scopes"]>[number]) => session.scopes?.includes(scope) ?? false;
  const { failed, attempt } = useAttempt(look);
  const now = Date.now();
  const allowAgain = () =>
    attempt(() =>
      client.json("PATCH /v1/devices/{device}", {
        path: { device: id },
        // The device as it is shown here: one that changes meanwhile is not allowed.
        body: { mode: "allowed", allow: device.allow },
      }),
    );
  return (
    <article class="card device-page" aria-labelledby={`device-${id}`}>
      <header>
        <Mark icon={thing.icon} tone={thing.tone} large />
        <div class="grow">
          <h2 id={`device-${id}`}>{thing.name}</h2>
          <p>
            <strong class={thing.tone === "bad" ? "bad-text" : undefined}>{thing.state}</strong>{" "}
            <span class="quiet">{[device.area, ageText(thing, now)].filter(Boolean).join(" · ")}</span>
          </p>
        </div>
      </header>
      {!online && reason && <p class="quiet">{visible(reason)}</p>}
      {changed && (
        <div class="notice" lang="en">
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
        <DeviceControls device={device} session={session} look={look} />
      )}
      <WhoMay device={device} session={session} />
      <section aria-labelledby={`reports-${id}`}>
        <h3 id={`reports-${id}`}>{say("reports")}</h3>
        <ReadingList readings={readings} now={now} />
      </section>
      {session.role !== "guest" && readings && <PastSince device={id} readings={readings} />}
      {may("admin") && <Lately agent={id} thing={thing} session={session} />}
      <About device={device} thing={thing} />
      {may("command") && mode !== "off" && device.actions.length > 0 && (
        <details>
          <summary>{say("allActions", { count: device.actions.length })}</summary>
          <Actions agent={{ id, online }} session={session} />
        </details>
      )}
      {may("admin") && <DeviceSettings key={device.allow} device={device} session={session} look={look} />}
      {may("admin") && !online && (
        <div class="row" lang="en">
          <Sure
            label="Forget"
            about={device.name}
            note="It comes back if it describes itself again."
            onSure={() =>
              void attempt(async () => {
                await client.json("DELETE /v1/devices/{device}", { path: { device: id } });
                location.hash = addressOfPlace("devices");
              })
            }
          />
        </div>
      )}
    </article>
  );
}

function ReadingList({ readings, now }: { readings: DeviceView["readings"]; now: number }) {
  if (!readings) return <p class="quiet">{say("bridgeSilent")}</p>;
  if (readings.length === 0) return <p class="quiet">{say("noReports")}</p>;
  return (
    <dl class="about">
      {readings.map((reading) => (
        <div key={reading.name} class={reading.unavailable ? "quiet" : undefined}>
          <dt>{visible(reading.name)}</dt>
          <dd>
            {visible(reading.text)} <small>{ageOf(reading, now)}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

const Past = lazyPart(async () => (await import("./past.tsx")).Past);

/** Drawn when it is opened. Free text is not kept. */
function PastSince({ device, readings }: { device: string; readings: readonly Reading[] }) {
  const [isOpen, setOpen] = useState(false);
  const kept = readings.filter(({ tainted }) => !tainted);
  if (kept.length === 0) return null;
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{say("past")}</summary>
      {isOpen && <Past device={device} readings={kept} />}
    </details>
  );
}

function ageOf({ at, unavailable, value }: Reading, now: number): string {
  const age = at === null ? (value === null ? "" : say("ageNotKnown")) : agoText(at, now);
  return [unavailable && say("unavailable"), age].filter(Boolean).join(", ");
}

/** What the device's mode means for this person and for the others. */
function WhoMay({ device: { id, mode, actions }, session }: { device: DeviceView; session: SessionView }) {
  const { permissions, look } = usePermissions(id);
  const changes = actions.filter(({ effect }) => effect !== "read");
  const isDangerous = changes.some(({ dangerous }) => dangerous);
  if (changes.length === 0) return null;
  const isHarmless = changes.some(({ dangerous }) => !dangerous);
  const may = (scope: "command" | "approve") => session.scopes?.includes(scope) ?? false;
  const mayHere = may("command") && isHarmless && (mode === "allowed" || mode === "ask");
  const isSome = permissions.length > 0;
  // The press of somebody else is asked about.
  const asksHere = mode === "ask" && !(session.role === "owner" && may("approve"));
  return (
    <section>
      <h3>{say("whoMayChange")}</h3>
      <ul class="rows who-may">
        <PermissionLines permissions={permissions} look={look} />
        {mayHere && (
          <Line
            mark={<Mark icon="check" tone="on" />}
            title={say("youHere")}
            second={asksHere ? say(isSome ? "restAsks" : "eachAsks") : isDangerous ? say("harmlessOnly") : ""}
          />
        )}
        {mode === "allowed" && (
          <Line
            mark={<Mark icon="check" tone="on" />}
            title={say("everybodyMay")}
            second={say("harmlessOnly")}
          />
        )}
        {mode === "ask" && (
          <Line
            mark={<Mark icon="clock" />}
            title={say("othersAsk")}
            second={isSome ? say("restAsks") : ""}
          />
        )}
        {isDangerous && mode !== "read" && mode !== "off" && (
          <Line mark={<Mark icon="shield" />} title={say("dangerousAsk")} />
        )}
        {(mode === "read" || mode === "off") && (
          <Line mark={<Mark icon="lock" />} title={say(mode === "read" ? "nobodyMay" : "switchedOff")} />
        )}
      </ul>
    </section>
  );
}

function About({
  device: { id, model, publisher, not_offered },
  thing,
}: {
  device: DeviceView;
  thing: Thing;
}) {
  const facts = [
    [say("comesFrom"), publisher ? visible(publisher) : thing.source],
    [say("model"), model && visible(model)],
    [say("name"), id],
  ] as const;
  return (
    <section>
      <h3>{say("about")}</h3>
      <dl class="about">
        {facts.map(([name, text]) =>
          text ? (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{text}</dd>
            </div>
          ) : null,
        )}
        {not_offered.length > 0 && (
          <div>
            <dt>{say("notOffered")}</dt>
            <dd lang="en">
              {not_offered.map(({ what, why }) => (
                <p key={what}>
                  {visible(what)}: {visible(why)}
                </p>
              ))}
            </dd>
          </div>
        )}
      </dl>
    </section>
  );
}

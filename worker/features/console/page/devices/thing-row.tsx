/** A row of the list: what it is, its state with its age, and the one thing that a press changes. */
import { addressOfPlace } from "../address.ts";
import { Small } from "../controls.tsx";
import { Mark, OnOff } from "../parts/parts.tsx";
import { agoText, say, type TextKey } from "../texts/say.ts";
import { type Kind, nameWithin, type Thing } from "../things.ts";
import type { Pressing } from "../use-press.ts";

/** An older state has its age beside it. */
const OLD_MS = 3_600_000;

const KIND_NAMES: Record<Kind, TextKey> = {
  light: "kindLight",
  plug: "kindPlug",
  door: "kindDoor",
  window: "kindWindow",
  climate: "kindClimate",
  cover: "kindCover",
  sensor: "kindSensor",
  machine: "machine",
  lent: "kindLent",
  other: "kindOther",
};

/** @returns the age of a state where it matters: an old one, or one whose time is not known */
export function ageText({ at, usable }: Pick<Thing, "at" | "usable">, now: number): string {
  if (at === null) return say("ageNotKnown");
  if (at === undefined || (usable && now - at < OLD_MS)) return "";
  return usable ? agoText(at, now) : say("lastHeard", { ago: agoText(at, now) });
}

type Props = { thing: Thing; isCurrent: boolean; pressing: Pressing };

export function ThingRow({ thing, isCurrent, pressing }: Props) {
  const { id, icon, tone, state, kind, source, wrong, press, usable } = thing;
  const busy = pressing.busy === id;
  const now = Date.now();
  const age = ageText(thing, now);
  const more = usable ? wrong.filter((one) => one !== state) : [];
  return (
    <li class={usable ? "thing" : "thing gone"}>
      <a class="hit" href={addressOfPlace("devices", id)} aria-current={isCurrent ? "true" : undefined}>
        <Mark icon={icon} tone={tone} />
        <span class="grow">
          <span class="name cut">{nameWithin(thing)}</span>
          <span class="second cut">
            {kind === "machine" ? source : `${say(KIND_NAMES[kind])} · ${source}`}
          </span>
        </span>
        <span class="says">
          <span class={tone === "bad" ? "is bad-text" : "is"}>{busy ? say("sent") : state}</span>
          {more.length > 0 && <span class="second wait">{more.join(", ")}</span>}
          {age !== "" && <span class="second">{age}</span>}
        </span>
      </a>
      <Control thing={thing} busy={busy} onPress={() => pressing.press(thing)} />
      {!usable && press === undefined && isSwitch(thing) && (
        <OnOff label={thing.name} on={false} disabled onChange={() => {}} />
      )}
    </li>
  );
}

/** What cannot be reached keeps its switch, and the switch looks so. */
function isSwitch({ device }: Thing): boolean {
  return (
    device?.mode !== "read" &&
    (device?.actions.some(
      ({ name, parameters, dangerous }) =>
        !dangerous &&
        name.startsWith("set") &&
        "on" in ((parameters as { properties?: object }).properties ?? {}),
    ) ??
      false)
  );
}

type ControlProps = { thing: Thing; busy: boolean; onPress: () => void };

function Control({ thing: { press, name }, busy, onPress }: ControlProps) {
  if (!press) return null;
  if (press.on !== undefined) return <OnOff label={name} on={press.on} disabled={busy} onChange={onPress} />;
  return (
    <Small disabled={busy} aria-label={say("named", { name: press.label, text: name })} onClick={onPress}>
      {press.label}
    </Small>
  );
}

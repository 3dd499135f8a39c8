/** The areas of the home, each with the states that matter: at most four tiles, and a press acts where it is harmless. */
import { useState } from "preact/hooks";
import { addressOfPlace } from "../address.ts";
import { Icon } from "../parts/icon.tsx";
import { Tile } from "../parts/parts.tsx";
import { say, spanText } from "../texts/say.ts";
import { climateOf, nameWithin, type Thing } from "../things.ts";
import type { Pressing } from "../use-press.ts";
import { useSteadyOrder } from "../use-steady-order.ts";
import { type Area, areasOf } from "./summary.ts";

const TILES = 4;
/** With more things than this, areas are closed but for those that need a look. */
const OPEN_MAX = 60;
/** An older state has its age beside it. */
const OLD_MS = 3_600_000;

export function Areas({ things, pressing }: { things: readonly Thing[]; pressing: Pressing }) {
  const areas = areasOf(things, useSteadyOrder(things));
  const isLarge = things.length > OPEN_MAX;
  return (
    <div class="areas">
      {areas.map((area) => (
        <AreaCard
          key={area.name}
          area={area}
          pressing={pressing}
          isClosed={isLarge && !area.things.some(needsIt)}
        />
      ))}
    </div>
  );
}

function needsIt({ wrong }: Thing): boolean {
  return wrong.length > 0;
}

function AreaCard({
  area: { name, things },
  pressing,
  isClosed,
}: {
  area: Area;
  pressing: Pressing;
  isClosed: boolean;
}) {
  const [opened, setOpened] = useState<boolean>();
  const isOpen = opened ?? !isClosed;
  const climate = climateOf(things);
  const on = things.filter(({ isOn }) => isOn).length;
  const wrong = things.filter(needsIt).length;
  // What its head says already is not said again, unless nothing else is left.
  const others = things.filter(
    ({ id, kind, wrong }) => id !== climate?.of || kind !== "sensor" || wrong.length > 0,
  );
  const shown = others.length > 0 ? others : things;
  const facts = [
    climate?.text,
    !isOpen && on > 0 && say("onCount", { count: on }),
    !isOpen && wrong > 0 && say("wrongCount", { count: wrong }),
  ].filter(Boolean);
  const id = `area-${name}`;
  return (
    <section class="card area-card" aria-label={name}>
      <div class="area-head">
        {isClosed && (
          <button
            type="button"
            class="round"
            aria-expanded={isOpen}
            aria-controls={id}
            aria-label={say(isOpen ? "close" : "open")}
            onClick={() => setOpened(!isOpen)}
          >
            <Icon name={isOpen ? "down" : "right"} />
          </button>
        )}
        <a href={addressOfPlace("devices", `:area:${name}`)}>
          <h2 class="cut">{name}</h2>
          <span class="second num">{facts.join(" · ")}</span>
          <Icon name="right" />
        </a>
      </div>
      {isOpen && (
        <div class="tiles" id={id}>
          {shown.slice(0, TILES).map((thing) => (
            <ThingTile key={thing.id} thing={thing} pressing={pressing} />
          ))}
        </div>
      )}
    </section>
  );
}

function ThingTile({ thing, pressing }: { thing: Thing; pressing: Pressing }) {
  const { id, icon, tone, state, press, at } = thing;
  const name = nameWithin(thing);
  const age = typeof at === "number" && Date.now() - at > OLD_MS ? `, ${spanText(Date.now() - at)}` : "";
  const busy = pressing.busy === id;
  return (
    <Tile
      icon={icon}
      tone={tone}
      is={busy ? say("sent") : state}
      about={at === null ? say("ageUnknown", { name }) : `${name}${age}`}
      busy={busy}
      {...(press
        ? { pressed: press.on, onPress: () => pressing.press(thing) }
        : { href: addressOfPlace("devices", id) })}
    />
  );
}

export function AreasSkeleton() {
  return (
    <div class="areas" role="status" aria-label={say("loading")}>
      {[0, 1, 2, 3].map((n) => (
        <div key={n} class="card area-card">
          <div class="skeleton">
            <span />
            <span />
            <span />
          </div>
        </div>
      ))}
    </div>
  );
}

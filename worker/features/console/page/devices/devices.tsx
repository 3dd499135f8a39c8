/** Devices: everything that the home has, by area, its state first. One of them is shown beside the list; on a phone in its place. */
import { visible } from "@edgecall/core/tools/visible.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { addressOfPlace } from "../address.ts";
import { FailedPress } from "../failed-press.tsx";
import { type Area, areasOf } from "../home/summary.ts";
import { useOwnQuestion } from "../later-sheet.tsx";
import type { ScreenProps } from "../lazy.tsx";
import { Problem, Screen, Skeleton } from "../load.tsx";
import { SearchBox } from "../pager.tsx";
import { Icon } from "../parts/icon.tsx";
import { Banner, Nothing } from "../parts/parts.tsx";
import { say, type TextKey } from "../texts/say.ts";
import { climateOf, type Thing } from "../things.ts";
import { useHome } from "../use-home.ts";
import { usePress } from "../use-press.ts";
import { useSteadyOrder } from "../use-steady-order.ts";
import { AddDevice } from "./add-device.tsx";
import { DevicePage } from "./device-page.tsx";
import { type Filter, fits, found, OFFERED, wantedOf } from "./groups.ts";
import { LentPage } from "./lent-page.tsx";
import { MachinePage } from "./machine-page.tsx";
import { ManyMachines } from "./many-machines.tsx";
import { ThingRow } from "./thing-row.tsx";

const WORDS_MAX = 200;
/** With more things than this, areas are closed but for those that need a look. */
const OPEN_MAX = 60;

const NAMES: Record<Filter, TextKey> = {
  all: "all",
  needs: "needsALook",
  on: "filterOn",
  away: "filterAway",
  machines: "machines",
  unasked: "mayActUnasked",
  lights: "lights",
  lit: "lightsThatAreOn",
  doors: "doors",
  windows: "windows",
  climate: "climate",
};

export function Devices({ session, item }: ScreenProps) {
  const wanted = wantedOf(item);
  const { things, isSilent, leftOut, machines, status, problem, reload } = useHome(session);
  const [words, setWords] = useState("");
  // The list stays as it was while one of it is shown.
  const kept = useRef<{ filter: Filter; area?: string | undefined }>({ filter: "all" });
  if (wanted.id === undefined && !wanted.adds) kept.current = { filter: wanted.filter, area: wanted.area };
  const { filter, area } = kept.current;
  const pressing = usePress(reload);
  useOwnQuestion(pressing.call);
  const all = things ?? [];
  const hasMany = machines !== undefined && machines.total > machines.listed;
  const shown = found(all, words).filter((thing) => fits(thing, filter));
  // Those are searched by the gateway, which has all of them.
  const isMany = hasMany && area === undefined && ["all", "away", "machines"].includes(filter);
  const order = useSteadyOrder(all);
  const areas = areasOf(isMany ? shown.filter(({ kind }) => kind !== "machine") : shown, order).filter(
    ({ name }) => area === undefined || name === area,
  );
  const isFolded = all.length > OPEN_MAX && words === "" && filter === "all" && area === undefined;
  const one = all.find(({ id }) => id === wanted.id);
  const backTo = addressOfPlace(
    "devices",
    area === undefined ? (filter === "all" ? undefined : `:${filter}`) : `:area:${area}`,
  );
  const mayAdd = session.scopes?.includes("admin") ?? false;
  const panel = wanted.adds || wanted.id !== undefined;
  return (
    <Screen
      title={say("devices")}
      tools={
        mayAdd && (
          <a class="button main" href={addressOfPlace("devices", ":add")}>
            <Icon name="plus" />
            {say("add")}
            <span class="unseen">{say("addDevice")}</span>
          </a>
        )
      }
    >
      <Problem text={problem} />
      {isSilent && <Banner kind="wait" icon="alarm" text={say("bridgeSilent")} />}
      <div class={panel ? "split" : undefined}>
        <div class="device-list">
          <search>
            <SearchBox label={say("findDevice")} initial={words} maxLength={WORDS_MAX} onText={setWords} />
          </search>
          <nav class="chips" aria-label={say("show")}>
            {[...new Set([filter, ...OFFERED])]
              .toSorted((a, b) => orderOf(a) - orderOf(b))
              .map((name) => (
                <a
                  key={name}
                  class={name === filter && area === undefined ? "chip on" : "chip"}
                  href={addressOfPlace("devices", name === "all" ? undefined : `:${name}`)}
                  aria-current={name === filter && area === undefined ? "true" : undefined}
                >
                  {say(NAMES[name])} <span class="quiet num">{countOf(all, name, machines?.total)}</span>
                </a>
              ))}
            {area !== undefined && (
              <a class="chip on" href={addressOfPlace("devices")} aria-label={say("notOnly", { name: area })}>
                {area} <Icon name="close" />
              </a>
            )}
          </nav>
          {!isMany && (words !== "" || filter !== "all") && (
            <p class="quiet" role="status">
              {say("foundCount", { count: shown.length })}
            </p>
          )}
          <FailedPress pressing={pressing} />
          {!things && !problem && <Skeleton lines={8} />}
          {things?.length === 0 && (
            <Nothing icon="devices" title={say("noDevices")} text={say("newText")}>
              {mayAdd && (
                <a class="button main" href={addressOfPlace("devices", ":add")}>
                  {say("addDevice")}
                </a>
              )}
            </Nothing>
          )}
          {areas.map((group) => (
            <Group
              key={group.name}
              group={group}
              isClosed={isFolded && !group.things.some(({ wrong }) => wrong.length > 0)}
              current={wanted.id}
              pressing={pressing}
            />
          ))}
          {isMany && (
            <Group
              group={{ name: say("machines"), things: shown.filter(({ kind }) => kind === "machine") }}
              isClosed={isFolded}
              current={wanted.id}
              pressing={pressing}
              many={{ words, filter, total: machines?.total ?? 0 }}
            />
          )}
          <datalist id="areas">
            {[...new Set(all.flatMap(({ area: of }) => of ?? []))].sort().map((name) => (
              <option value={name} />
            ))}
          </datalist>
          <LeftOut list={leftOut} />
        </div>
        {panel && (
          <div class="device-panel">
            <a class="round" href={backTo} aria-label={say("backToList")}>
              <Icon name="close" />
            </a>
            {wanted.adds && <AddDevice hasBridge={status?.bridge?.online ?? false} onJoined={reload} />}
            {wanted.id !== undefined && things && (
              <One
                key={wanted.id}
                id={wanted.id}
                thing={one}
                session={session}
                gateway={status?.version}
                look={reload}
              />
            )}
          </div>
        )}
      </div>
    </Screen>
  );
}

const orderOf = (filter: Filter) => (OFFERED.includes(filter) ? OFFERED.indexOf(filter) + 1 : 0);

function countOf(things: readonly Thing[], filter: Filter, machines: number | undefined): string {
  const count = things.filter((thing) => fits(thing, filter)).length;
  const listed = things.filter(({ kind }) => kind === "machine").length;
  const more = (filter === "all" || filter === "machines") && machines !== undefined ? machines - listed : 0;
  return (count + more).toLocaleString();
}

type OneProps = Pick<ScreenProps, "session"> & {
  id: string;
  thing: Thing | undefined;
  gateway: string | undefined;
  look: () => Promise<unknown>;
};

function One({ id, thing, session, gateway, look }: OneProps) {
  if (thing?.device) return <DevicePage device={thing.device} thing={thing} session={session} look={look} />;
  if (thing?.kind === "lent") return <LentPage thing={thing} />;
  return <MachinePage id={id} gateway={gateway} session={session} look={look} />;
}

type GroupProps = {
  group: Area;
  isClosed: boolean;
  current: string | undefined;
  pressing: ReturnType<typeof usePress>;
  /** There are more machines than were sent, so they are shown in pages. */
  many?: { words: string; filter: Filter; total: number };
};

function Group({ group: { name, things }, isClosed, current, pressing, many }: GroupProps) {
  const [isOpen, setOpen] = useState(!isClosed);
  useEffect(() => setOpen(!isClosed), [isClosed]);
  const wrong = things.filter((thing) => thing.wrong.length > 0).length;
  const on = things.filter((thing) => thing.isOn).length;
  const facts = [
    !isOpen && (many?.total ?? things.length).toLocaleString(),
    isOpen && climateOf(things)?.text,
    on > 0 && say("onCount", { count: on }),
    wrong > 0 ? say("wrongCount", { count: wrong }) : !isOpen && say("fine"),
  ].filter(Boolean);
  return (
    <details class="card area" open={isOpen} onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary>
        <Icon name="right" />
        <h2 class="grow cut">{name}</h2>
        <span class="second num">{facts.join(" · ")}</span>
      </summary>
      {isOpen &&
        (many ? (
          <ManyMachines words={many.words} filter={many.filter} current={current} pressing={pressing} />
        ) : (
          <ul class="rows">
            {things.map((thing) => (
              <ThingRow key={thing.id} thing={thing} isCurrent={thing.id === current} pressing={pressing} />
            ))}
          </ul>
        ))}
    </details>
  );
}

/** Also where no device is known at all: then it is the reason. */
function LeftOut({ list }: { list: readonly { why: string; count: number }[] }) {
  const count = list.reduce((sum, one) => sum + one.count, 0);
  return count === 0 ? null : (
    <details>
      <summary class="quiet">{say("leftOut", { count })}</summary>
      <ul lang="en">
        {list.map(({ why, count: of }) => (
          <li key={why}>
            {visible(why)}: {of}
          </li>
        ))}
      </ul>
    </details>
  );
}

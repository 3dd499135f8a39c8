/** The home in short: what needs a look, the chips, the areas. Pure. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { addressOfPlace } from "../address.ts";
import type { IconName, Tone } from "../parts/icon-paths.ts";
import { agoText, numberText, say, timeText } from "../texts/say.ts";
import { byWeight, climateOf, type Thing } from "../things.ts";

type Rule = AnswerOf<"GET /v1/rules">["rules"][number];
export type Need = {
  key: string;
  icon: IconName;
  tone: Tone;
  title: string;
  second: string;
  /** The firing that can be answered. */
  firing?: { rule: string; occurrence: number };
  href: string;
};

/** @returns those that fire first, then what is wrong, then what is only away */
export function needsOf(things: readonly Thing[], rules: readonly Rule[]): Need[] {
  const firing = rules
    .filter(({ status, state }) => status === "active" && state === "firing")
    .map((rule): Need => {
      // Of the state, which had to last before the rule fired.
      const since = rule.since ?? rule.last_firing;
      const [newest] = rule.history;
      return {
        key: rule.id,
        icon: "bell",
        tone: "bad",
        title: visible(rule.name),
        second: [
          rule.device && say("named", { name: visible(rule.device), text: visible(rule.condition) }),
          since !== null && say("since", { time: timeText(since, Date.now()) }),
        ]
          .filter(Boolean)
          .join(" · "),
        href: "#/rules",
        ...(newest?.acked_by === null && { firing: { rule: rule.id, occurrence: newest.occurrence } }),
      };
    });
  const wrong = things
    .filter(({ wrong }) => wrong.length > 0)
    .toSorted((a, b) => Number(b.tone === "bad") - Number(a.tone === "bad") || a.name.localeCompare(b.name));
  return [...firing, ...wrong.map(needOf)];
}

function needOf(thing: Thing): Need {
  const { id, name, area, wrong, tone, at } = thing;
  const isAway = tone === "gone";
  return {
    key: id,
    icon: isAway ? "away" : thing.icon,
    tone: tone === "bad" ? "bad" : "plain",
    title: say("named", { name, text: wrong.join(", ") }),
    second: [area, isAway && typeof at === "number" && say("lastHeard", { ago: agoText(at, Date.now()) })]
      .filter(Boolean)
      .join(" · "),
    href: addressOfPlace("devices", id),
  };
}

export type Chip = { show: string; icon: IconName; strong: string; quiet: string; on: boolean };

/** @param counts of the gateway, where it did not send each machine */
export function chipsOf(things: readonly Thing[], counts?: { known: number; online: number }): Chip[] {
  const of = (kind: Thing["kind"]) => things.filter((thing) => thing.kind === kind);
  const [lights, doors, windows] = [of("light"), of("door"), of("window")];
  const lit = lights.filter(({ isOn }) => isOn).length;
  const openDoors = doors.filter(isOpen).length;
  const openWindows = windows.filter(isOpen).length;
  const isLocked = doors.some(({ device }) => device?.readings?.some(({ kind }) => kind === "lock"));
  const rooms = Map.groupBy(things, ({ area }) => area ?? "");
  const temperatures = [...rooms]
    .flatMap(
      ([, members]) => climateOf(members.filter(({ kind }) => kind === "climate" || kind === "sensor")) ?? [],
    )
    .map(({ temperature }) => temperature)
    // A freezer and the garden are no rooms.
    .filter((value) => value > 12 && value < 35)
    .sort((a, b) => a - b);
  const middle = temperatures[Math.floor(temperatures.length / 2)];
  const isWhole = counts === undefined || counts.known <= things.length;
  const online = isWhole ? things.filter(({ usable }) => usable).length : counts.online;
  const known = isWhole ? things.length : counts.known;
  const chips: (Chip | false)[] = [
    lights.length > 0 && {
      show: lit > 0 ? "lit" : "lights",
      icon: "lamp",
      strong: say("lightsOn", { count: lit }),
      quiet: "",
      on: lit > 0,
    },
    doors.length > 0 && {
      show: "doors",
      icon: isLocked ? "lock" : "door",
      strong: say("doors"),
      quiet: openDoors > 0 ? say("openCount", { count: openDoors }) : say(isLocked ? "locked" : "closed"),
      on: false,
    },
    windows.length > 0 && {
      show: "windows",
      icon: "window",
      strong: say("windows"),
      quiet: openWindows > 0 ? say("openCount", { count: openWindows }) : say("closed"),
      on: false,
    },
    middle !== undefined && {
      show: "climate",
      icon: "heating",
      strong: `${numberText(middle)} °C`,
      quiet: say("inTheMiddle"),
      on: false,
    },
    {
      show: "all",
      icon: "devices",
      strong: online.toLocaleString(),
      quiet: say("ofOnline", { count: known }),
      on: false,
    },
  ];
  return chips.filter((chip) => chip !== false);
}

/** Of a door or a window; an unlocked door counts as one. */
function isOpen({ usable, device }: Thing): boolean {
  const all = device?.readings ?? [];
  return (
    usable &&
    all.some(({ kind, class: of, value }) =>
      kind === "lock"
        ? value === "unlocked"
        : kind === "binary_sensor" && OPENINGS.includes(of ?? "") && value === true,
    )
  );
}

const OPENINGS = ["door", "window", "garage_door", "opening"];

export type Area = { name: string; things: Thing[] };

/** By name; what has no area comes after them, machines last. @param order within an area */
export function areasOf(things: readonly Thing[], order: (a: Thing, b: Thing) => number = byWeight): Area[] {
  const groups = Map.groupBy(things, areaOf);
  return [...groups]
    .map(([name, members]) => ({ name, things: members.toSorted(order) }))
    .sort((a, b) => rankOf(a.things) - rankOf(b.things) || a.name.localeCompare(b.name));
}

function areaOf({ area, kind }: Pick<Thing, "area" | "kind">): string {
  if (area !== null) return area;
  if (kind === "machine") return say("machines");
  return kind === "lent" ? say("lentThings") : say("noArea");
}

function rankOf([first]: readonly Thing[]): number {
  if (first?.area != null) return 0;
  return first?.kind === "machine" ? 2 : first?.kind === "lent" ? 3 : 1;
}

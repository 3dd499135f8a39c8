/** SLURP's sentences. Those about lights, plugs, a vacuum and a coffee machine are commands; all others must not be taken. */
import { demoHome, type Home, type HomeDevice, type Kind } from "../homes.ts";
import type { Item } from "../item.ts";
import type { Act, Expected, Meaning } from "../meaning.ts";
import { namesIn, textOf } from "./files.ts";

interface Row {
  sentence: string;
  sentence_annotation: string;
  scenario: string;
  intent: string;
}

const ROOMS = ["living room", "kitchen", "bedroom", "bathroom", "hall"];
/** Not a room of its own. */
const WHOLE = /^(house|home|flat|apartment|interior|floor|carpet|overhead|house cleaning|(this )?room)$/;
const COLOURS = ["red", "green", "blue", "yellow", "orange", "purple", "pink", "white"];
/** The thing that an intent is about, and how it is called by its type. */
const THINGS: Record<string, [Kind, string]> = {
  hue: ["light", "light"],
  wemo: ["plug", "plug"],
  cleaning: ["vacuum", "vacuum"],
  coffee: ["plug", "coffee_machine"],
};

/** The sentences of `dataset/slurp/*.jsonl`, each once. */
export function slurpItems(folder: string): Item[] {
  const names = namesIn(folder, "dataset/slurp").filter((name) => name.endsWith(".jsonl"));
  const rows = names.flatMap((name) =>
    textOf(folder, "dataset/slurp", name)
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Row),
  );
  const each = new Map(rows.map((row) => [row.sentence, row]));
  return [...each.values()].map(itemOf);
}

function itemOf({ sentence: text, sentence_annotation: marked, scenario, intent }: Row): Item {
  const name = intent.replace(/^(iot|audio)_/, "");
  const command = scenario === "iot" || name.startsWith("volume_");
  if (!command)
    return { language: "en", intent: `other ${scenario}`, text, means: OTHERS(scenario), home: HOME };
  const place = spanOf(marked, "house_place")?.replace(/('s)?$/, "");
  const area = place === undefined || WHOLE.test(place) ? undefined : place;
  const thing = spanOf(marked, "device_type");
  const [kind, type] = THINGS[name.split("_")[0] ?? ""] ?? ["media", "media"];
  const named = thing === undefined || /lights|lamps|light$/.test(thing) ? undefined : thing;
  const target = named ?? (area === undefined ? type : `${type}@${area}`);
  const devices: HomeDevice[] =
    named === undefined ? [] : [{ id: named, name: named, kind, types: [type], readings: ["state"] }];
  const home: Home = { areas: [...new Set([...ROOMS, ...(area === undefined ? [] : [area])])], devices };
  const isLater = /\[(time|date|general_frequency)/.test(marked);
  const means = isLater
    ? "nothing"
    : actsOf(name, marked).map((act): Meaning => ({ acts: [{ ...act, to: [target] }] }));
  return { language: "en", intent: isLater ? "command with a time" : name, text, means, home };
}

/** Reminders and the clock are edgecall's own, so these scenarios only must not act. Small talk may be answered. */
const OTHERS = (scenario: string): Expected =>
  ["alarm", "calendar", "datetime"].includes(scenario)
    ? "no act"
    : scenario === "general"
      ? "either"
      : "nothing";

const HOME = demoHome("en");

const spanOf = (marked: string, type: string): string | undefined =>
  marked.match(new RegExp(`\\[${type} : ([^\\]]+)\\]`))?.[1]?.trim();

/** What an intent does. A light that changes by a value is set, whatever its intent is called. */
function actsOf(name: string, marked: string): Omit<Act, "to">[] {
  // "from blue to white".
  const colour = spanOf(marked.replace(/\bfrom \[color_type[^\]]*\]/, ""), "color_type");
  switch (name) {
    case "hue_lighton":
    case "wemo_on":
      return [{ do: "on" }];
    case "hue_lightoff":
    case "wemo_off":
      return [{ do: "off" }];
    case "hue_lightup":
      return [
        { do: "raise", what: "brightness" },
        { do: "set", what: "brightness" },
      ];
    case "hue_lightdim":
      return [
        { do: "lower", what: "brightness" },
        { do: "set", what: "brightness" },
      ];
    case "hue_lightchange":
      if (colour === undefined) return [{ do: "set" }];
      return [{ do: "set", what: "colour", ...(COLOURS.includes(colour) ? { value: colour } : {}) }];
    case "cleaning":
    case "coffee":
      return [{ do: "start" }];
    case "volume_up":
      return [{ do: "raise", what: "volume" }];
    case "volume_down":
      return [{ do: "lower", what: "volume" }];
    case "volume_mute":
      return [{ do: "mute" }];
    default:
      return [{ do: "set", what: "volume" }];
  }
}

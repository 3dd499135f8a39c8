/**
 * Kind and area of an agent. No advert has fields for them, so both are read out of the words of its line and its id, the line first.
 * They serve for counts and as a help in the search; nothing is refused by them.
 */
import { lazy } from "../text/lazy.ts";
import { stem, wordsOf } from "./words.ts";

/** Each kind with the words that mean it. */
const KIND_WORDS = {
  light: "light lamp bulb led spot strip licht lampe leuchte beleuchtung lumiere dali hue wled",
  climate:
    "temperature humidity thermometer climate bme280 ds18b20 temperatur klima feuchte humidite thermocouple probe",
  "air quality": "co2 air pm25 voc scd40 purifier luftqualitaet",
  heating:
    "thermostat heating heater radiator boiler heizung chauffage furnace stove trv sauna underfloor ballon",
  cooling: "aircon conditioner conditioning climatisation clim daikin",
  plug: "plug socket outlet steckdose relay",
  blind: "shutter blind awning curtain rollo volet markise shade jalousie vent",
  camera: "camera cam cctv webcam kamera babycam",
  lock: "lock schloss serrure locker",
  doorbell: "doorbell intercom klingel chime",
  door: "door gate barrier flap tor garagentor porte",
  contact: "contact mailbox window fenster emergency",
  presence: "motion pir presence occupancy radar taken parking bewegung",
  leak: "leak leck fuite flood",
  "smoke and gas": "smoke rauch rauchmelder gas monoxide co detector",
  alarm: "alarm siren burglar horn sirene",
  media:
    "player tv television speaker soundbar sonos echo music projector receiver radio beamer fernseher kodi",
  cleaning: "vacuum hoover roborock",
  mower: "mower automower maehroboter",
  appliance: "dishwasher oven washing dryer coffee fridge freezer refrigerator kettle microwave washer",
  watering: "irrigation sprinkler drip hose valve bewaesserung soil soaker",
  pump: "pump pumpe",
  tank: "tank cistern silo level trough dewar zisterne",
  pool: "pool tub aquarium pond",
  weather: "weather wetterstation frost",
  energy: "solar inverter pv photovoltaics battery wallbox charger charging ups generator speicher",
  meter: "meter zaehler compteur",
  network: "router access wifi firewall fritz freebox gateway lorawan zigbee bridge vpn",
  printer: "printer laserjet prusa ender octoprint",
  server: "server nas host nuc backup synology",
  computer: "raspberry pi pi3 pi4 pi5 rpi desktop",
  display: "display screen panel sign signage kiosk mirror paper",
  tracker: "gps tracker collar position forklift tractor anchor",
  animal: "feeder dispenser hive coop",
  ventilation: "ventilation fan extractor extraction ventilator lueftung luefter absaugung hood",
  access: "badge reader clock",
  laboratory: "centrifuge incubator autoclave balance pcr hplc spectrometer sequencer shaker thermocycler",
  machine:
    "machine cnc lathe press robot crane lift elevator conveyor compressor cutter milling belt dryer vibration andon",
  scale: "scale weighbridge waage",
} as const;

export type Kind = keyof typeof KIND_WORDS | "other";

/** By stems. A program that only starts does not need it. */
const byStem = lazy(() => ({
  // SAFETY: the keys are kinds.
  kinds: stems(KIND_WORDS) as ReadonlyMap<string, Kind>,
  areas: stems(AREA_WORDS),
}));

function stems(words: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(words).flatMap(([name, all]) =>
      all.split(" ").map((word): [string, string] => [stem(word), name]),
    ),
  );
}

/** What the names of actions tell where neither line nor id do. */
const KIND_OF_ACTION: ReadonlyArray<[names: string, kind: Kind]> = [
  ["set_brightness set_color turn_on", "light"],
  ["snapshot", "camera"],
  ["unlock", "lock"],
  ["set_volume now_playing", "media"],
  ["set_target", "heating"],
  ["switch", "plug"],
  ["bash gpio_read", "computer"],
];

/** Areas with the words of ids and lines that mean them; the first word that fits counts. */
const AREA_WORDS: Readonly<Record<string, string>> = {
  "living room": "living livingroom lounge wohnzimmer wz salon",
  kitchen: "kitchen kueche cuisine kitchenette",
  "dining room": "dining esszimmer",
  bedroom: "bedroom schlafzimmer sz chambre",
  "children's room": "nursery babyzimmer kinderzimmer",
  "guest room": "guest gaestezimmer",
  bathroom: "bathroom bath bad wc toilet restroom shower",
  hallway: "hallway landing flur corridor hall stair",
  "home office": "study arbeitszimmer",
  cellar: "cellar basement keller",
  laundry: "laundry waschkueche utility",
  attic: "attic loft dachboden",
  garage: "garage driveway carport einfahrt",
  terrace: "terrace patio terrasse balcony balcon",
  garden: "garden garten yard lawn jardin shed pool pond terrarium tree",
  greenhouse: "greenhouse gewaechshaus",
  "meeting room": "meeting boardroom",
  "server room": "serverroom server rack",
  office: "office hq",
  factory: "factory shipping assembly",
  laboratory: "lab laboratory chemistry",
  farm: "farm barn cowshed pasture stable orchard field",
  roof: "roof dach",
  entrance: "entrance front porch reception lobby",
};

const AT_WORK =
  /\b(?:office(?! chair)|hq|factory|warehouse|company|lab(?:oratory)?|farm|meeting room|hall \d|shop floor|ward|classroom|hotel)\b(?<!home office)/i;

type Described = { id: string; line: string; actions: ReadonlyArray<{ name: string }> };

/** The stems of an agent's own words: kind and area are those of the first word that tells one. */
function ownStems({ id, line }: Pick<Described, "id" | "line">): string[] {
  return [...wordsOf(line), ...wordsOf(id)].map(stem);
}

/** @returns "other" where nothing tells */
export function kindOf(agent: Described, stems: readonly string[] = ownStems(agent)): Kind {
  return (
    firstOf(stems, byStem().kinds) ??
    KIND_OF_ACTION.find(([names]) =>
      agent.actions.some(({ name }) => names.split(" ").includes(name)),
    )?.[1] ??
    "other"
  );
}

/** @returns undefined where nothing tells. "hall 2", "flat 4" and the like keep their number. */
export function areaOf(
  agent: Pick<Described, "id" | "line">,
  stems: readonly string[] = ownStems(agent),
): string | undefined {
  if (/\bhome office\b/i.test(agent.line)) return "home office";
  const numbered = /\b(hall|flat|floor|room|building|pasture|greenhouse) ?#?(\d{1,3})\b/i.exec(agent.line);
  if (numbered) return `${numbered[1]?.toLowerCase()} ${numbered[2]}`;
  return firstOf(stems, byStem().areas);
}

/** Tells whether the agent is somewhere where people work, by its own words. */
export function isAtWork({ id, line }: Pick<Described, "id" | "line">): boolean {
  return AT_WORK.test(`${id} ${line}`);
}

function firstOf<Value>(stems: readonly string[], known: ReadonlyMap<string, Value>): Value | undefined {
  for (const word of stems) {
    const value = known.get(word);
    if (value !== undefined) return value;
  }
  return undefined;
}

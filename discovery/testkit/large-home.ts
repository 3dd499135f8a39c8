/**
 * A large home for tests: 300 devices with 1,700 entities, as one publisher describes them. A fifth of them has its names in each of
 * five languages, in twelve rooms of five devices.
 */
import type { DeviceCatalog } from "../catalog.ts";
import { NOW, newCatalog } from "./device-cases.ts";

const LANGUAGES = ["en", "de", "fr", "pl", "zh"] as const;
type Language = (typeof LANGUAGES)[number];

type Names = {
  rooms: string;
  /** Names the device in each room's socket. */
  plugged: string;
  /** The name of a device from its room's: {R}, {r} in lower case, {C} in a compound; {P} is what is plugged in. */
  lamp: string;
  window: string;
  climate: string;
  plug: string;
  blind: string;
  motion: string;
  leak: string;
  lock: string;
  smoke: string;
  /** Rooms as the first part of a compound, where the language has one. */
  compounds?: string;
};

const NAMES: Readonly<Record<Language, Names>> = {
  en: {
    rooms:
      "Kitchen,Living room,Bedroom,Bathroom,Guest bathroom,Children's room,Office,Hallway,Cellar,Garage,Garden,Attic",
    plugged:
      "Fridge,TV,Fan heater,Towel rail,Hair dryer,Night light,Printer,Router,Freezer,Charger,Pond pump,Fan",
    lamp: "{R} ceiling lamp",
    window: "{R} window",
    climate: "{R} climate",
    plug: "{P} plug",
    blind: "{R} blind",
    motion: "{R} motion",
    leak: "{R} leak sensor",
    lock: "{R} lock",
    smoke: "{R} smoke alarm",
  },
  de: {
    rooms:
      "Küche,Wohnzimmer,Schlafzimmer,Badezimmer,Gästebad,Kinderzimmer,Büro,Flur,Keller,Garage,Garten,Dachboden",
    compounds:
      "Küchen,Wohnzimmer,Schlafzimmer,Badezimmer,Gästebad,Kinderzimmer,Büro,Flur,Keller,Garagen,Garten,Dachboden",
    plugged:
      "Kühlschrank,Fernseher,Heizlüfter,Handtuchtrockner,Föhn,Nachtlicht,Drucker,Router,Gefriertruhe,Ladegerät,Teichpumpe,Ventilator",
    lamp: "{C}lampe",
    window: "Fenster {R}",
    climate: "Raumklima {R}",
    plug: "Steckdose {P}",
    blind: "Rollladen {R}",
    motion: "Bewegungsmelder {R}",
    leak: "Wassermelder {R}",
    lock: "Türschloss {R}",
    smoke: "Rauchmelder {R}",
  },
  fr: {
    rooms:
      "Cuisine,Salon,Chambre,Salle de bain,Salle de bain invités,Chambre d'enfant,Bureau,Couloir,Cave,Garage,Jardin,Grenier",
    plugged:
      "réfrigérateur,télévision,radiateur d'appoint,sèche-serviettes,sèche-cheveux,veilleuse,imprimante,box internet,congélateur,chargeur,pompe du bassin,ventilateur",
    lamp: "Plafonnier {r}",
    window: "Fenêtre {r}",
    climate: "Climat {r}",
    plug: "Prise {P}",
    blind: "Volet {r}",
    motion: "Détecteur de mouvement {r}",
    leak: "Détecteur de fuite {r}",
    lock: "Serrure {r}",
    smoke: "Détecteur de fumée {r}",
  },
  pl: {
    rooms:
      "Kuchnia,Salon,Sypialnia,Łazienka,Łazienka gości,Pokój dziecięcy,Biuro,Korytarz,Piwnica,Garaż,Ogród,Strych",
    plugged:
      "lodówka,telewizor,grzejnik,suszarka ręczników,suszarka do włosów,lampka nocna,drukarka,router,zamrażarka,ładowarka,pompa stawu,wentylator",
    lamp: "{R} lampa",
    window: "Okno {R}",
    climate: "Czujnik klimatu {R}",
    plug: "Gniazdko {P}",
    blind: "Roleta {R}",
    motion: "Czujnik ruchu {R}",
    leak: "Czujnik zalania {R}",
    lock: "Zamek {R}",
    smoke: "Czujnik dymu {R}",
  },
  zh: {
    rooms: "厨房,客厅,卧室,浴室,客用浴室,儿童房,书房,走廊,地下室,车库,花园,阁楼",
    plugged: "冰箱,电视,暖风机,毛巾架,吹风机,小夜灯,打印机,路由器,冰柜,充电器,水泵,风扇",
    lamp: "{R}吸顶灯",
    window: "{R}窗户",
    climate: "{R}温湿度",
    plug: "{P}插座",
    blind: "{R}窗帘",
    motion: "{R}人体感应",
    leak: "{R}水浸",
    lock: "{R}门锁",
    smoke: "{R}烟雾报警器",
  },
};

/** Names the kind of each room's last device. */
const FIFTH = [
  "leak",
  "blind",
  "blind",
  "leak",
  "leak",
  "motion",
  "motion",
  "lock",
  "smoke",
  "smoke",
  "motion",
  "smoke",
] as const;

/** Rooms, by their places, in which something is the case. Elsewhere it is not. */
type Cases = Record<"open" | "on" | "low" | "humid" | "warm" | "wet" | "moving" | "drawing", number[]>;
const CASES: Readonly<Record<Language, Cases>> = {
  en: {
    open: [0, 2, 11],
    on: [1, 5],
    low: [3, 8],
    humid: [3, 8],
    warm: [6, 11],
    wet: [4],
    moving: [10],
    drawing: [0],
  },
  de: {
    open: [0, 11],
    on: [1, 8],
    low: [1, 9],
    humid: [3, 8],
    warm: [2],
    wet: [0],
    moving: [6],
    drawing: [8],
  },
  fr: {
    open: [2, 9],
    on: [0, 6],
    low: [2, 7],
    humid: [3],
    warm: [1, 11],
    wet: [3],
    moving: [5],
    drawing: [1],
  },
  pl: {
    open: [0, 4],
    on: [3, 7],
    low: [0, 5],
    humid: [3, 8],
    warm: [2],
    wet: [4],
    moving: [10],
    drawing: [8],
  },
  zh: {
    open: [1, 3],
    on: [0, 7],
    low: [2, 10],
    humid: [3],
    warm: [6, 11],
    wet: [0],
    moving: [5],
    drawing: [1],
  },
};

type Part = [
  kind: string,
  name: string | null,
  key: string,
  value: unknown,
  more?: Record<string, unknown>,
  aside?: boolean,
];
const numbers = (unit: string, device_class?: string) => ({
  unit_of_measurement: unit,
  state_class: "measurement",
  ...(device_class !== undefined && { device_class }),
});
const battery = (value: number): Part => [
  "sensor",
  "Battery",
  "battery",
  value,
  numbers("%", "battery"),
  true,
];
const LINK: Part = ["sensor", "Linkquality", "linkquality", 120, numbers("lqi"), true];
const VOLTAGE: Part = ["sensor", "Voltage", "voltage", 2.9, numbers("V", "voltage"), true];
const TAMPER: Part = ["binary_sensor", "Tamper", "tamper", "OFF", { device_class: "tamper" }, true];
const binary = (of: string, isOn: boolean): Part => [
  "binary_sensor",
  null,
  of,
  isOn ? "ON" : "OFF",
  { device_class: of },
];

type Thing = "lamp" | "window" | "climate" | "plug" | (typeof FIFTH)[number];

function partsOf(thing: Thing, room: number, cases: Cases): Part[] {
  const has = (what: keyof Cases) => cases[what].includes(room);
  const rest = [battery(90 - room), LINK, VOLTAGE];
  switch (thing) {
    case "lamp":
      return [
        ["light", null, "light", has("on") ? "ON" : "OFF"],
        ["sensor", "Power", "power", has("on") ? 9 : 0, numbers("W", "power")],
        LINK,
        [
          "update",
          null,
          "update",
          "1.0",
          { device_class: "firmware", latest_version_topic: "none", command_topic: "none/set" },
          true,
        ],
        ["button", "Identify", "identify", "", { command_topic: "none/set", device_class: "identify" }, true],
      ];
    case "window":
      return [binary("window", has("open")), ...rest, TAMPER];
    case "climate":
      return [
        ["sensor", "Temperature", "temperature", has("warm") ? 27.5 : 21, numbers("°C", "temperature")],
        ["sensor", "Humidity", "humidity", has("humid") ? 64 : 45, numbers("%", "humidity")],
        ["sensor", "Pressure", "pressure", 1008, numbers("hPa", "pressure")],
        battery(has("low") ? 8 + room : 81),
        LINK,
        VOLTAGE,
        // Without unit and class: a text.
        ...(room % 3 === 2 ? [["sensor", "Level", "level", `${room}`] as Part] : []),
      ];
    case "plug":
      return [
        ["switch", null, "switch", "ON", { command_topic: "none/set" }],
        ["sensor", "Power", "power", has("drawing") ? 140 : 12, numbers("W", "power")],
        ["sensor", "Energy", "energy", 31.5, numbers("kWh", "energy")],
        ["sensor", "Voltage", "voltage", 231, numbers("V", "voltage")],
        ["sensor", "Current", "current", 0.4, numbers("A", "current")],
        ["sensor", "Device temperature", "chip", 41, numbers("°C", "temperature"), true],
        LINK,
      ];
    case "blind":
      return [
        [
          "cover",
          null,
          "position",
          40,
          { command_topic: "none/set", position: true, device_class: "shutter" },
        ],
        ...rest,
        ["sensor", "Motor temperature", "motor", 33, numbers("°C", "temperature"), true],
      ];
    case "motion":
      return [
        binary("motion", has("moving")),
        ["sensor", "Illuminance", "lux", 40, numbers("lx", "illuminance")],
        ...rest,
      ];
    case "leak":
      return [binary("moisture", has("wet")), ...rest, TAMPER];
    case "lock":
      return [
        ["lock", null, "lock", "LOCKED", { command_topic: "none/set" }],
        ["binary_sensor", "Door", "door", "OFF", { device_class: "door" }],
        ...rest,
      ];
    case "smoke":
      return [binary("smoke", false), ...rest, TAMPER];
  }
}

const capital = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** @returns the catalog with all devices and what they reported, and the number of entities */
export function largeHome(): { catalog: DeviceCatalog; entities: number } {
  const catalog = newCatalog();
  let entities = 0;
  for (const language of LANGUAGES) {
    const names = NAMES[language];
    const rooms = names.rooms.split(",");
    for (const [room, area] of rooms.entries()) {
      const things: Thing[] = ["lamp", "window", "climate", "plug", FIFTH[room] ?? "smoke"];
      for (const thing of things) {
        const words: Readonly<Record<string, string | undefined>> = {
          R: area,
          r: area.charAt(0).toLowerCase() + area.slice(1),
          C: names.compounds?.split(",")[room],
          P: names.plugged.split(",")[room],
        };
        const name = names[thing].replace(/\{(\w)\}/, (_, key: string) => words[key] ?? "");
        entities += announce(
          catalog,
          `${language}-${room}-${thing}`,
          capital(name),
          area,
          partsOf(thing, room, CASES[language]),
        );
      }
    }
  }
  return { catalog, entities };
}

function announce(
  catalog: DeviceCatalog,
  id: string,
  name: string,
  area: string,
  parts: readonly Part[],
): number {
  const topic = `zigbee2mqtt/${id}`;
  const device = { identifiers: [id], name, manufacturer: "IKEA", suggested_area: area };
  const state: Record<string, unknown> = {};
  for (const [kind, title, key, value, more = {}, aside = false] of parts) {
    state[key] = value;
    const { position, ...rest } = more;
    const config = {
      unique_id: `${id}-${key}`,
      name: title,
      device,
      ...(kind === "light"
        ? {
            schema: "json",
            state_topic: topic,
            command_topic: `${topic}/set`,
            brightness: true,
            supported_color_modes: ["color_temp"],
          }
        : position
          ? { position_topic: topic, position_template: `{{ value_json.${key} }}` }
          : kind === "button"
            ? {}
            : { state_topic: topic, value_template: `{{ value_json.${key} }}` }),
      ...(aside && { entity_category: "diagnostic" }),
      ...rest,
    };
    catalog.mqtt.config(`homeassistant/${kind}/${id}-${key}/config`, JSON.stringify(config), NOW);
    // As lamps report it, in mired: 3333 K.
    if (kind === "light")
      Object.assign(state, { state: value, brightness: 200, color_mode: "color_temp", color_temp: 300 });
  }
  catalog.mqtt.state(topic, JSON.stringify(state), { now: NOW, retained: false });
  return parts.length;
}

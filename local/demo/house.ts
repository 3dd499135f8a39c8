/** The rooms and the devices of the demo home. What they do is in `model.ts`, what they publish is in `publishers/`. */

export type Publisher = "zigbee2mqtt" | "esphome" | "tasmota" | "rtl_433";

export type Kind =
  | "light"
  | "plug"
  | "contact"
  | "thermometer"
  | "air"
  | "cover"
  | "climate"
  | "fan"
  | "lock"
  | "motion"
  | "leak"
  | "valve"
  | "presence";

/** What a light, a plug or a thermometer has beyond its kind. */
type Ability = "brightness" | "white" | "colour" | "power" | "humidity";

/**
 * The values of a device; those that its kind does not have are absent. Temperatures are in °C, humidity and position in percent,
 * power in W, CO2 in ppm. `brightness` and `speed` are in the publisher's own scale.
 */
export type State = {
  on?: boolean;
  brightness?: number;
  mireds?: number;
  xy?: readonly [number, number];
  power?: number;
  open?: boolean;
  temperature?: number;
  humidity?: number;
  co2?: number;
  position?: number;
  /** The position to which it moves now. */
  target?: number;
  setpoint?: number;
  mode?: "off" | "auto" | "heat";
  isHeating?: boolean;
  speed?: number;
  isLocked?: boolean;
  isOccupied?: boolean;
  isWet?: boolean;
  isHome?: boolean;
  /** Percent of its battery. */
  battery?: number;
};

export type DemoDevice = {
  name: string;
  room: string;
  kind: Kind;
  publisher: Publisher;
  can: readonly Ability[];
  /** `dead`: it never answers a command. `lies`: it reports a change and takes that back at once. */
  fault?: "dead" | "lies";
  starts: State;
};

/** Readings of a room that its devices share. */
export type Room = { name: string; isOutside?: true; temperature: number; humidity: number };

export const ROOMS: readonly Room[] = [
  { name: "Kitchen", temperature: 21.2, humidity: 48 },
  { name: "Living room", temperature: 20.6, humidity: 44 },
  { name: "Bedroom", temperature: 18.3, humidity: 51 },
  { name: "Bathroom", temperature: 22.4, humidity: 58 },
  { name: "Hall", temperature: 19.5, humidity: 46 },
  { name: "Office", temperature: 20.9, humidity: 42 },
  { name: "Garden", isOutside: true, temperature: 8.4, humidity: 81 },
  { name: "Laundry", temperature: 19.2, humidity: 55 },
];

type Rest = Partial<Pick<DemoDevice, "can" | "fault" | "starts">>;

/** Values that each device of a kind begins with. */
const STARTS: Readonly<Record<Kind, State>> = {
  light: { on: false },
  plug: { on: true },
  contact: { open: false, battery: 88 },
  thermometer: { battery: 94 },
  air: { co2: 640 },
  cover: { position: 100, target: 100, battery: 72 },
  climate: { mode: "heat", setpoint: 20.5, isHeating: false, battery: 65 },
  fan: { on: false, speed: 1 },
  lock: { isLocked: true, battery: 81 },
  motion: { isOccupied: false, battery: 77 },
  leak: { isWet: false, battery: 97 },
  valve: { open: true },
  presence: { isHome: true },
};

function devicesIn(
  room: string,
  ...devices: ReadonlyArray<readonly [string, Kind, Publisher, Rest?]>
): DemoDevice[] {
  return devices.map(([name, kind, publisher, { can = [], starts, ...rest } = {}]) => ({
    name,
    room,
    kind,
    publisher,
    can,
    ...rest,
    starts: { ...STARTS[kind], ...starts },
  }));
}

export const DEVICES: readonly DemoDevice[] = [
  ...devicesIn(
    "Kitchen",
    [
      "Kitchen light",
      "light",
      "zigbee2mqtt",
      { can: ["brightness", "white"], starts: { on: true, brightness: 203, mireds: 370 } },
    ],
    ["Counter light", "light", "zigbee2mqtt", { can: ["brightness"], starts: { on: true, brightness: 127 } }],
    ["Kitchen window", "contact", "zigbee2mqtt"],
    ["Freezer", "thermometer", "rtl_433", { starts: { temperature: -18.4 } }],
    ["Fridge", "plug", "tasmota", { can: ["power"], starts: { power: 82 } }],
    ["Kitchen sensor", "thermometer", "zigbee2mqtt", { can: ["humidity"] }],
  ),
  ...devicesIn(
    "Living room",
    [
      "Reading lamp",
      "light",
      "zigbee2mqtt",
      { can: ["brightness", "colour"], starts: { brightness: 152, xy: [0.4599, 0.4106] } },
    ],
    ["Ceiling light", "light", "esphome", { can: ["brightness"], starts: { brightness: 204 } }],
    ["TV", "plug", "tasmota"],
    ["Blinds", "cover", "zigbee2mqtt"],
    ["Living room window", "contact", "zigbee2mqtt"],
    ["Living room heating", "climate", "zigbee2mqtt", { starts: { setpoint: 21 } }],
    ["Air quality", "air", "esphome"],
  ),
  ...devicesIn(
    "Bedroom",
    [
      "Bedroom light",
      "light",
      "zigbee2mqtt",
      { can: ["brightness"], fault: "dead", starts: { brightness: 254 } },
    ],
    ["Bedroom window", "contact", "zigbee2mqtt", { starts: { open: true } }],
    ["Bedroom thermometer", "thermometer", "rtl_433", { can: ["humidity"] }],
    ["Bedroom heating", "climate", "zigbee2mqtt", { starts: { setpoint: 17.5, battery: 38 } }],
  ),
  ...devicesIn(
    "Bathroom",
    ["Bathroom light", "light", "esphome"],
    ["Bathroom fan", "fan", "esphome"],
    ["Bathroom sensor", "thermometer", "zigbee2mqtt", { can: ["humidity"], starts: { battery: 9 } }],
  ),
  ...devicesIn(
    "Hall",
    ["Front door", "lock", "zigbee2mqtt"],
    ["Door contact", "contact", "zigbee2mqtt"],
    ["Hall light", "light", "tasmota"],
    ["Hall motion", "motion", "zigbee2mqtt"],
  ),
  ...devicesIn(
    "Office",
    ["Desk lamp", "light", "zigbee2mqtt", { can: ["brightness"], starts: { on: true, brightness: 178 } }],
    ["Office plug", "plug", "tasmota", { fault: "lies", starts: { on: false } }],
    ["Office thermometer", "thermometer", "esphome"],
  ),
  ...devicesIn(
    "Garden",
    ["Gate motion", "motion", "zigbee2mqtt"],
    ["Garden thermometer", "thermometer", "rtl_433"],
    ["Garden pump", "plug", "tasmota", { starts: { on: false } }],
  ),
  ...devicesIn(
    "Laundry",
    ["Washing machine", "plug", "tasmota", { can: ["power"], starts: { power: 180 } }],
    ["Leak sensor", "leak", "zigbee2mqtt"],
    ["Dryer", "plug", "tasmota", { starts: { on: false } }],
  ),
  // A device's address is of its place in this list, so new ones stand at the end.
  ...devicesIn("Laundry", ["Water valve", "valve", "esphome"]),
  ...devicesIn("Hall", ["Phone", "presence", "esphome"]),
];

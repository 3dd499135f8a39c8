/** The demo home, with its names in ten languages. The English name of a device is its id in the tests. */
import type { Language } from "@edgecall/core/text/languages.ts";

export type Kind =
  | "light"
  | "plug"
  | "switch"
  | "cover"
  | "lock"
  | "fan"
  | "climate"
  | "contact"
  | "motion"
  | "moisture"
  | "sensor"
  | "media"
  | "vacuum"
  | "valve"
  | "mower"
  | "scene"
  | "machine";

export interface HomeDevice {
  id: string;
  /** What a person calls it. */
  name: string;
  area?: string;
  floor?: string;
  kind: Kind;
  /** What such a thing is called by its type, beside its kind: "window", "blind", "fridge". */
  types?: string[];
  /** What can be read of it. */
  readings: string[];
}

export interface Home {
  areas: string[];
  floors?: string[];
  devices: HomeDevice[];
  /** There are no other devices, so "the coffee machine" is none. Public sets tell of the devices that they name alone. */
  isWhole?: boolean;
}

type Row = [area: string, kind: Kind, readings: string, types?: string];

const DEVICES: Record<string, Row> = {
  "Kitchen light": ["Kitchen", "light", "state brightness"],
  "Counter light": ["Kitchen", "light", "state brightness"],
  "Kitchen window": ["Kitchen", "contact", "state", "window"],
  Freezer: ["Kitchen", "sensor", "temperature", "freezer thermometer"],
  Fridge: ["Kitchen", "plug", "state power", "fridge"],
  "Kitchen sensor": ["Kitchen", "sensor", "temperature humidity"],
  "Reading lamp": ["Living room", "light", "state brightness"],
  "Ceiling light": ["Living room", "light", "state brightness"],
  TV: ["Living room", "plug", "state", "television"],
  Blinds: ["Living room", "cover", "state position", "blind shutter curtain"],
  "Living room window": ["Living room", "contact", "state", "window"],
  "Living room heating": ["Living room", "climate", "temperature", "heating thermostat"],
  "Air quality": ["Living room", "sensor", "carbon_dioxide temperature"],
  "Bedroom light": ["Bedroom", "light", "state brightness"],
  "Bedroom window": ["Bedroom", "contact", "state", "window"],
  "Bedroom thermometer": ["Bedroom", "sensor", "temperature humidity", "thermometer"],
  "Bedroom heating": ["Bedroom", "climate", "temperature", "heating thermostat"],
  "Bathroom light": ["Bathroom", "light", "state brightness"],
  "Bathroom fan": ["Bathroom", "fan", "state speed"],
  "Bathroom sensor": ["Bathroom", "sensor", "temperature humidity"],
  "Front door": ["Hall", "lock", "state", "door"],
  "Door contact": ["Hall", "contact", "state", "door"],
  "Hall light": ["Hall", "light", "state"],
  "Hall motion": ["Hall", "motion", "state"],
  "Desk lamp": ["Office", "light", "state brightness"],
  "Office plug": ["Office", "plug", "state"],
  "Office thermometer": ["Office", "sensor", "temperature", "thermometer"],
  "Gate motion": ["Garden", "motion", "state"],
  "Garden thermometer": ["Garden", "sensor", "temperature", "thermometer"],
  "Garden pump": ["Garden", "switch", "state", "pump"],
  "Washing machine": ["Laundry", "plug", "state power", "washing_machine"],
  "Leak sensor": ["Laundry", "moisture", "state", "leak_sensor sensor"],
  Dryer: ["Laundry", "plug", "state", "dryer"],
};
const AREAS = ["Kitchen", "Living room", "Bedroom", "Bathroom", "Hall", "Office", "Garden", "Laundry"];
const MACHINE_READINGS =
  "disk memory load temperature uptime services log address processes picture online version";

const idsOf = (kind: Kind, type?: string): string[] =>
  Object.entries(DEVICES)
    .filter(([, row]) => row[1] === kind && (type === undefined || row[3] === type))
    .map(([id]) => id);

export const LIGHTS = idsOf("light");
export const WINDOWS = idsOf("contact", "window");

/** Names in the order of `DEVICES`, then the areas in the order of `AREAS`. */
const NAMES: Record<Exclude<Language, "en">, { devices: string; areas: string }> = {
  de: {
    devices:
      "Küchenlicht, Thekenlicht, Küchenfenster, Gefrierschrank, Kühlschrank, Küchensensor, Leselampe, Deckenlampe, Fernseher, Rollos, Wohnzimmerfenster, Wohnzimmerheizung, Luftqualität, Schlafzimmerlicht, Schlafzimmerfenster, Schlafzimmerthermometer, Schlafzimmerheizung, Badlicht, Badlüfter, Badsensor, Haustür, Türkontakt, Flurlicht, Flurmelder, Schreibtischlampe, Bürosteckdose, Bürothermometer, Tormelder, Gartenthermometer, Gartenpumpe, Waschmaschine, Wassermelder, Trockner",
    areas: "Küche, Wohnzimmer, Schlafzimmer, Bad, Flur, Büro, Garten, Waschküche",
  },
  fr: {
    devices:
      "Lumière de la cuisine, Lampe du plan de travail, Fenêtre de la cuisine, Congélateur, Frigo, Capteur de la cuisine, Liseuse, Plafonnier, Télé, Volets, Fenêtre du salon, Chauffage du salon, Qualité de l'air, Lumière de la chambre, Fenêtre de la chambre, Thermomètre de la chambre, Chauffage de la chambre, Lumière de la salle de bain, Ventilateur de la salle de bain, Capteur de la salle de bain, Porte d'entrée, Contact de porte, Lumière de l'entrée, Détecteur de l'entrée, Lampe de bureau, Prise du bureau, Thermomètre du bureau, Détecteur du portail, Thermomètre du jardin, Pompe du jardin, Machine à laver, Détecteur de fuite, Sèche-linge",
    areas: "Cuisine, Salon, Chambre, Salle de bain, Entrée, Bureau, Jardin, Buanderie",
  },
  es: {
    devices:
      "Luz de la cocina, Luz de la encimera, Ventana de la cocina, Congelador, Nevera, Sensor de la cocina, Lámpara de lectura, Luz del techo, Tele, Persianas, Ventana del salón, Calefacción del salón, Calidad del aire, Luz del dormitorio, Ventana del dormitorio, Termómetro del dormitorio, Calefacción del dormitorio, Luz del baño, Ventilador del baño, Sensor del baño, Puerta principal, Contacto de la puerta, Luz del pasillo, Movimiento del pasillo, Lámpara del escritorio, Enchufe del despacho, Termómetro del despacho, Movimiento de la verja, Termómetro del jardín, Bomba del jardín, Lavadora, Sensor de fugas, Secadora",
    areas: "Cocina, Salón, Dormitorio, Baño, Pasillo, Despacho, Jardín, Lavadero",
  },
  it: {
    devices:
      "Luce della cucina, Luce del piano di lavoro, Finestra della cucina, Congelatore, Frigorifero, Sensore della cucina, Lampada da lettura, Lampadario, Televisore, Tapparelle, Finestra del soggiorno, Riscaldamento del soggiorno, Qualità dell'aria, Luce della camera, Finestra della camera, Termometro della camera, Riscaldamento della camera, Luce del bagno, Ventola del bagno, Sensore del bagno, Porta d'ingresso, Contatto della porta, Luce del corridoio, Movimento del corridoio, Lampada da scrivania, Presa dello studio, Termometro dello studio, Movimento del cancello, Termometro del giardino, Pompa del giardino, Lavatrice, Sensore di perdite, Asciugatrice",
    areas: "Cucina, Soggiorno, Camera, Bagno, Corridoio, Studio, Giardino, Lavanderia",
  },
  nl: {
    devices:
      "Keukenlamp, Aanrechtlamp, Keukenraam, Vriezer, Koelkast, Keukensensor, Leeslamp, Plafondlamp, Tv, Rolgordijnen, Woonkamerraam, Woonkamerverwarming, Luchtkwaliteit, Slaapkamerlamp, Slaapkamerraam, Slaapkamerthermometer, Slaapkamerverwarming, Badkamerlamp, Badkamerventilator, Badkamersensor, Voordeur, Deurcontact, Ganglamp, Gangmelder, Bureaulamp, Kantoorstekker, Kantoorthermometer, Poortmelder, Tuinthermometer, Tuinpomp, Wasmachine, Lekmelder, Droger",
    areas: "Keuken, Woonkamer, Slaapkamer, Badkamer, Gang, Kantoor, Tuin, Washok",
  },
  pl: {
    devices:
      "Światło w kuchni, Lampka nad blatem, Okno w kuchni, Zamrażarka, Lodówka, Czujnik w kuchni, Lampka do czytania, Lampa sufitowa, Telewizor, Rolety, Okno w salonie, Ogrzewanie w salonie, Jakość powietrza, Światło w sypialni, Okno w sypialni, Termometr w sypialni, Ogrzewanie w sypialni, Światło w łazience, Wentylator w łazience, Czujnik w łazience, Drzwi wejściowe, Czujnik drzwi, Światło w przedpokoju, Ruch w przedpokoju, Lampka na biurku, Gniazdko w biurze, Termometr w biurze, Ruch przy bramie, Termometr w ogrodzie, Pompa w ogrodzie, Pralka, Czujnik zalania, Suszarka",
    areas: "Kuchnia, Salon, Sypialnia, Łazienka, Przedpokój, Biuro, Ogród, Pralnia",
  },
  pt: {
    devices:
      "Luz da cozinha, Luz da bancada, Janela da cozinha, Congelador, Frigorífico, Sensor da cozinha, Candeeiro de leitura, Luz do teto, Televisão, Estores, Janela da sala, Aquecimento da sala, Qualidade do ar, Luz do quarto, Janela do quarto, Termómetro do quarto, Aquecimento do quarto, Luz da casa de banho, Ventoinha da casa de banho, Sensor da casa de banho, Porta da frente, Contacto da porta, Luz do corredor, Movimento do corredor, Candeeiro da secretária, Tomada do escritório, Termómetro do escritório, Movimento do portão, Termómetro do jardim, Bomba do jardim, Máquina de lavar, Sensor de fugas, Máquina de secar",
    areas: "Cozinha, Sala, Quarto, Casa de banho, Corredor, Escritório, Jardim, Lavandaria",
  },
  cs: {
    devices:
      "Světlo v kuchyni, Světlo nad linkou, Okno v kuchyni, Mrazák, Lednička, Senzor v kuchyni, Lampička na čtení, Stropní světlo, Televize, Žaluzie, Okno v obýváku, Topení v obýváku, Kvalita vzduchu, Světlo v ložnici, Okno v ložnici, Teploměr v ložnici, Topení v ložnici, Světlo v koupelně, Ventilátor v koupelně, Senzor v koupelně, Vchodové dveře, Dveřní kontakt, Světlo v předsíni, Pohyb v předsíni, Stolní lampa, Zásuvka v pracovně, Teploměr v pracovně, Pohyb u brány, Teploměr na zahradě, Čerpadlo na zahradě, Pračka, Čidlo úniku vody, Sušička",
    areas: "Kuchyň, Obývák, Ložnice, Koupelna, Předsíň, Pracovna, Zahrada, Prádelna",
  },
  zh: {
    devices:
      "厨房灯, 台面灯, 厨房窗户, 冰柜, 冰箱, 厨房传感器, 阅读灯, 吸顶灯, 电视, 百叶窗, 客厅窗户, 客厅暖气, 空气质量, 卧室灯, 卧室窗户, 卧室温度计, 卧室暖气, 浴室灯, 浴室风扇, 浴室传感器, 前门, 门磁, 走廊灯, 走廊人体感应, 台灯, 书房插座, 书房温度计, 大门人体感应, 花园温度计, 花园水泵, 洗衣机, 漏水传感器, 烘干机",
    areas: "厨房, 客厅, 卧室, 浴室, 走廊, 书房, 花园, 洗衣房",
  },
};

/** The demo home as a person of that language named it. */
export function demoHome(language: Language): Home {
  const names = language === "en" ? undefined : NAMES[language];
  const devices = names?.devices.split(", ") ?? Object.keys(DEVICES);
  const areas = names?.areas.split(", ") ?? AREAS;
  const rows = Object.entries(DEVICES);
  if (devices.length !== rows.length || areas.length !== AREAS.length)
    throw new Error(`${language} has ${devices.length} names and ${areas.length} areas`);
  const home: HomeDevice[] = rows.map(([id, [area, kind, readings, types]], at) => ({
    id,
    name: devices[at] ?? id,
    area: areas[AREAS.indexOf(area)] ?? area,
    kind,
    ...(types === undefined ? {} : { types: types.split(" ") }),
    readings: readings.split(" "),
  }));
  home.push({ id: "vm", name: "vm", kind: "machine", readings: MACHINE_READINGS.split(" ") });
  return { areas, devices: home, isWhole: true };
}

/** Words of authors and languages differ here, and a person who says one of them means the others too. */
const ALIKE = [
  ["blind", "shutter"],
  ["plug", "switch"],
  ["heating", "thermostat", "climate"],
  ["media", "media_player", "speaker"],
  ["machine", "device"],
  ["garage_door", "garage"],
];
const alike = (type: string): string => ALIKE.find((types) => types.includes(type))?.[0] ?? type;

const isOfType = ({ kind, types = [] }: HomeDevice, type: string): boolean =>
  [kind, ...types].some((own) => alike(own) === alike(type));

/** The devices that names of a meaning stand for: `light@Kitchen` are the lights of the kitchen. The name itself where the home has none. */
export const devicesOf = (home: Home, names: string[]): string[] =>
  names.flatMap((name) => {
    if (home.devices.some(({ id }) => id === name)) return [name];
    const [type = "", place] = name.split("@");
    const found = home.devices
      .filter((device) => isOfType(device, type))
      .filter(({ area, floor }) => place === undefined || area === place || floor === place)
      .map(({ id }) => id);
    return found.length > 0 ? found : [place === undefined ? alike(type) : `${alike(type)}@${place}`];
  });

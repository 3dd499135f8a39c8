/** Homes of any number of names for the reader, and a sentence that means one thing in each. */
import type { NamedThing } from "@edgecall/core/sentences/names.ts";
import type { Language } from "@edgecall/core/text/languages.ts";

/** The request to the Worker of this measurement: names and words as texts. */
export type FirstSentence = { sentence: string; names: string; words: string };

type ReaderHome = {
  language: Language;
  sentence: string;
  areas: readonly string[];
  things: readonly string[];
  /** Between a name's area, its thing and its number. */
  space: string;
};

export const HOMES: readonly ReaderHome[] = [
  {
    language: "en",
    sentence: "turn off the kitchen light",
    areas: words(
      "Kitchen,Living room,Bedroom,Bathroom,Hall,Office,Garden,Laundry,Attic,Cellar,Garage,Nursery,Guest room,Study,Porch",
    ),
    things: words(
      "light,lamp,window,heating,sensor,plug,fan,blinds,thermometer,motion,door,switch,camera,speaker,TV,humidity,valve,lock,pump,meter",
    ),
    space: " ",
  },
  {
    language: "de",
    sentence: "schalte das Licht in der Küche aus",
    areas: words(
      "Küche,Wohnzimmer,Schlafzimmer,Bad,Flur,Büro,Garten,Waschküche,Dachboden,Keller,Garage,Kinderzimmer,Gästezimmer,Arbeitszimmer,Terrasse",
    ),
    things: words(
      "Licht,Lampe,Fenster,Heizung,Sensor,Steckdose,Lüfter,Rollo,Thermometer,Bewegung,Tür,Schalter,Kamera,Lautsprecher,Fernseher,Feuchte,Ventil,Schloss,Pumpe,Zähler",
    ),
    space: " ",
  },
  {
    language: "zh",
    sentence: "关掉厨房的灯",
    areas: words("厨房,客厅,卧室,浴室,走廊,办公室,花园,洗衣房,阁楼,地下室,车库,儿童房,客房,书房,阳台"),
    things: words(
      "灯,台灯,窗户,暖气,传感器,插座,风扇,窗帘,温度计,移动,门,开关,摄像头,音箱,电视,湿度,阀门,锁,水泵,电表",
    ),
    space: "",
  },
];

function words(list: string): string[] {
  return list.split(",");
}

/** @returns as many devices, and the areas */
export function namesIn({ areas, things, space }: ReaderHome, count: number): NamedThing[] {
  const devices = Array.from({ length: count }, (_, at): NamedThing => {
    const area = areas[at % areas.length] ?? "";
    const number = Math.floor(at / (areas.length * things.length));
    const thing = things[Math.floor(at / areas.length) % things.length] ?? "";
    const name = [area, thing, ...(number > 0 ? [String(number + 1)] : [])].join(space);
    return { id: `d${at}`, name, of: "device", own: true, area };
  });
  return count === 0
    ? []
    : [...devices, ...areas.map((name): NamedThing => ({ id: name, name, of: "area" }))];
}

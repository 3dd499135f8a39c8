/**
 * Words in a name by which a change counts as dangerous: heat, water, gas, ways in, noise, and what takes a machine away. They are a
 * help and no more, since a name is a claim; the first change of every device asks anyway.
 */
import { fold } from "@edgecall/core/agents/words.ts";

/**
 * What is expected of a thing of this name. `heat` goes on by itself for a time and has to go off again, `fire` burns or explodes
 * where nobody looks after it, `machine` is taken away by it.
 */
export type DangerKind = "heat" | "fire" | "way" | "noise" | "alarm" | "machine";

/** English, German, French, Spanish, Italian, Dutch, Polish; folded as `fold` does. */
const WORDS: Readonly<Record<DangerKind, string>> = {
  heat: `
    heater boiler furnace pump heizluefter heizstrahler heizstab kessel therme pumpe chauffage chaudiere pompe
    calentador caldera bomba caldaia pompa ketel pomp kociol
  `,
  fire: `
    oven stove hob cooker fireplace kiln iron fryer gas sauna igniter herd ofen kochfeld kochplatte kamin buegeleisen gashahn
    gasventil cuisiniere poele gaz horno estufa stufa forno fornello kachel fornuis piekarnik kuchenka piec
  `,
  way: `
    door gate garage unlock tuer tor hoftor garagentor einfahrtstor rolltor gartentor entriegeln aufschliessen tueroeffner
    porte portail deverrouiller puerta porton garaje desbloquear porta cancello portone sbloccare deur poort ontgrendelen
    drzwi brama garaz odblokuj
  `,
  noise: "siren horn sirene hupe sirena syrena",
  alarm: "alarm alarme alarma allarme",
  machine: `
    shutdown poweroff reboot restart factory format erase wipe neustart neustarten herunterfahren werkseinstellung formatieren
    loeschen redemarrer formater effacer reiniciar formatear borrar riavvia riavviare formattare cancellare herstarten
    afsluiten wissen restartuj formatuj usun
  `,
};

/** Places: a lamp's says nothing about the lamp. */
const PLACES: ReadonlySet<string> = new Set(
  "door gate garage tuer tor hoftor garagentor einfahrtstor gartentor porte portail puerta porton garaje porta cancello portone deur poort drzwi brama garaz kamin fireplace".split(
    " ",
  ),
);

const KNOWN: ReadonlyMap<string, DangerKind> = new Map(
  Object.entries(WORDS).flatMap(([kind, words]) =>
    words
      .trim()
      .split(/\s+/)
      // SAFETY: it is a key of WORDS.
      .map((word) => [word, kind as DangerKind] as const),
  ),
);

/** Ends of words that are written as one: `Umwaelzpumpe`, `waterheater`, `haustuer`. */
const ENDS = /(?<!in|out)(door)$|(tuer|heater|boiler|pumpe?|alarm|sirene?|garage|kessel|ofen)$/;
/** Their beginnings: `Alarmanlage`. */
const BEGINS = /^(alarm|garage|siren|boiler|pumpe|gasherd|gastherme)/;

/** @returns the word of a name that makes it dangerous */
export function dangerWord(name: string, kind: string, more: ReadonlySet<string>): string | undefined {
  return wordsIn(name, kind, more)[0]?.word;
}

/** The kinds of all such words of a name; undefined: the word is an owner's own. */
export function dangerKinds(
  name: string,
  kind: string,
  more: ReadonlySet<string>,
): (DangerKind | undefined)[] {
  return wordsIn(name, kind, more).map(({ found }) => (found === undefined ? undefined : kindOf(found)));
}

/** @property found the known word in it; undefined: it is an owner's own */
type Found = { word: string; found?: string };

function wordsIn(name: string, kind: string, more: ReadonlySet<string>): Found[] {
  const parts = fold(name.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")).match(/[\p{L}\p{N}]+/gu) ?? [];
  // "shut down" and "power off" are written both ways.
  const pairs = parts.slice(1).map((part, at) => `${parts[at]}${part}`);
  return [...parts, ...pairs].flatMap((word): Found[] => {
    if (more.has(word)) return [{ word }];
    const found = wordIn(word);
    return found === undefined || (kind === "light" && PLACES.has(found)) ? [] : [{ word, found }];
  });
}

function kindOf(found: string): DangerKind {
  const known = KNOWN.get(found) ?? KNOWN.get(found.replace(SINGULAR, ""));
  return known ?? (found.startsWith("gas") ? "fire" : "machine");
}

/** The owner's own words, as `dangerWord` compares them. */
export function foldedWords(words: readonly string[]): ReadonlySet<string> {
  return new Set(words.map(fold));
}

const SINGULAR = /(?:en|es|s|n)$/;

function wordIn(part: string): string | undefined {
  const singular = part.replace(SINGULAR, "");
  const known = [part, singular].find((word) => KNOWN.has(word));
  return known ?? ENDS.exec(part)?.slice(1).find(Boolean) ?? BEGINS.exec(part)?.[1];
}

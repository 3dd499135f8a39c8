/**
 * Words in a name by which a change counts as dangerous: heat, water, gas, ways in, noise, and what takes a machine away. They are a
 * help and no more, since a name is a claim; the first change of every device asks anyway.
 */
import { fold } from "@edgecall/core/agents/words.ts";

/** English, German, French, Spanish, Italian, Dutch, Polish; folded as `fold` does. */
const WORDS = `
heater oven stove hob cooker boiler furnace fireplace kiln iron fryer pump gas alarm siren horn door gate garage unlock
shutdown poweroff reboot restart factory format erase wipe sauna igniter
heizluefter heizstrahler heizstab herd ofen kochfeld kochplatte kamin buegeleisen kessel therme pumpe gashahn gasventil sirene
hupe tuer tor hoftor garagentor einfahrtstor rolltor gartentor entriegeln aufschliessen tueroeffner
neustart neustarten herunterfahren werkseinstellung formatieren loeschen
chauffage chaudiere cuisiniere poele pompe gaz alarme porte portail deverrouiller redemarrer formater effacer
calentador horno estufa caldera bomba alarma sirena puerta porton garaje desbloquear reiniciar formatear borrar
stufa forno fornello caldaia pompa allarme porta cancello portone sbloccare riavvia riavviare formattare cancellare
kachel fornuis ketel pomp deur poort ontgrendelen herstarten afsluiten wissen
piekarnik kuchenka piec kociol syrena drzwi brama garaz odblokuj restartuj formatuj usun
`;

/** Places: a lamp's says nothing about the lamp. */
const PLACES: ReadonlySet<string> = new Set(
  "door gate garage tuer tor hoftor garagentor einfahrtstor gartentor porte portail puerta porton garaje porta cancello portone deur poort drzwi brama garaz kamin fireplace".split(
    " ",
  ),
);

const KNOWN: ReadonlySet<string> = new Set(WORDS.split(/\s+/).filter((word) => word !== ""));

/** Ends of words that are written as one: `Umwaelzpumpe`, `waterheater`, `haustuer`. */
const ENDS = /(?<!in|out)(door)$|(tuer|heater|boiler|pumpe?|alarm|sirene?|garage|kessel|ofen)$/;
/** Their beginnings: `Alarmanlage`. */
const BEGINS = /^(alarm|garagen?|siren|boiler|pumpen|gasherd|gastherme)/;

/** @returns the word of a name that makes it dangerous */
export function dangerWord(name: string, kind: string, more: ReadonlySet<string>): string | undefined {
  const parts = fold(name.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")).match(/[\p{L}\p{N}]+/gu) ?? [];
  // "shut down" and "power off" are written both ways.
  const pairs = parts.slice(1).map((part, at) => `${parts[at]}${part}`);
  for (const part of [...parts, ...pairs]) {
    if (more.has(part)) return part;
    const found = wordIn(part);
    if (found !== undefined && !(kind === "light" && PLACES.has(found))) return part;
  }
  return undefined;
}

/** The owner's own words, as `dangerWord` compares them. */
export function foldedWords(words: readonly string[]): ReadonlySet<string> {
  return new Set(words.map(fold));
}

function wordIn(part: string): string | undefined {
  const singular = part.replace(/(?:en|es|s|n)$/, "");
  const known = [part, singular].find((word) => KNOWN.has(word));
  return known ?? ENDS.exec(part)?.slice(1).find(Boolean) ?? BEGINS.exec(part)?.[1];
}

import { describe, expect, test } from "vitest";
import { IS_SHORT } from "../../test/clock.ts";
import { LANGUAGES, type Language } from "../text/languages.ts";
import type { Frame, Target, Understood } from "./frame.ts";
import type { LanguageData } from "./language.ts";
import { cs } from "./languages/cs.ts";
import { de } from "./languages/de.ts";
import { en } from "./languages/en.ts";
import { es } from "./languages/es.ts";
import { fr } from "./languages/fr.ts";
import { it } from "./languages/it.ts";
import { nl } from "./languages/nl.ts";
import { pl } from "./languages/pl.ts";
import { pt } from "./languages/pt.ts";
import { zh } from "./languages/zh.ts";
import { makeLexicon } from "./lexicon.ts";
import { type NamedThing, NameTable } from "./names.ts";
import { readSentence } from "./read.ts";
import { COMMAND_WORDS, MUTATIONS } from "./testkit/commands.ts";
import { CS } from "./testkit/czech.ts";
import { NL } from "./testkit/dutch.ts";
import { type Home, homeOf, slipOf } from "./testkit/homes.ts";
import { PL } from "./testkit/polish.ts";
import { randomOf } from "./testkit/random.ts";
import { ROMANCE_WORDS } from "./testkit/romance.ts";
import { keyOf } from "./words.ts";

const DATA: Readonly<Record<Language, LanguageData>> = { en, de, fr, es, it, nl, pl, pt, cs, zh };
/** For each change the first two fifths of the sentences are read, at night all: they take a minute of a processor. */
const SHARE = IS_SHORT ? 0.4 : 1;
/** A language. */
const COMMANDS = 2_000 * SHARE;
/** A language and a mutation. */
const MUTATED = 1_280 * SHARE;
const SLIPS = 800 * SHARE;
/** Commands that are said in one home. */
const A_HOME = 200;

const tested = LANGUAGES.flatMap((language) => {
  const words = { ...COMMAND_WORDS, ...ROMANCE_WORDS, nl: NL, pl: PL, cs: CS }[language];
  const data = DATA[language];
  return data && words ? [{ language, words, lexicon: makeLexicon(data) }] : [];
});

describe.each(tested)("in $language", ({ words, lexicon, language }) => {
  const others = tested.filter((one) => one.language !== language).map((one) => one.lexicon);
  const all = [lexicon, ...others];

  test("commands in homes of colliding names reach no other device", () => {
    const random = randomOf(61);
    const wrong: string[] = [];
    let right = 0;
    let own = 0;
    for (
      let at = 0, home = homeOf(words, random), names = new NameTable(home.things);
      at < COMMANDS;
      at += 1
    ) {
      if (at % A_HOME === 0) {
        home = homeOf(words, random);
        names = new NameTable(home.things);
      }
      const device = random.pick(home.devices);
      const area = home.areas.find(({ id }) => id === device.area);
      const isPlaced = area !== undefined && random.below(3) === 0;
      const command = random.pick(words.commands);
      const sentence = command.say(isPlaced ? words.inArea(device.name, area.name) : device.name);
      const understood = readSentence(sentence, names, all);
      const isWord = (device.own === true ? words.grammar : words.roles).includes(device.name);
      if (!isWord && isOther(understood, device, home))
        wrong.push(`${sentence}: ${JSON.stringify(understood)}`);
      // A name that is an area's, or a word with a role, is asked about.
      if (device.own !== true || words.roles.includes(device.name)) continue;
      own += 1;
      if (understood.result === "one") right += 1;
    }
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(right / own).toBeGreaterThan(0.95);
  });

  test.each(MUTATIONS)("a command with a %s never acts", (mutation) => {
    const random = randomOf(62);
    const acts: string[] = [];
    for (
      let at = 0, home = homeOf(words, random), names = new NameTable(home.things);
      at < MUTATED;
      at += 1
    ) {
      if (at % A_HOME === 0) {
        home = homeOf(words, random);
        names = new NameTable(home.things);
      }
      const { name } = random.pick(home.devices);
      const sentence = random.pick(words.mutations[mutation])(random.pick(words.commands).say(name), name);
      const understood = readSentence(sentence, names, all);
      if (framesOf(understood).some(({ kind }) => kind === "act"))
        acts.push(`${sentence}: ${JSON.stringify(understood)}`);
    }
    expect(acts.slice(0, 5)).toEqual([]);
  });

  test("a slip of one letter reaches no other device without its exact name", () => {
    const random = randomOf(63);
    const wrong: string[] = [];
    for (let at = 0, home = homeOf(words, random), names = new NameTable(home.things); at < SLIPS; at += 1) {
      if (at % A_HOME === 0) {
        home = homeOf(words, random);
        names = new NameTable(home.things);
      }
      const device = random.pick(home.devices);
      const sentence = random.pick(words.commands).say(slipOf(device.name, random));
      const understood = readSentence(sentence, names, all);
      if (understood.result !== "one") continue;
      const said = ` ${keyOf(sentence)} `;
      for (const target of targetsOf(understood.frames))
        if (target.of === "named" && !target.ids.includes(device.id) && !spells(said, target.name))
          wrong.push(`${sentence}: ${JSON.stringify(understood)}`);
    }
    expect(wrong.slice(0, 5)).toEqual([]);
  });
});

/** With or without blanks: "Flur Lampe" and "Flurlampe". */
function spells(said: string, name: string): boolean {
  return (
    said.includes(` ${keyOf(name)} `) || said.replaceAll(" ", "").includes(keyOf(name).replaceAll(" ", ""))
  );
}

function framesOf(understood: Understood): readonly Frame[] {
  if (understood.result === "one") return understood.frames;
  return understood.result === "several" ? understood.meanings.flatMap(({ frames }) => frames) : [];
}

function targetsOf(frames: readonly Frame[]): Target[] {
  return frames.flatMap((frame) => ("target" in frame && frame.target ? [frame.target] : []));
}

/** An act on what has not this name. What is asked back or not understood reaches nothing. */
function isOther(understood: Understood, device: NamedThing, home: Home): boolean {
  if (understood.result !== "one") return false;
  return targetsOf(understood.frames).some((target) => {
    if (target.of === "named")
      return !target.ids.includes(device.id) || target.ids.some((id) => !isNamesake(id, device, home));
    // A publisher's name that is a word of a type is that word, and the device is among those that fit.
    return (
      device.own === true ||
      (target.of === "type" && target.number === "one" && !target.named?.includes(device.id))
    );
  });
}

function isNamesake(id: string, device: NamedThing, home: Home): boolean {
  const other = home.devices.find((one) => one.id === id);
  return other !== undefined && keyOf(other.name) === keyOf(device.name);
}

/** Homes whose names collide, made by a seed. */
import type { NamedThing } from "../names.ts";
import type { CommandWords } from "./commands.ts";
import type { Random } from "./random.ts";

/** The kinds of collisions. */
const COLLISIONS = ["twin", "number", "role", "area", "part"] as const;
type Collision = (typeof COLLISIONS)[number];

export type Home = { things: NamedThing[]; devices: NamedThing[]; areas: NamedThing[] };

const DEVICES = 150;

/** @returns 150 devices in ten areas: of equal names, with numbers, of words with a role, named as areas, and parts of each other */
export function homeOf(words: CommandWords, random: Random): Home {
  const areas = words.areas.map(
    (name, at): NamedThing => ({ id: `area-${at}`, name, of: "area", own: true }),
  );
  const devices = Array.from({ length: DEVICES }, (_, at): NamedThing => {
    const area = random.pick(areas);
    return {
      id: `device-${at}`,
      name: nameOf(random.pick(COLLISIONS), words, area.name, random),
      of: "device",
      own: random.below(2) === 0,
      ...(random.below(5) > 0 && { area: area.id }),
    };
  });
  return { things: [...areas, ...devices], devices, areas };
}

function nameOf(collision: Collision, words: CommandWords, area: string, random: Random): string {
  const thing = random.pick(words.things);
  if (collision === "twin") return thing;
  if (collision === "number") return `${thing} ${1 + random.below(12)}`;
  if (collision === "role") return random.pick(words.roles);
  if (collision === "area") return random.below(4) === 0 ? area : words.named(area, thing);
  return random.below(2) === 0
    ? words.named(thing, random.pick(words.things))
    : `${words.named(area, thing)} ${random.below(3)}`;
}

const LETTERS = "abcdefghijklmnopqrstuvwxyz";

/** A slip of one letter: another one, one more, one less, or two swapped. */
export function slipOf(name: string, random: Random): string {
  const at = random.below(name.length);
  const [before, letter, after] = [name.slice(0, at), name.slice(at, at + 1), name.slice(at + 1)];
  const other = random.pick([...LETTERS]);
  return random.pick([
    before + other + after,
    before + other + letter + after,
    before + after,
    before + after.slice(0, 1) + letter + after.slice(1),
  ]);
}

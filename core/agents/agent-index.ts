/**
 * Finds agents by a person's words: an inverted index in memory, of bounded size. Pure.
 *
 * An agent is found by its own words (id, line, and what follows from them: kind and area) and by its actions. Devices of one make
 * advertise the same actions, so each action's text is held once, however many agents have it.
 */
import { closestIds } from "./closest-ids.ts";
import { areaOf, isAtWork, type Kind, kindOf } from "./kinds.ts";
import { nearWords } from "./near-words.ts";
import { Postings } from "./postings.ts";
import { SYNONYMS } from "./synonyms.ts";
import { askedWords, numberForms, stem, wordsOf } from "./words.ts";

/** Of one agent; words beyond are not found. A line has 1,000 characters at most. */
const OWN_WORDS_MAX = 96;
/** Of one action's name and description. */
const ACTION_WORDS_MAX = 48;
/** Different texts of actions. A home has some hundreds; beyond, an agent is found by its id and line alone. */
const ACTION_TEXTS_MAX = 20_000;
/** Characters and words of one question that count. */
const ASKED_CHARS_MAX = 1_000;
const ASKED_MAX = 32;

/** What a match is worth by where it is found. */
const IN_ID = 0.8;
const IN_LINE = 1;
const IN_DERIVED = 0.6;
const IN_ACTION = 0.4;
const IN_ACTION_NAME = 0.6;
/** What a match is worth by how it was found. */
const EXACT = 1;
const SYNONYM = 0.7;
const PART = 0.45;
const TYPO = 0.6;
/** Both in the id and in the line. */
const IN_BOTH = 0.15;
const BOTH_WAYS = 0.2;
/** An action that has the word covers only a part of it: what the device is called says more. */
const ACTION_COVERS = 0.5;
/** Of agents that fit equally well so many are shown before others come. */
const ALIKE_SHOWN = 2;
const ALIKE = 0.75;
const SPREAD_MAX = 100;
const SAID_AGAIN = 0.4;
/** A word that fewer agents have is hardly rarer: what is rarest is often said by chance. */
const RARE_FROM = 4;
/** How far a rare word's synonyms leave it rare. */
const OWN_RARITY = 0.7;
/** How much of the score depends on how much of the question is matched. */
const COVERAGE = 0.6;
const FEW_ACTIONS = 8;
const USED = 1.15;
/** "the second lathe": one of another number is hardly meant. */
const OTHER_NUMBER = 0.5;
/** The number counts where an agent with it fits at least so well as the best one without. */
const SELECTS_FROM = 0.4;
const ADJECTIVE = 0.9;
/** Who has an office or a farm too says "at home" for that reason. */
const SAYS_HOME = /\b(?:home|house|zu ?hause|maison)\b/i;
const NOT_AT_HOME = 0.7;
/** They mostly say where the person lives, and stand in many names for other reasons: Home Connect, home office. */
const WEAK_WORDS: ReadonlyMap<string, number> = new Map([
  ["home", 0.3],
  ["house", 0.3],
  ["where", 0.5],
  ["under", 0.3],
  ["beside", 0.3],
  ["behind", 0.3],
  ["next", 0.3],
]);
const USUAL_WORDS = 8;
const LENGTH_PENALTY = 0.02;
const PART_MIN_LETTERS = 4;
const BEGINNING_MIN_LETTERS = 5;

/** Fields of a posting, as bits. */
const ID = 1;
const LINE = 2;
const DERIVED = 4;
const FIELD_BITS = 3;
/** Of a posting of an action: the word stands in its name. */
const IN_NAME_BIT = 1;
const NAME_BITS = 1;
const NO_SLOT = -1;

export type IndexedAgent = {
  id: string;
  line: string;
  /** As its capabilities name it; often absent. */
  type?: string | undefined;
  actions: ReadonlyArray<{ name: string; description: string }>;
};

export type AgentQuery = {
  /** A person's words. */
  text: string;
  /** Only agents there, by their own words; without effect where no agent fits. */
  area?: string | undefined;
  /** Only agents of that kind, by their own words; without effect where no agent fits. */
  kind?: string | undefined;
  /** Agents that this conversation used: they win where two are about as good. */
  used?: ReadonlySet<string> | undefined;
  /** At most so many; 10. */
  limit?: number | undefined;
};

export type FoundAgent = {
  id: string;
  /** Comparable within one answer only. */
  score: number;
  /** Names of its actions that the words fit, best first. */
  actions: string[];
};

type Slot = {
  id: string;
  kind: Kind;
  area: string | undefined;
  terms: readonly string[];
  actions: readonly number[];
  atWork: boolean;
  /** Weight by the number of its own words: a word says more among few. */
  brevity: number;
};
/** The text of an action, with the number of agents that have it. */
type Action = { key: string; name: string; terms: readonly string[]; users: number };
/** A word to look up, and what finding it is worth. */
type Variant = { term: string; worth: number };
/** A word of the question. */
type Concept = { variants: Variant[]; weight: number; isNumber: boolean };
/** What agents (by slot) and actions are worth for a word; rarity 0: nobody has it. */
type Match = Omit<Concept, "variants"> & { own: Float64Array; ofActions: Float64Array; rarity: number };

export class AgentIndex {
  readonly #slotOf = new Map<string, number>();
  readonly #slots: Array<Slot | undefined> = [];
  readonly #freeSlots: number[] = [];
  readonly #own = new Postings(FIELD_BITS);
  readonly #actionOf = new Map<string, number>();
  readonly #actions: Array<Action | undefined> = [];
  readonly #freeActions: number[] = [];
  readonly #inActions = new Postings(NAME_BITS);

  get size(): number {
    return this.#slotOf.size;
  }

  /** Adds an agent, or replaces what it said before. */
  set(agent: IndexedAgent): void {
    this.delete(agent.id);
    const slot = this.#freeSlots.pop() ?? this.#slots.length;
    const ofLine = wordsOf(agent.line).map(stem);
    const ofId = wordsOf(agent.id).map(stem);
    const stems = [...ofLine, ...ofId];
    const kind = kindOf(agent, stems);
    const area = areaOf(agent, stems);
    const fields = new Map<string, number>();
    const addTerms = (terms: readonly string[], field: number): void => {
      for (const term of terms) {
        const known = fields.get(term);
        if (known !== undefined || fields.size < OWN_WORDS_MAX) fields.set(term, (known ?? 0) | field);
      }
    };
    addTerms(ofId, ID);
    addTerms(ofLine, LINE);
    const length = fields.size;
    addTerms(wordsOf(`${kind} ${area ?? ""} ${agent.type ?? ""}`).map(stem), DERIVED);
    for (const [term, bits] of fields) this.#own.add(term, slot, bits);
    const actions = new Set(agent.actions.map((action) => this.#actionSlot(action)));
    actions.delete(NO_SLOT);
    for (const action of actions) this.#changeUsers(action, 1);
    this.#slots[slot] = {
      id: agent.id,
      kind,
      area,
      terms: [...fields.keys()],
      actions: [...actions],
      atWork: isAtWork(agent),
      brevity: brevity(length),
    };
    this.#slotOf.set(agent.id, slot);
  }

  delete(id: string): void {
    const slot = this.#slotOf.get(id);
    const gone = slot === undefined ? undefined : this.#slots[slot];
    if (slot === undefined || !gone) return;
    for (const term of gone.terms) this.#own.remove(term, slot);
    for (const action of gone.actions) this.#changeUsers(action, -1);
    this.#slotOf.delete(id);
    this.#slots[slot] = undefined;
    this.#freeSlots.push(slot);
  }

  /** How many agents there are of each kind and in each area, the most first. */
  counts(): { kinds: Array<[Kind, number]>; areas: Array<[string, number]> } {
    const kinds = new Map<Kind, number>();
    const areas = new Map<string, number>();
    for (const slot of this.#slots) {
      if (!slot) continue;
      kinds.set(slot.kind, (kinds.get(slot.kind) ?? 0) + 1);
      if (slot.area !== undefined) areas.set(slot.area, (areas.get(slot.area) ?? 0) + 1);
    }
    return { kinds: byCount(kinds), areas: byCount(areas) };
  }

  /** @returns the agents that fit best; none where no word of the question is anybody's */
  search({ text, area, kind, used, limit = 10 }: AgentQuery): FoundAgent[] {
    const total = this.#slots.length;
    const matches = this.#concepts(askedWords(text.slice(0, ASKED_CHARS_MAX)).slice(0, ASKED_MAX)).map(
      (concept) => this.#match(concept),
    );
    const words = sums(total);
    const numbers = sums(total);
    const matched = sums(total);
    const actionScores = sums(this.#actions.length);
    const numbered = new Uint8Array(total);
    let askedFor = 0;
    for (const [n, match] of matches.entries()) {
      if (match.rarity === 0 || (match.isNumber && isValue(matches, n))) continue;
      askedFor += match.rarity;
      for (let slot = 0; slot < total; slot += 1) {
        const here = this.#slots[slot];
        if (!here) continue;
        const own = at(match.own, slot);
        const action = bestAction(here.actions, match.ofActions);
        if (own === 0 && action === 0) continue;
        const best = Math.max(own * here.brevity, action) + BOTH_WAYS * Math.min(own, action);
        add(match.isNumber ? numbers : words, slot, best * match.weight);
        add(matched, slot, own > 0 ? match.rarity : match.rarity * ACTION_COVERS);
        if (match.isNumber && own > 0) numbered[slot] = 1;
      }
      for (const [action, score] of match.ofActions.entries()) add(actionScores, action, score);
    }
    const allowed = this.#filter(area, this.#filter(kind, undefined));
    const isAllowed = (slot: number): boolean => !allowed || at(allowed, slot) === 1;
    const isSelector = selects(numbered, words, isAllowed);
    const asksHome = SAYS_HOME.test(text);
    const found: FoundAgent[] = [];
    for (let slot = 0; slot < total; slot += 1) {
      const here = this.#slots[slot];
      if (!here || !isAllowed(slot)) continue;
      let score = at(words, slot);
      if (isSelector || score === 0) score += at(numbers, slot);
      if (score === 0) continue;
      score *= 1 - COVERAGE + COVERAGE * (at(matched, slot) / askedFor);
      if (isSelector && at(numbered, slot) === 0) score *= OTHER_NUMBER;
      if (asksHome && here.atWork) score *= NOT_AT_HOME;
      if (used?.has(here.id)) score *= USED;
      found.push({ id: here.id, score, actions: [] });
    }
    const best = spread(found.sort(byScore)).slice(0, limit);
    for (const agent of best) agent.actions = this.#actionsOf(agent.id, actionScores);
    return best;
  }

  /**
   * Ids that may be meant by an unknown one: those written almost alike, then those whose words it has (living-room-lamp).
   * @returns at most `count`
   */
  closestIds(id: string, count = 3): string[] {
    const near = closestIds(id, this.#slotOf.keys(), count);
    if (near.length === count) return near;
    const meant = this.search({ text: id, limit: count }).map((agent) => agent.id);
    return [...new Set([...near, ...meant])].slice(0, count);
  }

  /** Each word of the question with all that may stand for it, also as one word with its neighbour: house door, haustuer. */
  #concepts(words: readonly string[]): Concept[] {
    const concepts = words.map((word): Concept => {
      const isNumber = /^\d+$/.test(word) || numberForms(word).length > 0;
      return { variants: this.#variants(word), weight: WEAK_WORDS.get(word) ?? 1, isNumber };
    });
    for (let n = 0; n + 1 < words.length; n += 1) {
      const joined = `${words[n]}${words[n + 1]}`;
      const term = stem(joined);
      if (/\d/.test(joined) || !(this.#isKnown(term) || SYNONYMS.has(term))) continue;
      const variants = this.#variants(joined);
      concepts[n]?.variants.push(...variants);
      concepts[n + 1]?.variants.push(...variants);
    }
    return merged(words, concepts);
  }

  #variants(word: string): Variant[] {
    const term = stem(word);
    const worths = new Map<string, number>();
    const add = (variant: string, worth: number): void => {
      if (this.#isKnown(variant)) worths.set(variant, Math.max(worth, worths.get(variant) ?? 0));
    };
    const addWithSynonyms = (variant: string, worth: number): void => {
      add(variant, worth);
      for (const synonym of SYNONYMS.get(variant) ?? []) add(synonym, worth * SYNONYM);
    };
    addWithSynonyms(term, EXACT);
    for (const form of numberForms(word)) add(form, EXACT);
    // windy, foggy
    const noun = /^(.{3,}?)(?:([^aeiou])\2)?y$/.exec(word);
    if (noun) addWithSynonyms(`${noun[1]}${noun[2] ?? ""}`, ADJECTIVE);
    // warmer, coldest
    const plain = /^(.{3,}?)(?:er|est)$/.exec(word)?.[1];
    if (plain !== undefined && !this.#isKnown(term)) addWithSynonyms(stem(plain), ADJECTIVE);
    this.#addParts(term, add);
    if (!this.#isKnown(term) && !SYNONYMS.has(term)) {
      const halves = this.#halves(term);
      for (const half of halves) addWithSynonyms(half, PART);
      if (worths.size === 0)
        for (const near of nearWords(term, this.#vocabulary())) addWithSynonyms(near, TYPO);
    }
    return [...worths].map(([variant, worth]) => ({ term: variant, worth }));
  }

  /** Words that the term begins or ends (garage in garagentor, schloss in haustuerschloss), and what it begins with itself. */
  #addParts(term: string, add: (variant: string, worth: number) => void): void {
    if (term.length < PART_MIN_LETTERS || /^\d/.test(term)) return;
    for (const known of this.#own.terms())
      if (known.length > term.length) {
        if (known.startsWith(term) || known.endsWith(term)) add(known, PART);
      } else if (known !== term) {
        const isBeginning = known.length >= BEGINNING_MIN_LETTERS && term.startsWith(known);
        // goldfish
        const isHead = known.length >= PART_MIN_LETTERS && term.endsWith(known);
        if (isBeginning || isHead) add(known, PART);
      }
  }

  /** The two known words that a compound is made of, if it is: lawnmower. */
  #halves(term: string): string[] {
    for (let cut = 3; cut <= term.length - 3; cut += 1) {
      const [left, right] = [stem(term.slice(0, cut)), stem(term.slice(cut))];
      if ((this.#isKnown(left) || SYNONYMS.has(left)) && (this.#isKnown(right) || SYNONYMS.has(right)))
        return [left, right];
    }
    return [];
  }

  *#vocabulary(): Iterable<string> {
    yield* this.#own.terms();
    for (const term of this.#inActions.terms()) if (!this.#own.has(term)) yield term;
    for (const term of SYNONYMS.keys()) if (!this.#own.has(term) && !this.#inActions.has(term)) yield term;
  }

  #isKnown(term: string): boolean {
    return this.#own.has(term) || this.#inActions.has(term);
  }

  /** What each agent's own words and each action are worth for one word of the question. */
  #match({ variants, weight, isNumber }: Concept): Match {
    const own = sums(this.#slots.length);
    const ofActions = sums(this.#actions.length);
    const worths = new Map<string, number>();
    for (const { term, worth } of variants) worths.set(term, Math.max(worth, worths.get(term) ?? 0));
    let shared = 0;
    for (const term of worths.keys()) shared += this.#own.get(term).length;
    const sharedRarity = this.#rarity(shared);
    let rarity = 0;
    for (const [term, worth] of worths) {
      const postings = this.#own.get(term);
      const actions = this.#inActions.get(term);
      const rare = sharedRarity + OWN_RARITY * (this.#rarity(postings.length) - sharedRarity);
      const rareAction = Math.log(1 + this.#actionOf.size / (1 + actions.length));
      if (postings.length > 0) rarity = Math.max(rarity, rare * worth);
      else if (actions.length > 0) rarity = Math.max(rarity, rareAction * worth * IN_ACTION);
      for (const posting of postings) {
        const slot = posting >> FIELD_BITS;
        own[slot] = Math.max(at(own, slot), worth * rare * fieldWorth(posting));
      }
      for (const posting of actions) {
        const action = posting >> NAME_BITS;
        const value = worth * rareAction * ((posting & IN_NAME_BIT) > 0 ? IN_ACTION_NAME : IN_ACTION);
        ofActions[action] = Math.max(at(ofActions, action), value);
      }
    }
    return { own, ofActions, rarity: rarity * weight, weight, isNumber };
  }

  #rarity(agents: number): number {
    return Math.log(1 + this.#slotOf.size / (RARE_FROM + agents));
  }

  /** Agents whose own words have every word; undefined (all) where nobody does. */
  #filter(text: string | undefined, within: Uint8Array | undefined): Uint8Array | undefined {
    const words = askedWords(text?.slice(0, ASKED_CHARS_MAX) ?? "").slice(0, ASKED_MAX);
    if (words.length === 0) return within;
    let left: Uint8Array | undefined = within;
    for (const word of words) {
      const here = new Uint8Array(this.#slots.length);
      for (const { term } of this.#variants(word))
        for (const posting of this.#own.get(term)) {
          const slot = posting >> FIELD_BITS;
          if (this.#slots[slot] && (!left || at(left, slot) === 1)) here[slot] = 1;
        }
      left = here;
    }
    return left?.includes(1) ? left : within;
  }

  #actionsOf(id: string, scores: Float64Array): string[] {
    const actions = this.#slots[this.#slotOf.get(id) ?? -1]?.actions ?? [];
    return actions
      .filter((one) => at(scores, one) > 0)
      .sort((a, b) => at(scores, b) - at(scores, a))
      .map((one) => this.#actions[one]?.name ?? "");
  }

  /** @returns NO_SLOT where there are too many already */
  #actionSlot({ name, description }: { name: string; description: string }): number {
    const key = `${name}\n${description}`;
    const known = this.#actionOf.get(key);
    if (known !== undefined) return known;
    if (this.#actionOf.size >= ACTION_TEXTS_MAX) return NO_SLOT;
    const slot = this.#freeActions.pop() ?? this.#actions.length;
    const inName = new Set(wordsOf(name).map(stem));
    const terms = new Set(inName);
    for (const word of askedWords(description)) {
      if (terms.size >= ACTION_WORDS_MAX) break;
      terms.add(stem(word));
    }
    for (const term of terms) this.#inActions.add(term, slot, inName.has(term) ? IN_NAME_BIT : 0);
    this.#actions[slot] = { key, name, terms: [...terms], users: 0 };
    this.#actionOf.set(key, slot);
    return slot;
  }

  #changeUsers(slot: number, by: 1 | -1): void {
    const action = this.#actions[slot];
    if (!action) return;
    action.users += by;
    if (action.users > 0) return;
    for (const term of action.terms) this.#inActions.remove(term, slot);
    this.#actionOf.delete(action.key);
    this.#actions[slot] = undefined;
    this.#freeActions.push(slot);
  }
}

/** Tells whether a number of the question chooses among the agents that fit its words, rather than being a value: "dim it to 20". */
function selects(numbered: Uint8Array, scores: Float64Array, isAllowed: (slot: number) => boolean): boolean {
  let best = 0;
  let bestNumbered = 0;
  for (let slot = 0; slot < scores.length; slot += 1) {
    const score = at(scores, slot);
    if (score <= bestNumbered || !isAllowed(slot)) continue;
    best = Math.max(best, score);
    if (at(numbered, slot) === 1) bestNumbered = score;
  }
  return bestNumbered > 0 && bestNumbered >= SELECTS_FROM * best;
}

/** Words of one meaning are one: "I am cold, warm it up" asks for the temperature once. */
function merged(words: readonly string[], concepts: readonly Concept[]): Concept[] {
  const left: Array<{ term: string; concept: Concept }> = [];
  const again: Concept[] = [];
  for (const [n, concept] of concepts.entries()) {
    const term = stem(words[n] ?? "");
    const same = left.find((other) => other.term === term || SYNONYMS.get(other.term)?.has(term));
    if (!same) left.push({ term, concept });
    else {
      same.concept.variants.push(...concept.variants);
      same.concept.weight = Math.max(same.concept.weight, concept.weight);
      // Who has both words themselves fits a little better.
      again.push({ ...concept, variants: [{ term, worth: EXACT }], weight: concept.weight * SAID_AGAIN });
    }
  }
  return [...left.map(({ concept }) => concept), ...again];
}

/** Tells whether the number is what an action is to be given: "HDMI 2", where the word before it is nobody's but an action's. */
function isValue(matches: readonly Match[], number: number): boolean {
  const before = matches[number - 1];
  return (
    before !== undefined && !before.isNumber && before.rarity > 0 && !before.own.some((worth) => worth > 0)
  );
}

function bestAction(actions: readonly number[], scores: Float64Array): number {
  let best = 0;
  for (const action of actions) best = Math.max(best, at(scores, action));
  // A device of many actions matches much by chance.
  return best * (FEW_ACTIONS / (FEW_ACTIONS + actions.length));
}

/**
 * Agents of one score are alike for these words: the lights of an office. After the second of them others get a chance to be seen,
 * since another one of the same says nothing new.
 */
function spread(found: FoundAgent[]): FoundAgent[] {
  let alike = 0;
  let last = -1;
  for (const agent of found.slice(0, SPREAD_MAX)) {
    alike = Math.abs(agent.score - last) < 1e-9 ? alike + 1 : 0;
    last = agent.score;
    if (alike >= ALIKE_SHOWN) agent.score *= ALIKE;
  }
  return found.sort(byScore);
}

function byScore(a: FoundAgent, b: FoundAgent): number {
  return b.score - a.score || (a.id < b.id ? -1 : 1);
}

function sums(length: number): Float64Array {
  return new Float64Array(length);
}

function add(values: Float64Array, index: number, value: number): void {
  values[index] = at(values, index) + value;
}

function fieldWorth(posting: number): number {
  const id = (posting & ID) > 0 ? IN_ID : 0;
  const line = (posting & LINE) > 0 ? IN_LINE : 0;
  const derived = (posting & DERIVED) > 0 ? IN_DERIVED : 0;
  return Math.max(id, line, derived) + IN_BOTH * Math.min(id, line);
}

function brevity(words: number): number {
  return 1 / (1 + LENGTH_PENALTY * Math.max(0, words - USUAL_WORDS));
}

function byCount<Key extends string>(counts: ReadonlyMap<Key, number>): Array<[Key, number]> {
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
}

function at(values: Float64Array | Uint8Array, index: number): number {
  return values[index] ?? 0;
}

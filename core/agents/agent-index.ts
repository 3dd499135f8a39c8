/**
 * Finds agents by a person's words: an inverted index in memory, of bounded size. Pure.
 *
 * An agent is found by its own words (id, line, and what follows from them: kind and area) and by its actions. Devices of one make
 * advertise the same actions, so each action's text is held once, however many agents have it.
 */
import { NamedAreas } from "./areas.ts";
import { closestIds } from "./closest-ids.ts";
import { type Concept, conceptsOf, type Vocabulary } from "./concepts.ts";
import { areaOf, isAtWork, type Kind, kindOf } from "./kinds.ts";
import { Postings } from "./postings.ts";
import { askedText, stem, wordsOf } from "./words.ts";

/** Of one agent; words beyond are not found. A line has 1,000 characters at most. */
const OWN_WORDS_MAX = 96;
/** Different words of all agents' lines and ids. Beyond, only ids bring new ones: 10,000 lines of random words would fill the object. */
const WORDS_MAX = 100_000;
/** Of one action's description. */
const DESCRIPTION_CHARS_MAX = 300;
/** Different texts of actions. A home has some hundreds; beyond, an agent is found by its id and line alone. */
const ACTION_TEXTS_MAX = 5_000;

/** What a match is worth by where it is found. */
const IN_ID = 0.8;
const IN_LINE = 1;
const IN_DERIVED = 0.6;
const IN_ACTION = 0.4;
const IN_ACTION_NAME = 0.6;
/** Added where both have it: the id and the line, or the agent and an action of it. */
const IN_BOTH = 0.15;
const BOTH_WAYS = 0.2;
/** An action that has the word covers only a part of it: what the device is called says more. */
const ACTION_COVERS = 0.5;
/** Of agents that fit equally well so many are shown before others come. */
const ALIKE_SHOWN = 2;
const ALIKE = 0.75;
const SPREAD_MAX = 100;
/** A word that fewer agents have is hardly rarer: what is rarest is often said by chance. */
const RARE_FROM = 4;
/** How far a rare word's synonyms leave it rare. */
const OWN_RARITY = 0.7;
/** How much of the score depends on how much of the question is matched. */
const COVERAGE = 0.6;
const FEW_ACTIONS = 8;
const USED = 1.15;
/** "in the bathroom" is hardly the guest bathroom, which has all these words too. */
const IN_AREA = 1.1;
/** "the second lathe": one of another number is hardly meant. */
const OTHER_NUMBER = 0.5;
/** The number counts where an agent with it fits at least so nearly as well as the best of all. */
const SELECTS_FROM = 0.4;
/** Who has an office or a farm too says "at home" for that reason. */
const SAYS_HOME = /\b(?:home|house|zu ?hause|maison)\b/i;
const NOT_AT_HOME = 0.7;
const USUAL_WORDS = 8;
const LENGTH_PENALTY = 0.02;

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
  /** Its place, in lower case, if that is known. Otherwise its words tell. */
  area?: string | undefined;
  /** Other words by which it is found. They say nothing about its kind or place. */
  also?: string | undefined;
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
  /** Only these agents; absent: all. */
  among?: ((id: string) => boolean) | undefined;
  /** At most so many; 10. */
  limit?: number | undefined;
};

export type FoundAgent = {
  id: string;
  /** Compares within one answer only. */
  score: number;
  /** Names of its actions that the words fit, best first. */
  actions: string[];
};

type Slot = {
  id: string;
  kind: Kind;
  area: string | undefined;
  /** Its publisher or a person named its area, rather than its words. */
  hasArea: boolean;
  terms: readonly string[];
  actions: ActionSet;
  atWork: boolean;
  /** Weight by the number of its own words: a word says more among few. */
  brevity: number;
};
/** The actions of all agents that have the same, so that they are compared with a word once. `worth`: for the word at hand. */
type ActionSet = { key: string; actions: readonly number[]; users: number; worth: number };
/** The text of an action, with the number of sets that have it. */
type Action = { key: string; name: string; terms: readonly string[]; users: number };
/** What agents (by slot) and actions are worth for a word; rarity 0: nobody has it. */
type Match = Pick<Concept, "weight" | "isNumber"> & {
  own: Float64Array;
  ofActions: Float64Array;
  rarity: number;
};

type AgentCounts = {
  kinds: Array<[Kind, number]>;
  areas: Array<[string, number]>;
  kindsIn: Array<Array<[Kind, number]>>;
};

export class AgentIndex {
  readonly #slotOf = new Map<string, number>();
  readonly #slots: Array<Slot | undefined> = [];
  readonly #freeSlots: number[] = [];
  readonly #own = new Postings(FIELD_BITS);
  readonly #actionOf = new Map<string, number>();
  readonly #actions: Array<Action | undefined> = [];
  readonly #freeActions: number[] = [];
  readonly #actionSets = new Map<string, ActionSet>();
  readonly #inActions = new Postings(NAME_BITS);
  readonly #areas = new NamedAreas();

  /** The words that are known, of agents and of actions. */
  readonly #vocabulary: Vocabulary = {
    has: (term) => this.#own.has(term) || this.#inActions.has(term),
    ofAgents: () => this.#own.terms(),
    ofActions: () => this.#inActions.terms(),
  };

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
    const area = agent.area ?? areaOf(agent, stems);
    const fields = new Map<string, number>();
    const addTerms = (terms: readonly string[], field: number): void => {
      for (const term of terms) {
        if (field === LINE && this.#own.size >= WORDS_MAX && !this.#own.has(term)) continue;
        const known = fields.get(term);
        if (known !== undefined || fields.size < OWN_WORDS_MAX) fields.set(term, (known ?? 0) | field);
      }
    };
    addTerms(ofId, ID);
    addTerms(ofLine, LINE);
    const length = fields.size;
    addTerms(wordsOf(agent.also ?? "").map(stem), LINE);
    addTerms(wordsOf(`${kind} ${area ?? ""} ${agent.type ?? ""}`).map(stem), DERIVED);
    for (const [term, bits] of fields) this.#own.add(term, slot, bits);
    const actions = new Set(agent.actions.map((action) => this.#actionSlot(action)));
    actions.delete(NO_SLOT);
    this.#slots[slot] = {
      id: agent.id,
      kind,
      area,
      hasArea: agent.area !== undefined,
      terms: [...fields.keys()],
      actions: this.#useActions([...actions]),
      atWork: isAtWork(agent),
      brevity: brevity(length),
    };
    if (agent.area !== undefined) this.#areas.add(agent.area);
    this.#slotOf.set(agent.id, slot);
  }

  delete(id: string): void {
    const slot = this.#slotOf.get(id);
    const gone = slot === undefined ? undefined : this.#slots[slot];
    if (slot === undefined || !gone) return;
    for (const term of gone.terms) this.#own.remove(term, slot);
    this.#releaseActions(gone.actions);
    if (gone.hasArea && gone.area !== undefined) this.#areas.remove(gone.area);
    this.#slotOf.delete(id);
    this.#slots[slot] = undefined;
    this.#freeSlots.push(slot);
  }

  /**
   * How many agents there are of each kind and in each area, the most first.
   * @param among absent: of all
   * @returns kindsIn: the kinds of each area, in the order of the areas
   */
  counts(among?: AgentQuery["among"]): AgentCounts {
    const kinds = new Map<Kind, number>();
    const areas = new Map<string, number>();
    const kindsOf = new Map<string, Map<Kind, number>>();
    for (const { id, kind, area } of this.#slots.filter((slot) => slot !== undefined)) {
      if (among?.(id) === false) continue;
      addOne(kinds, kind);
      if (area === undefined) continue;
      addOne(areas, area);
      const there = kindsOf.get(area) ?? new Map<Kind, number>();
      kindsOf.set(area, there);
      addOne(there, kind);
    }
    const ordered = byCount(areas);
    const kindsIn = ordered.map(([area]) => byCount(kindsOf.get(area) ?? new Map<Kind, number>()));
    return { kinds: byCount(kinds), areas: ordered, kindsIn };
  }

  /** @returns the ids of all agents there and of that kind, in no order; a filter that no agent fits has no effect */
  within({ area, kind, among }: Pick<AgentQuery, "area" | "kind" | "among">): string[] {
    const allowed = this.#allowed({ area, kind, among });
    return this.#slots.flatMap((slot, n) =>
      slot && (!allowed || valueAt(allowed, n) === 1) ? [slot.id] : [],
    );
  }

  /** @returns the agents that fit best; none where no word of the question is anybody's */
  search({ text, area, kind, used, among, limit = 10 }: AgentQuery): FoundAgent[] {
    const total = this.#slots.length;
    const concepts = conceptsOf(text, this.#vocabulary);
    const matches = concepts.map((concept) => this.#match(concept));
    const areas = this.#areas.named(concepts);
    const words = sums(total);
    const numbers = sums(total);
    const matched = sums(total);
    const actionScores = sums(this.#actions.length);
    const numbered = new Uint8Array(total);
    let askedFor = 0;
    for (const [n, match] of matches.entries()) {
      if (match.rarity === 0 || (match.isNumber && isValue(matches, n))) continue;
      askedFor += match.rarity;
      for (const set of this.#actionSets.values()) set.worth = bestAction(set.actions, match.ofActions);
      for (let slot = 0; slot < total; slot += 1) {
        const here = this.#slots[slot];
        if (!here) continue;
        const own = valueAt(match.own, slot);
        const action = here.actions.worth;
        if (own === 0 && action === 0) continue;
        const best = Math.max(own * here.brevity, action) + BOTH_WAYS * Math.min(own, action);
        add(match.isNumber ? numbers : words, slot, best * match.weight);
        add(matched, slot, own > 0 ? match.rarity : match.rarity * ACTION_COVERS);
        if (match.isNumber && own > 0) numbered[slot] = 1;
      }
      for (const [action, score] of match.ofActions.entries()) add(actionScores, action, score);
    }
    const allowed = this.#allowed({ area, kind, among });
    const isAllowed = (slot: number): boolean => !allowed || valueAt(allowed, slot) === 1;
    const isSelector = selects(numbered, words, isAllowed);
    const asksHome = SAYS_HOME.test(text);
    const found: FoundAgent[] = [];
    for (let slot = 0; slot < total; slot += 1) {
      const here = this.#slots[slot];
      if (!here || !isAllowed(slot)) continue;
      let score = valueAt(words, slot);
      if (isSelector || score === 0) score += valueAt(numbers, slot);
      if (score === 0) continue;
      score *= 1 - COVERAGE + COVERAGE * (valueAt(matched, slot) / askedFor);
      if (isSelector && valueAt(numbered, slot) === 0) score *= OTHER_NUMBER;
      if (asksHome && here.atWork) score *= NOT_AT_HOME;
      if (here.hasArea && areas.has(here.area ?? "")) score *= IN_AREA;
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
  closestIds(id: string, among?: AgentQuery["among"], count = 3): string[] {
    const known = [...this.#slotOf.keys()];
    const near = closestIds(id, among ? known.filter(among) : known, count);
    if (near.length === count) return near;
    const meant = this.search({ text: id, among, limit: count }).map((agent) => agent.id);
    return [...new Set([...near, ...meant])].slice(0, count);
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
        own[slot] = Math.max(valueAt(own, slot), worth * rare * fieldWorth(posting));
      }
      for (const posting of actions) {
        const action = posting >> NAME_BITS;
        const value = worth * rareAction * ((posting & IN_NAME_BIT) > 0 ? IN_ACTION_NAME : IN_ACTION);
        ofActions[action] = Math.max(valueAt(ofActions, action), value);
      }
    }
    return { own, ofActions, rarity: rarity * weight, weight, isNumber };
  }

  #rarity(agents: number): number {
    return Math.log(1 + this.#slotOf.size / (RARE_FROM + agents));
  }

  #slotsOf(among: (id: string) => boolean): Uint8Array {
    return Uint8Array.from(this.#slots, (slot) => (slot && among(slot.id) ? 1 : 0));
  }

  #allowed({ area, kind, among }: Pick<AgentQuery, "area" | "kind" | "among">): Uint8Array | undefined {
    const ofKind = this.#filter(kind, among && this.#slotsOf(among));
    const allowed = this.#filter(area, ofKind);
    const named = area ? this.#areas.named(conceptsOf(area, this.#vocabulary)) : undefined;
    if (!allowed || !named || named.size === 0) return allowed;
    const there = allowed.map((is, slot) => {
      const here = this.#slots[slot];
      return here?.hasArea && !named.has(here.area ?? "") ? 0 : is;
    });
    return there.includes(1) ? there : allowed;
  }

  /** @returns tells whether an agent is in an area that the text names; true of all where it names none */
  isThere(text: string): (id: string) => boolean {
    const named = this.#areas.named(conceptsOf(text, this.#vocabulary));
    return (id) => named.size === 0 || named.has(this.#slots[this.#slotOf.get(id) ?? -1]?.area ?? "");
  }

  /** Agents whose own words have every word that any has; undefined (all) where none does. */
  #filter(text: string | undefined, within: Uint8Array | undefined): Uint8Array | undefined {
    if (!text) return within;
    let left: Uint8Array | undefined = within;
    for (const { variants, isRepeat } of conceptsOf(text, this.#vocabulary)) {
      if (isRepeat || variants.length === 0) continue;
      const here = new Uint8Array(this.#slots.length);
      for (const { term } of variants)
        for (const posting of this.#own.get(term)) {
          const slot = posting >> FIELD_BITS;
          if (this.#slots[slot] && (!left || valueAt(left, slot) === 1)) here[slot] = 1;
        }
      left = here;
    }
    return left?.includes(1) ? left : within;
  }

  #actionsOf(id: string, scores: Float64Array): string[] {
    const { actions } = this.#slots[this.#slotOf.get(id) ?? -1]?.actions ?? { actions: [] };
    return actions
      .filter((one) => valueAt(scores, one) > 0)
      .sort((a, b) => valueAt(scores, b) - valueAt(scores, a))
      .map((one) => this.#actions[one]?.name ?? "");
  }

  /** @returns NO_SLOT where there are too many already */
  #actionSlot({ name, description }: { name: string; description: string }): number {
    const text = description.slice(0, DESCRIPTION_CHARS_MAX);
    const key = `${name}\n${text}`;
    const known = this.#actionOf.get(key);
    if (known !== undefined) return known;
    if (this.#actionOf.size >= ACTION_TEXTS_MAX) return NO_SLOT;
    const slot = this.#freeActions.pop() ?? this.#actions.length;
    const inName = new Set(wordsOf(name).map(stem));
    const terms = new Set([...inName, ...askedText(text).map(stem)]);
    for (const term of terms) this.#inActions.add(term, slot, inName.has(term) ? IN_NAME_BIT : 0);
    this.#actions[slot] = { key, name, terms: [...terms], users: 0 };
    this.#actionOf.set(key, slot);
    return slot;
  }

  #useActions(actions: readonly number[]): ActionSet {
    const key = actions.join();
    const set = this.#actionSets.get(key) ?? { key, actions, users: 0, worth: 0 };
    if (set.users === 0) {
      this.#actionSets.set(key, set);
      for (const action of actions) this.#changeUsers(action, 1);
    }
    set.users += 1;
    return set;
  }

  #releaseActions(set: ActionSet): void {
    set.users -= 1;
    if (set.users > 0) return;
    this.#actionSets.delete(set.key);
    for (const action of set.actions) this.#changeUsers(action, -1);
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
    const score = valueAt(scores, slot);
    if (score <= bestNumbered || !isAllowed(slot)) continue;
    best = Math.max(best, score);
    if (valueAt(numbered, slot) === 1) bestNumbered = score;
  }
  return bestNumbered > 0 && bestNumbered >= SELECTS_FROM * best;
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
  for (const action of actions) best = Math.max(best, valueAt(scores, action));
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
  values[index] = valueAt(values, index) + value;
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

function addOne<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function byCount<Key extends string>(counts: ReadonlyMap<Key, number>): Array<[Key, number]> {
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
}

function valueAt(values: Float64Array | Uint8Array, index: number): number {
  return values[index] ?? 0;
}

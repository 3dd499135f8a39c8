/** A message that is kept as what it says, so that each reader has it in their own language. */
import type { MessageKey } from "./languages/phrase-data.ts";
import type { Phrases } from "./phrases.ts";

/**
 * A sentence. @property given words for its placeholders @property keys those that are a phrase themselves
 * @property times those that are a time, epoch ms
 */
export type Said = {
  key: MessageKey;
  given?: Readonly<Record<string, string>>;
  keys?: Readonly<Record<string, MessageKey>>;
  times?: Readonly<Record<string, number>>;
};

/** @param zone and `now` as in `Phrases.time` */
export function saidText(said: readonly Said[], phrases: Phrases, zone: string, now: number): string {
  const texts = said.map(({ key, given, keys = {}, times = {} }) =>
    say(phrases, key, {
      ...given,
      ...mapped(keys, (one) => say(phrases, one)),
      ...mapped(times, (at) => phrases.time(at, zone, now)),
    }),
  );
  return phrases.sentences(...texts);
}

/** @param given of another type for each key: what it lacks stays as it is written */
export function say(phrases: Phrases, key: MessageKey, given: Readonly<Record<string, string>> = {}): string {
  // SAFETY: the type of the second parameter depends on the key, which is not known here.
  const dynamic = phrases.say.bind(phrases) as (key: MessageKey, given: object) => string;
  return dynamic(key, given);
}

function mapped<V>(values: Readonly<Record<string, V>>, by: (value: V) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, by(value)]));
}

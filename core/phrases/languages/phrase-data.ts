/** The shape of a language's file: the keys of English, each with a text. */

import type { Language } from "../../text/languages.ts";
import type { en } from "./en.ts";

type English = typeof en;
export type MessageKey = keyof English["messages"];
export type ActWord = keyof English["acts"];
export type StateClass = keyof English["states"];
type ValueWord = keyof English["values"];
export type ReadingWord = keyof English["readings"];
export type KindWord = keyof English["kinds"];

/** Plain data, as en.ts describes it: it may be loaded as JSON. */
export type PhraseData = {
  readonly language: Language;
  /** The tag by which `Intl` writes numbers and lists, and chooses plurals. */
  readonly locale: string;
  /** The forms of a text with `|`, in their order; the last one stands for all others. */
  readonly plurals: readonly Intl.LDMLPluralRule[];
  readonly space: string;
  readonly comma: string;
  readonly listComma: string;
  readonly weekdays: string;
  readonly months: string;
  readonly messages: Readonly<Record<MessageKey, string>>;
  readonly acts: Readonly<Record<ActWord, string>>;
  readonly states: Readonly<Record<StateClass, readonly [on: string, off: string]>>;
  readonly values: Readonly<Record<ValueWord, string>>;
  readonly readings: Readonly<Record<ReadingWord, string>>;
  readonly kinds: Readonly<Record<KindWord, string>>;
  /** Messages that not every program has, with the keys of their own English table (`Phrases.sayOf`). */
  readonly more?: Readonly<Record<string, string>>;
};

/** Names in braces: those of "{name}: {value}." are `name` and `value`. `{Act}` stands for `act`. */
type PlaceholdersOf<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Uncapitalize<Name> | PlaceholdersOf<Rest>
  : never;

/** What a text needs: a number for `count`, texts for the others. Empty: nothing. */
export type NeedsOf<Text extends string> = {
  [Name in PlaceholdersOf<Text>]: Name extends "count" ? number : string;
};
export type ParametersOf<Key extends MessageKey> = NeedsOf<English["messages"][Key]>;

/** A sentence of a suite, and the half that it belongs to. */
import { createHash } from "node:crypto";
import type { Language } from "@edgecall/core/text/languages.ts";
import type { Home } from "./homes.ts";
import type { Expected } from "./meaning.ts";

export interface Item {
  language: Language;
  /** The group of its figures: the peer's intent, or what the suite calls it. */
  intent: string;
  text: string;
  means: Expected;
  home: Home;
  /** The devices that the turn before was about. */
  it?: string[];
}

/** A suite's half A is to learn from; of half B only figures are seen. The sentence alone decides, so it is the same in each run. */
export const halfOf = ({ text }: Pick<Item, "text">): "A" | "B" =>
  (createHash("sha256").update(text.toLowerCase()).digest()[0] ?? 0) % 2 === 0 ? "A" : "B";

/**
 * A text with advice that only a model gets ("Explain to the user; do not try again"). The advice is a field of its own: a
 * model reads both, a person and a client of the API only `text`.
 */
export type Advised = { text: string; advice?: string | undefined };

/** Returns the text for a model. */
export function forModel({ text, advice }: Advised): string {
  if (!advice) return text;
  return `${text}${text.endsWith("\n") ? "" : "\n"}${advice}`;
}

/** Returns the text for a person. The prefix `Error: ` is removed, since only models need it to recognise a failure. */
export function forPerson({ text }: Advised): string {
  return text.startsWith(ERROR) ? text.slice(ERROR.length).trimEnd() : text;
}
const ERROR = "Error: ";

export function asAdvised(words: string | Advised): Advised {
  return typeof words === "string" ? { text: words } : words;
}

/**
 * Makes the fields of a failure in a report. `error` is the whole text, as peers of 0.2.0 read it, and ends with `advice`.
 * An empty `advice` means that there is none.
 */
export function errorFields(words: string | Advised): { error: string; advice: string } {
  const advised = asAdvised(words);
  return { error: forModel(advised), advice: advised.advice ?? "" };
}

/** Reads a report's failure. @param advice the field of this name; absent when the sender does not separate the two */
export function readError(error: string, advice: unknown): Advised {
  if (typeof advice !== "string") return splitByWords(error);
  const end = `\n${advice}`;
  return advice !== "" && error.endsWith(end)
    ? { text: error.slice(0, -end.length), advice }
    : { text: error };
}

/** Matches sentences that tell a model what to do next. */
const FOR_MODEL =
  /^(?:Explain|Tell|Do not|Please choose|Try again with|Ask for something|Ask the user)\b|\b(?:explain|tell|ask)\b.*\bthe user\b/i;

/**
 * Recognises advice by its wording. Only agents and stored rows of 0.2.0 need this: they hold both in one text, with the
 * advice in the second line (output may follow) or in the last one. Remove it together with support for that version.
 */
export function splitByWords(text: string): Advised {
  const lines = text.trimEnd().split("\n");
  const advice: string[] = [];
  const rest = lines.flatMap((line, at) => {
    if (at !== 1 && at !== lines.length - 1) return [line];
    const kept: string[] = [];
    for (const sentence of line.split(/(?<=[.!])\s+/))
      (FOR_MODEL.test(sentence.replace(/^Error: /, "")) ? advice : kept).push(sentence);
    return kept.length > 0 ? [kept.join(" ")] : [];
  });
  // A text that is only advice stays, because a person must get some text.
  return advice.length === 0 || rest.length === 0
    ? { text }
    : { text: rest.join("\n"), advice: advice.join(" ") };
}

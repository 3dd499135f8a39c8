/**
 * Words of which a part is for a model alone ("Explain to the user; do not try again"). Whoever makes such words keeps
 * that part in a field of its own: a model reads both, a person and a client of the API only the text.
 */
export type Advised = { text: string; advice?: string | undefined };

/** As a model reads it. */
export function forModel({ text, advice }: Advised): string {
  if (!advice) return text;
  return `${text}${text.endsWith("\n") ? "" : "\n"}${advice}`;
}

/** As a person reads it. `Error: ` stands before a failure only so that a model takes it for one. */
export function forPerson({ text }: Advised): string {
  return text.startsWith(ERROR) ? text.slice(ERROR.length).trimEnd() : text;
}
const ERROR = "Error: ";

export function asAdvised(words: string | Advised): Advised {
  return typeof words === "string" ? { text: words } : words;
}

/**
 * A failure in a report: `error` is the whole, as peers of 0.2.0 read it, and ends with `advice`. An empty `advice` says
 * that there is none.
 */
export function errorFields(words: string | Advised): { error: string; advice: string } {
  const advised = asAdvised(words);
  return { error: forModel(advised), advice: advised.advice ?? "" };
}

/** A failure of a report. @param advice the report's field of this name; absent: its sender does not tell the two apart */
export function readError(error: string, advice: unknown): Advised {
  if (typeof advice !== "string") return splitByWords(error);
  const end = `\n${advice}`;
  return advice !== "" && error.endsWith(end)
    ? { text: error.slice(0, -end.length), advice }
    : { text: error };
}

/** Sentences that tell a model what to do next. */
const FOR_MODEL =
  /^(?:Explain|Tell|Do not|Please choose|Try again with|Ask for something|Ask the user)\b|\b(?:explain|tell|ask)\b.*\bthe user\b/i;

/**
 * The only place that knows advice by its wording: for agents and stored rows of 0.2.0, which have both in one text.
 * There the advice is in the second line (output may follow) or in the last one. It goes with that version.
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
  // What is nothing but advice stays: a person has to read something.
  return advice.length === 0 || rest.length === 0
    ? { text }
    : { text: rest.join("\n"), advice: advice.join(" ") };
}

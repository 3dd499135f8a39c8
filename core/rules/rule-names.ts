/** Ids and names by which people and models speak of rules. */
import { toHex } from "../encoding.ts";
import type { Parsed } from "../protocol/parse.ts";
import { closest } from "../text/closest.ts";

/** Four hex digits; each further try has two more. */
const ID_BYTES = 2;
const ID_BYTES_MAX = 6;
/** Rules that an error names. */
const NAMED_MAX = 10;

type Named = { id: string; name: string };

/** A new id that no rule of the home has. @param kind `w`: a watch; `r`: a reminder */
export function newRuleId(kind: "w" | "r", taken: (id: string) => boolean): string {
  for (let bytes = ID_BYTES; ; bytes = Math.min(bytes + 1, ID_BYTES_MAX)) {
    const id = `${kind}-${toHex(crypto.getRandomValues(new Uint8Array(bytes)))}`;
    if (!taken(id)) return id;
  }
}

/** Finds the rule that is meant. A name that fits several is refused with all of them. */
export function findRule<Rule extends Named>(
  rules: readonly Rule[],
  { id, name }: { id?: string | undefined; name?: string | undefined },
): Parsed<Rule> {
  const found = rules.filter((rule) => (id === undefined ? isNamed(rule, name ?? "") : rule.id === id));
  const [only] = found;
  if (found.length === 1 && only) return { ok: true, value: only };
  const asked = id === undefined ? `name: '${name}'` : `id: '${id}'`;
  if (found.length > 1)
    return {
      ok: false,
      error: `${asked} is the name of several rules; give the id of one: ${listOf(found)}`,
    };
  const meant =
    name === undefined
      ? undefined
      : closest(
          name,
          rules.map((rule) => rule.name),
        );
  const near = meant === undefined ? "" : ` Did you mean '${meant}'?`;
  const all = rules.length === 0 ? "There are none." : `There are: ${listOf(rules)}.`;
  return { ok: false, error: `${asked} is no rule.${near} ${all}` };
}

/** The whole name, without regard to case. */
function isNamed(rule: Named, name: string): boolean {
  return rule.name.trim().toLowerCase() === name.trim().toLowerCase();
}

function listOf(rules: readonly Named[]): string {
  const shown = rules.slice(0, NAMED_MAX).map(({ id, name }) => `${id} (${name})`);
  return rules.length > NAMED_MAX
    ? `${shown.join(", ")}, and ${rules.length - NAMED_MAX} more`
    : shown.join(", ");
}

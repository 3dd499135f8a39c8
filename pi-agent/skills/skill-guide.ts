/** Reads SKILL.md: instructions for a kind of work, with a head that says when to use them. */

/** Limited because the whole text goes to the model. */
export const GUIDE_MAX_BYTES = 48 * 1024;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const DESCRIPTION_MAX_CHARS = 1_024;
const HEAD = /^---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/;

export type Guide = {
  name: string;
  description: string;
  /** Absolute path of its folder. */
  folder: string;
  instructions: string;
};

/**
 * @param folder absolute; its last part is the name when the head has none
 * @returns the guide, or what is wrong
 */
export function readGuide(source: string, folder: string): Guide | string {
  if (Buffer.byteLength(source) > GUIDE_MAX_BYTES) {
    return `SKILL.md: more than ${GUIDE_MAX_BYTES} bytes; move the rest to files beside it and name them`;
  }
  const text = source.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  const head = HEAD.exec(text);
  if (!head) return "SKILL.md: it has to begin with ---, name: …, description: …, ---";
  const fields = headFields(head[1] ?? "");
  const name = fields.get("name") ?? folder.split("/").at(-1) ?? "";
  if (!NAME.test(name)) return "SKILL.md: name: right would be 1 to 64 letters, digits, _ or -";
  const description = fields.get("description") ?? "";
  if (description === "") return "SKILL.md: description: missing; it says when the skill is wanted";
  if (description.length > DESCRIPTION_MAX_CHARS) {
    return `SKILL.md: description: more than ${DESCRIPTION_MAX_CHARS} characters`;
  }
  const instructions = text.slice(head[0].length).trim();
  if (instructions === "") return "SKILL.md: no instructions below its head";
  return { name, description, folder, instructions };
}

/** Parses the part of YAML that such heads use: `key: text`, quoted text, and text on indented lines below. */
export function headFields(head: string): Map<string, string> {
  const fields = new Map<string, string>();
  const lines = head.split("\n");
  for (let at = 0; at < lines.length; at += 1) {
    const field = /^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/.exec(lines[at] ?? "");
    if (!field) continue;
    const below: string[] = [];
    while (/^([ \t]|$)/.test(lines[at + 1] ?? "-")) {
      at += 1;
      below.push((lines[at] ?? "").trim());
    }
    fields.set(field[1] ?? "", scalar((field[2] ?? "").trim(), below));
  }
  return fields;
}

function scalar(first: string, below: readonly string[]): string {
  if (/^\|[+-]?$/.test(first)) return below.join("\n").trim();
  const folded = [...(/^>[+-]?$/.test(first) ? [] : [first]), ...below]
    .join(" ")
    .replaceAll(/\s+/g, " ")
    .trim();
  const quoted = /^"(.*)"$/.exec(folded);
  if (quoted) return (quoted[1] ?? "").replaceAll(/\\(["\\])/g, "$1");
  const single = /^'(.*)'$/.exec(folded);
  if (single) return (single[1] ?? "").replaceAll("''", "'");
  return folded.replace(/ #.*$/, "");
}

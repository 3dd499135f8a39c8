/** Finds literals in a question: addresses, paths, quoted strings, numbers. */
import { propertiesOf, requiredOf, type Schema } from "./schema.ts";

const IS_URL = /^(?:url|uri|link|href)$/i;
const IS_PATH = /(?:^|_)(?:path|file|filename|filepath|dir|directory|folder|mount|mountpoint)$/i;
const IS_HOST = /^(?:host|hostname|ip|address|domain|server)$/i;

/** Which literal a parameter takes, by its name. */
export function literalKind(name: string, schema: Schema): "urls" | "paths" | "hosts" | undefined {
  if (IS_URL.test(name) || schema.format === "uri") return "urls";
  if (IS_PATH.test(name)) return "paths";
  return IS_HOST.test(name) ? "hosts" : undefined;
}

/** Whether a tool requires a literal that the question contains. */
export function takesLiteral(parameters: Schema, literals: Literals): boolean {
  const required = requiredOf(parameters);
  return propertiesOf(parameters).some(([name, schema]) => {
    const kind = required.includes(name) ? literalKind(name, schema) : undefined;
    return kind !== undefined && literals[kind].length > 0;
  });
}

export type Literals = {
  urls: string[];
  paths: string[];
  hosts: string[];
  quoted: string[];
  numbers: string[];
};

export function readLiterals(text: string): Literals {
  const urls = all(text, /https?:\/\/[^\s"'`<>]+/g).map(withoutStop);
  const rest = text.replace(/https?:\/\/[^\s"'`<>]+/g, " ");
  const quoted = [...rest.matchAll(/`([^`]+)`|"([^"]+)"|“([^”]+)”|(?<![\p{L}\p{N}])'([^']+)'/gu)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? match[4] ?? "",
  );
  const paths = [
    ...quoted.filter((one) => /^[~./]|\//.test(one)),
    ...all(rest, /(?<![\p{L}\p{N}/.])(?:~|\.{1,2})?\/[\p{L}\p{N}._~/+@-]*/gu).map(withoutStop),
    ...all(
      rest,
      /(?<![\p{L}\p{N}/._-])[\p{L}\p{N}_-]+\.(?:txt|md|json|toml|ya?ml|log|conf|cfg|ini|csv|ts|js|py|sh)\b/gu,
    ),
  ];
  const hosts = all(rest, /\b(?:\d{1,3}(?:\.\d{1,3}){3}|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,})\b/gi);
  const numbers = all(rest, /(?<![\p{L}\p{N}./_-])-?\d+(?:\.\d+)?(?![\p{L}\p{N}/_])/gu);
  return { urls, paths, hosts, quoted, numbers };
}

function all(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map((match) => match[0]);
}

/** Removes the sentence's full stop from a path or address. */
function withoutStop(literal: string): string {
  return literal.length > 1 ? literal.replace(/[.,;:!?)]+$/, "") : literal;
}

/** Settings in systemd's format (EnvironmentFile in systemd.exec(5)). */
import { UsageError } from "../command.ts";

export type Wanted = Readonly<Record<string, string | undefined>>;

/** @param values by variable; undefined ones are left out @throws UsageError when a value cannot stand in such a file */
export function environmentText(comment: string, values: Wanted): string {
  const given = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `# ${comment}\n${given.map(([name, value]) => `${name}=${quoted(name, value)}\n`).join("")}`;
}

/** Reads the variables of such a file: `NAME=value`, bare or in quotes. Comments begin with # or ;. */
export function readEnvironment(text: string): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const [, name, value = ""] = /^\s*([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(line) ?? [];
    if (name !== undefined) variables[name] = bare(value.trim());
  }
  return variables;
}

function bare(value: string): string {
  const inner = value.slice(1, -1);
  if (/^'.*'$/.test(value)) return inner;
  if (/^".*"$/.test(value)) return inner.replace(/\\(["\\`$])/g, "$1");
  return value;
}

function quoted(name: string, value: string): string {
  if (/\p{Cc}/u.test(value)) throw new UsageError(`${name}: holds a line break or another control character`);
  return `"${value.replace(/["\\`$]/g, "\\$&")}"`;
}

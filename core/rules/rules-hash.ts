/** A hash of the rules that a place watches, by which it and Home find out whether both have the same ones. */
import { textHash } from "../protocol/text-hash.ts";

/** @returns 16 characters, of the sorted lines `id:version` */
export async function rulesHash(rules: Iterable<{ id: string; version: number }>): Promise<string> {
  const lines = [...rules].map(({ id, version }) => `${id}:${version}`);
  return await textHash(lines.sort().join("\n"));
}

/** Behaviour as data (test/cases/*.json), and the environments in which it is tested. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "vitest";

/** A text, or how to make it. */
export type TextCase =
  | string
  | { lines: { from: number; to: number; format: string; trailingNewline: boolean } }
  | { repeat: [string, number] }
  | { concat: TextCase[] };

type FileCase = TextCase | { text: string; mode?: string } | { base64: string } | null;

export type Case = {
  id: string;
  tool: string;
  title: string;
  given?: {
    root?: string;
    files?: Record<string, FileCase>;
    links?: Record<string, string>;
    allow?: string[];
    race?: string;
    schema?: Record<string, unknown>;
    tools?: Record<string, unknown>;
  };
  input: Record<string, unknown>;
  parallel?: Array<Record<string, unknown>>;
  expect: Expected;
};

export type Expected = {
  ok?: boolean;
  error?: string;
  text?: string;
  textStartsWith?: string;
  textEndsWith?: string;
  textIncludes?: string[];
  textExcludes?: string[];
  lines?: string[];
  anyOrder?: boolean;
  maxLineLength?: number;
  files?: Record<string, string>;
  filesAbsent?: string[];
  modes?: Record<string, string>;
  [other: string]: unknown;
};

export function casesOf(group: string, ...tools: string[]): Case[] {
  const path = join(import.meta.dirname, "../../test/cases", `${group}.json`);
  const all: Case[] = JSON.parse(readFileSync(path, "utf8"));
  const cases = tools.length === 0 ? all : all.filter(({ tool }) => tools.includes(tool));
  if (cases.length === 0) throw new Error(`no cases of ${group} ${tools.join(" ")}`);
  return cases;
}

export function textOfCase(given: TextCase): string {
  if (typeof given === "string") return given;
  if ("repeat" in given) return given.repeat[0].repeat(given.repeat[1]);
  if ("concat" in given) return given.concat.map(textOfCase).join("");
  const { from, to, format, trailingNewline } = given.lines;
  const lines = Array.from({ length: to - from + 1 }, (_, index) =>
    format
      .replaceAll(/\{(.)\*(\d+)\}/g, (_all, char: string, times: string) => char.repeat(Number(times)))
      .replaceAll("{n}", String(from + index)),
  );
  return lines.join("\n") + (trailingNewline ? "\n" : "");
}

/** Makes the files of a case. @returns a new folder */
export function placeOf({ given }: Case): string {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-case-"));
  for (const [path, file] of Object.entries(given?.files ?? {})) {
    const full = join(folder, path);
    if (path.endsWith("/")) {
      mkdirSync(full, { recursive: true });
      continue;
    }
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, contentOf(file));
    if (typeof file === "object" && file !== null && "mode" in file && file.mode)
      chmodSync(full, Number.parseInt(file.mode, 8));
  }
  for (const [path, target] of Object.entries(given?.links ?? {})) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(target, join(folder, path));
  }
  return folder;
}

function contentOf(file: FileCase): string | Buffer {
  if (file === null) return "";
  if (typeof file === "object" && "base64" in file) return Buffer.from(file.base64, "base64");
  if (typeof file === "object" && "text" in file) return file.text;
  return textOfCase(file);
}

/** Compares a result and the folder's content with a case's expectations of every tool. */
export function expectCase(
  wanted: Expected,
  { text, code, folder }: { text: string; code: string | undefined; folder: string },
): void {
  if (wanted.error !== undefined) expect(code, text).toBe(wanted.error);
  else expect(code, text).toBeUndefined();
  if (wanted.text !== undefined) expect(text).toBe(wanted.text);
  if (wanted.textStartsWith !== undefined) expect(text.startsWith(wanted.textStartsWith), text).toBe(true);
  if (wanted.textEndsWith !== undefined) expect(text.endsWith(wanted.textEndsWith), text).toBe(true);
  for (const part of wanted.textIncludes ?? []) expect(text).toContain(part);
  for (const part of wanted.textExcludes ?? []) expect(text).not.toContain(part);
  if (wanted.lines) {
    const inOrder = (lines: string[]) => (wanted.anyOrder ? lines.toSorted() : lines);
    expect(inOrder(text.split("\n"))).toEqual(inOrder(wanted.lines));
  }
  if (wanted.maxLineLength !== undefined)
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(
      wanted.maxLineLength,
    );
  for (const [path, content] of Object.entries(wanted.files ?? {}))
    expect(readFileSync(join(folder, path), "utf8"), path).toBe(content);
  for (const path of wanted.filesAbsent ?? []) expect(existsSync(join(folder, path)), path).toBe(false);
  for (const [path, mode] of Object.entries(wanted.modes ?? {}))
    expect((statSync(join(folder, path)).mode & 0o7777).toString(8), path).toBe(mode);
}

/** Runs a module's text as an ordinary user (nobody); needs root. @returns its output, parsed */
export function asNobody(program: string): unknown {
  const nobody = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
  const argv = [...nobody, process.execPath, "--input-type=module", "-e", program];
  return JSON.parse(String(execFileSync("setpriv", argv, { stdio: ["ignore", "pipe", "inherit"] })));
}

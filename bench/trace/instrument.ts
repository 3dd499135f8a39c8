/** An esbuild plugin that makes each function of the Worker's sources record when it is entered. */
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import type { Plugin } from "esbuild";
import { parseSync } from "vite";

/** Set by record.ts: takes the index of a file in `files`. */
const ENTER = "globalThis.__entered";

type Node = { type: string; start: number; end: number; body?: unknown; expression?: boolean };

/** @param files receives the paths of the files, relative to `root`, in the order of their indexes */
export function noteEntries(root: string, files: string[]): Plugin {
  return {
    name: "note-entries",
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const name = relative(root, path);
        if (!/^(worker|core)\//.test(name)) return undefined;
        const code = readFileSync(path, "utf8");
        files.push(name);
        return { contents: instrumented(path, code, files.length - 1), loader: "ts" };
      });
    },
  };
}

function instrumented(path: string, code: string, file: number): string {
  const { program, errors } = parseSync(path, code);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const inserts: Array<{ at: number; text: string }> = [];
  for (const { body, expression } of functionsIn(program)) {
    const { start, end } = body as Node;
    if (expression) inserts.push({ at: start, text: `(${ENTER}(${file}), ` }, { at: end, text: ")" });
    else inserts.push({ at: start + 1, text: `${ENTER}(${file});` });
  }
  inserts.sort((a, b) => a.at - b.at);
  let from = 0;
  let out = "";
  for (const { at, text } of inserts) {
    out += code.slice(from, at) + text;
    from = at;
  }
  return out + code.slice(from);
}

/** Returns the functions with a body; overloads and abstract methods have none. */
function* functionsIn(value: unknown): Generator<Node> {
  if (Array.isArray(value)) {
    for (const one of value) yield* functionsIn(one);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const node = value as Node;
  if (/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type) && node.body)
    yield node;
  for (const child of Object.values(node)) yield* functionsIn(child);
}

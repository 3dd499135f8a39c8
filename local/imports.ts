/**
 * The rules for imports, which `npm run check` applies to all sources but tests: no circle of files or of folders, and no import
 * of another program's folder that `ALLOWED` does not name. Type imports count: they too have to be read to understand a file.
 */
import { globSync, readFileSync } from "node:fs";
import { posix } from "node:path";

/** Each program's folder, and the folders of others that it may import. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  core: [],
  // It has the model of devices, and its sources. The Worker does not need it: the bridge plays those devices.
  discovery: ["core"],
  node: ["core"],
  // It needs `fetch` alone.
  client: [],
  worker: ["core", "client"],
  bridge: ["core", "discovery", "node"],
  "pi-agent": ["core", "node", "tool-browser", "tool-mcp"],
  "tool-browser": ["core", "node", "pi-agent"],
  "tool-mcp": ["core", "node", "pi-agent"],
  // On a device the command, the bridge and the agent are one program.
  cli: ["core", "client", "node", "bridge", "pi-agent"],
  // It starts and enrolls bridge and agent, so it reads the bridge's settings and makes the agent's key.
  // api/ prints the table of commands.
  local: ["core", "client", "node", "bridge", "pi-agent", "cli"],
  // It makes what is published from what local/ builds.
  release: ["core", "node", "local"],
  bench: ["core", "node", "worker", "bridge", "pi-agent", "local", "test"],
};

/**
 * A source of the first may not import one of the second. Within the Worker: the lists → features → kernel; there routes → http → api →
 * settings → env, and home, conversation → api. No feature imports another one.
 */
const ONE_WAY: readonly (readonly [from: RegExp, to: RegExp])[] = [
  // The model of devices knows no source: each source knows the model.
  [/^discovery\/model\//, /^discovery\/(?!model\/)/],
  [/^discovery\/mqtt\//, /^discovery\/(?!mqtt\/|model\/)/],
  [/^discovery\/home-assistant\//, /^discovery\/(?!home-assistant\/|model\/)/],
  // An agent works without these packages: this source alone imports them, when their tools are wanted.
  [/^pi-agent\/(?!toolbox\/optional-tools\.ts$)/, /^tool-/],
  // The agent's kernel knows no feature. The sources at its root and toolbox/ put the features together.
  [/^pi-agent\/(calls|config|env|link|output)\//, /^pi-agent\/(?!(calls|config|env|link|output)\/)/],
  [/^pi-agent\/(?!toolbox\/)[^/]+\//, /^pi-agent\/toolbox\//],
  [/^pi-agent\/[^/]+\//, /^pi-agent\/[^/]+$/],
  // Three lists say which features there are. The kernel knows none of them.
  [/^worker\/(?!features\/|(index|home|conversation)\.ts$)/, /^worker\/features\//],
  // The objects are asked through api/; wrangler needs their classes exported by index.ts.
  [/^worker\/(?!index\.ts$)/, /^worker\/(index|home|conversation)\.ts$/],
  [/^worker\/kernel\/api\//, /^worker\/(?!kernel\/(api\/|settings\/|env\.ts$))/],
  [/^worker\/kernel\/settings\//, /^worker\/(?!kernel\/(settings\/|env\.ts$))/],
  [/^worker\/kernel\/env\.ts$/, /^worker\//],
  [/^worker\/kernel\/http\//, /^worker\/kernel\/routes\//],
  // Routes, front doors and the gateway's other parts know the objects by api/ alone.
  [/^worker\/kernel\/(?!home\/|conversation\/)/, /^worker\/kernel\/(home|conversation)\//],
  [
    /^worker\/features\/[^/]+\/(?!home\/|conversation\/)/,
    /^worker\/(kernel|features\/[^/]+)\/(home|conversation)\//,
  ],
  // Each object knows the other by api/ alone, and no request of people's programs.
  [
    /^worker\/(kernel|features\/[^/]+)\/home\//,
    /^worker\/(kernel\/http\/|(kernel|features\/[^/]+)\/(conversation\/|routes?[./]))/,
  ],
  [
    /^worker\/(kernel|features\/[^/]+)\/conversation\//,
    /^worker\/(kernel\/http\/|(kernel|features\/[^/]+)\/(home\/|routes?[./]))/,
  ],
  // The platforms of chat apps serve routes and both objects.
  [/^worker\/features\/chat\/platforms\//, /^worker\/(kernel\/(http|routes)|features\/chat\/routes)\//],
  // The console's page is a client of the gateway, in a browser.
  [/^worker\/(?!features\/console\/page\/)/, /^client\//],
  [/^worker\/features\/console\/page\//, /^worker\/(?!features\/console\/page\/)/],
];
/** Programs without a circle of folders (see `findFolderCircles`). */
const LAYERED: readonly string[] = [
  "core",
  "discovery",
  "node",
  "client",
  "bridge",
  "worker",
  "pi-agent",
  "tool-browser",
  "tool-mcp",
  "cli",
  "local",
  "release",
  "bench",
];

/** Each feature of the Worker and of the agent is a folder, and knows nothing of the others. */
const APART: readonly RegExp[] = [
  /^worker\/features\/([^/]+)\//,
  /^pi-agent\/(commands|evoclaw|history|metrics|rules|serve|service|skills|tools)\//,
];

/** A source's path below the repository's root → the paths of what it imports, without packages of others. */
export type Imports = ReadonlyMap<string, readonly string[]>;

const TEST = /\.test\.tsx?$|\/(testing|testkit|fixtures)\//;
const IMPORT = /\b(?:from|import)\s*\(?\s*["'](\.[^"'\n]+|@edgecall\/[^"'\n]+)["']/g;
const PACKAGES = "@edgecall/";

/** @param root of the repository, with a slash at its end */
export function readImports(root: string): Imports {
  const paths = globSync(`{${Object.keys(ALLOWED).join(",")}}/**/*.{ts,tsx}`, {
    cwd: root,
    exclude: ["**/node_modules", "**/dist"],
  });
  const sources = paths.filter((path) => !TEST.test(path)).sort();
  return new Map(sources.map((path) => [path, importedPaths(path, readFileSync(root + path, "utf8"))]));
}

/** @param path of the source, below the repository's root */
export function importedPaths(path: string, text: string): string[] {
  return [...text.matchAll(IMPORT)].map(([, target = ""]) =>
    target.startsWith(PACKAGES) ? target.slice(PACKAGES.length) : posix.join(posix.dirname(path), target),
  );
}

/**
 * @returns each group of sources of which every one imports every other, directly or through the others, sorted by
 * path (Tarjan's strongly connected components)
 */
export function findCircles(imports: Imports): string[][] {
  const numbers = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  /** @returns the lowest number of an open source that `path` reaches */
  const visit = (path: string): number => {
    const number = numbers.size;
    numbers.set(path, number);
    open.push(path);
    let lowest = number;
    for (const next of imports.get(path) ?? []) {
      if (!imports.has(next)) continue;
      const known = numbers.get(next);
      if (known === undefined) lowest = Math.min(lowest, visit(next));
      else if (open.includes(next)) lowest = Math.min(lowest, known);
    }
    if (lowest === number) {
      const group = open.splice(open.indexOf(path)).sort();
      if (group.length > 1 || imports.get(path)?.includes(path)) circles.push(group);
    }
    return lowest;
  };
  for (const path of imports.keys()) if (!numbers.has(path)) visit(path);
  return circles.sort();
}

/**
 * In each folder of a program, its files and its subfolders, a subfolder with all that is below it, import each other in one
 * direction. So a file beside a folder may be above it (main.ts) or below it (settings.ts), but not both at once.
 * @param programs the folders at the top that this holds for
 * @returns of each circle its arrows, each with one import that makes it
 */
export function findFolderCircles(imports: Imports, programs = LAYERED): string[][] {
  /** Files and folders → those of the same folder that they import → one import that does. */
  const arrows = new Map<string, Map<string, string>>();
  for (const [importer, targets] of imports) {
    if (!programs.includes(folderOf(importer))) continue;
    for (const target of targets.filter((path) => imports.has(path) && path !== importer)) {
      const [from, to] = whereTheyPart(importer, target);
      if (folderOf(from) !== folderOf(to)) continue;
      const known = arrows.get(from) ?? new Map<string, string>();
      if (!known.has(to)) arrows.set(from, known.set(to, `${importer} → ${target}`));
    }
  }
  return findCircles(new Map([...arrows].map(([from, to]) => [from, [...to.keys()]])))
    .filter((circle) => circle.some((path) => !imports.has(path)))
    .map((circle) =>
      circle.flatMap((from) =>
        [...(arrows.get(from) ?? [])]
          .filter(([to]) => circle.includes(to))
          .map(([to, example]) => `${from} → ${to}, as ${example}`),
      ),
    );
}

/** @returns of two paths the parts up to where they differ: files or folders of the same folder */
function whereTheyPart(one: string, other: string): [string, string] {
  const [ones, others] = [one.split("/"), other.split("/")];
  const depth = ones.findIndex((name, at) => name !== others[at]) + 1;
  return [ones.slice(0, depth).join("/"), others.slice(0, depth).join("/")];
}

/** @returns `importer → imported` of each import that `ALLOWED` does not name, or that goes against `ONE_WAY` */
export function findForbidden(imports: Imports): string[] {
  return [...imports].flatMap(([importer, targets]) => {
    const folder = folderOf(importer);
    const isForbidden = (target: string) =>
      (folderOf(target) !== folder && !ALLOWED[folder]?.includes(folderOf(target))) ||
      ONE_WAY.some(([from, to]) => from.test(importer) && to.test(target)) ||
      APART.some((folders) => areApart(folders.exec(importer)?.[1], folders.exec(target)?.[1]));
    return targets.filter(isForbidden).map((target) => `${importer} → ${target}`);
  });
}

const areApart = (a: string | undefined, b: string | undefined) =>
  a !== undefined && b !== undefined && a !== b;
const folderOf = (path: string) => path.split("/", 1)[0] ?? "";

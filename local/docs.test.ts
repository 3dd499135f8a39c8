/** The docs are checked against the code, because a page that names a missing address is a defect. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { languageNames } from "@edgecall/core/text/languages.ts";
import { FILE_OPERATIONS } from "@edgecall/pi-agent/env/http/wire.ts";
import { expect, test } from "vitest";
import { slackManifest } from "../worker/features/console/page/slack-manifest.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CODE_OF_CONDUCT.md",
  "AGENTS.md",
  ...globSync("docs/**/*.md", { cwd: ROOT }),
];

/** `get /v1/agents/:id` → the method, and the path with a mark for each parameter. */
const form = (path: string) =>
  path.replace(/[?#[].*$/, "").replace(/:\w+(\{[^}]*\})?|\{[^}]*\}|[A-Z]{2,}|…/g, "*");
const served = globSync("worker/**/*.ts", { cwd: ROOT, exclude: ["**/*.test.ts", "**/node_modules/**"] })
  .flatMap((path) => [
    ...read(path).matchAll(/\.(get|post|put|patch|delete|all)\(\s*"(\/[^"]*)"/g),
    ...read(path).matchAll(/\broute\(\s*\w+,\s*"([A-Z]+) (\/[^"]*)"/g),
  ])
  .map(([, method = "", path = ""]) => ({ method: method.toUpperCase(), path: form(path) }));

/** The routes that docs name with their method. */
const allNamed = pages.flatMap((page) =>
  [
    ...read(page).matchAll(
      /`((?:GET|POST|PUT|PATCH|DELETE)(?:`?, `?(?:GET|POST|PUT|PATCH|DELETE))*) (\/v1\/[^\s`]*)/g,
    ),
  ].flatMap(([, methods = "", path = ""]) =>
    (methods.match(/[A-Z]+/g) ?? []).map((method) => ({ page, method, path })),
  ),
);

/** An agent's server has routes of its own (pi-agent/serve/serve.ts). */
const OF_AGENTS = "docs/explain/http-backend.md";
const named = allNamed.filter(({ page }) => page !== OF_AGENTS);

test("the routes of an agent's server are those that its page names", () => {
  const routes = allNamed.filter(({ page }) => page === OF_AGENTS);
  const files = FILE_OPERATIONS.map((operation) => `POST /v1/files/${operation}`);
  const all = ["GET /v1/info", "POST /v1/exec", "POST /v1/exec/stop", ...files];
  expect(routes.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(all.sort());
});

test("G15 every route that docs name with its method exists", () => {
  expect(named.length).toBeGreaterThan(30);
  const wrong = named.filter(
    // An example may have a value in place of a parameter.
    ({ method, path }) =>
      !served.some(
        (route) =>
          (route.method === method || route.method === "ALL") &&
          new RegExp(`^${route.path.replaceAll("*", "[^/]+")}$`).test(form(path)),
      ),
  );
  expect(wrong).toEqual([]);
});

test("every route below /v1 is named with its method", () => {
  const routes = served.filter(({ path }) => path.startsWith("/v1/"));
  expect(routes.length).toBeGreaterThan(50);
  const known = new Set(named.map(({ method, path }) => `${method} ${form(path)}`));
  expect(routes.filter(({ method, path }) => !known.has(`${method} ${path}`))).toEqual([]);
});

const withoutCode = (text: string) => text.replace(/^```.*?^```/gms, "");

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): Set<string> {
  const headings = [...withoutCode(read(page)).matchAll(/^#{1,6} (.+)$/gm)].map(([, text = ""]) => text);
  const slugs = headings.map((text) =>
    text
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/ /g, "-"),
  );
  return new Set(slugs);
}

test("every link to a file and every anchor has its target", () => {
  const links = pages.flatMap((page) =>
    [...withoutCode(read(page)).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(
      ([link, path = "", anchor]) => ({
        page,
        link,
        file: path === "" ? page : relative(ROOT, join(ROOT, dirname(page), path)),
        anchor,
      }),
    ),
  );
  expect(links.length).toBeGreaterThan(100);
  const wrong = links.filter(
    ({ file, anchor }) =>
      !existsSync(join(ROOT, file)) || (anchor !== undefined && !anchorsOf(file).has(anchor)),
  );
  expect(wrong).toEqual([]);
});

test("every path of the repository that a page names exists", () => {
  const named = pages.flatMap((page) =>
    [
      ...read(page).matchAll(
        /`((?:\.ci|bench|bridge|cli|core|discovery|docs|examples|local|node|pi-agent|release|test|tool-browser|tool-mcp|worker)\/[\w./-]*)`/g,
      ),
    ].map(([, path = ""]) => ({ page, path })),
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(({ path }) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test("C2: the page of chats names each scope and event of Slack's manifest, and each command of Discord", () => {
  const section = (name: string) =>
    read("docs/using/chat-apps.md")
      .split(/^### /m)
      .find((part) => part.startsWith(name)) ?? "";
  const { oauth_config, settings } = slackManifest("https://gateway.example/webhooks/slack/c");
  const ofSlack = [...oauth_config.scopes.bot, ...settings.event_subscriptions.bot_events];
  for (const name of ofSlack) expect(section("Slack"), name).toContain(`\`${name}\``);
  const setup = read("worker/features/chat/platforms/discord-setup.ts");
  const commands = [...setup.matchAll(/command\("(\w+)"/g)].map(([, name]) => `\`${name}\``);
  const ofMessages = [...setup.matchAll(/MESSAGE_COMMAND, name: "([^"]+)"/g)].map(([, name]) => `"${name}"`);
  expect([commands.length > 5, ofMessages.length]).toEqual([true, 1]);
  for (const name of [...commands, ...ofMessages]) expect(section("Discord"), name).toContain(name);
});

test("the page of plain sentences names each language, and those that no native speaker has read as beta", () => {
  const [, reviewed, beta] =
    /^It reads (.*), and as beta (.*?)[.:]/m.exec(read("docs/using/sentences.md")) ?? [];
  const named = (text = "") => text.split(/, | and /);
  expect({ reviewed: named(reviewed), beta: named(beta) }).toEqual(languageNames());
});

/**
 * The site of the docs: the pages as they stand in the repository, with the README as its front. `SITE_BASE` is the path below which it is
 * served, and `SITE_SOURCE` the repository's address for files that are no pages (`https://forge/owner/name/blob/main`).
 */
import { cpSync, existsSync, globSync, readFileSync, rmSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const STAGE = fileURLToPath(new URL("../pages", import.meta.url));
const SOURCE = process.env.SITE_SOURCE?.replace(/\/$/, "");
const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "examples/README.md",
  "bridge/home-assistant/DOCS.md",
  ...globSync("docs/**/*.md", { cwd: ROOT }).sort(),
];
const FOLDERS = {
  guides: "Guides",
  using: "Using it",
  explain: "Explained",
  reference: "Reference",
  measured: "Measured",
  decisions: "Decisions",
};

/** The path of a page on the site: a README is its folder's front. */
const served = (page) => page.replace(/(^|\/)README\.md$/, "$1index.md");
const titleOf = (page) =>
  /^# (.+)$/m.exec(readFileSync(`${ROOT}/${page}`, "utf8"))?.[1].replace(/[`*_]/g, "") ?? page;
const entry = (page) => ({ text: titleOf(page), link: `/${served(page).replace(/(index)?\.md$/, "")}` });

/** GitHub's anchors, so that a link holds in both places. */
const slugify = (text) =>
  text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/ /g, "-");

/** Links to a README go to its folder; links to files that are no pages go to the repository, or become text. */
function relinked(md) {
  md.core.ruler.push("relinked", ({ tokens, env }) => {
    const from = posix.relative(STAGE, env.path);
    for (const { children } of tokens) {
      const opened = [];
      for (const token of children ?? []) {
        if (token.type === "link_close" && opened.pop()) {
          token.tag = "span";
        }
        if (token.type !== "link_open") continue;
        const [path = "", anchor] = (token.attrGet("href") ?? "").split("#");
        if (path === "" || /^[a-z]+:/.test(path)) {
          opened.push(false);
          continue;
        }
        const to = posix.join(posix.dirname(source(from)), decodeURI(path));
        const isPage = PAGES.includes(to);
        if (isPage) token.attrSet("href", served(path) + (anchor ? `#${anchor}` : ""));
        else if (SOURCE) token.attrSet("href", `${SOURCE}/${to}`);
        else {
          token.tag = "span";
          token.attrs = [];
        }
        opened.push(!isPage && !SOURCE);
      }
    }
  });
}
/** VitePress names a page by its path on the site. */
const source = (page) => PAGES.find((one) => one === page || served(one) === page) ?? page;

// The packages of this folder are found from pages below it alone, so they are copied here.
rmSync(STAGE, { recursive: true, force: true });
for (const page of PAGES) cpSync(`${ROOT}/${page}`, `${STAGE}/${served(page)}`);
cpSync(`${ROOT}/docs/pictures`, `${STAGE}/docs/pictures`, { recursive: true });

export default defineConfig({
  title: "edgecall",
  description: "Ask the devices at home from anywhere",
  base: process.env.SITE_BASE ?? "/",
  srcDir: "pages",
  outDir: "dist",
  cacheDir: "node_modules/.vitepress",
  cleanUrls: true,
  markdown: {
    anchor: { slugify },
    config: relinked,
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [{ text: "Docs", link: "/docs/" }],
    sidebar: [
      { text: "Start", items: [entry("README.md"), entry("docs/README.md")] },
      ...Object.entries(FOLDERS)
        .filter(([folder]) => existsSync(`${ROOT}/docs/${folder}`))
        .map(([folder, text]) => ({
          text,
          collapsed: folder === "measured" || folder === "decisions",
          items: PAGES.filter((page) => page.startsWith(`docs/${folder}/`)).map(entry),
        })),
      {
        text: "The project",
        collapsed: true,
        items: PAGES.filter((page) => !page.startsWith("docs/") && page !== "README.md").map(entry),
      },
    ],
  },
});

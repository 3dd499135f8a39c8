/** Checks a built site: each link and anchor has its target, and each page is reached from the front. `node check-links.mjs FOLDER` */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

const [folder = "dist"] = process.argv.slice(2);
const base = (process.env.SITE_BASE ?? "/").replace(/\/$/, "");

/** `docs/index.html` → `/docs` */
const address = (file) => `/${file.replace(/(^|\/)index\.html$|\.html$/, "")}`.replace(/(?<=.)\/$/, "");
const pages = new Map(
  globSync("**/*.html", { cwd: folder }).map((file) => {
    const html = readFileSync(join(folder, file), "utf8");
    const main = /<main[\s\S]*<\/main>/.exec(html)?.[0] ?? html;
    return [
      address(file),
      {
        ids: new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => decodeURIComponent(id))),
        // The folder of a page decides what a relative link means.
        at: posix.dirname(`/${file}`),
        links: [...main.matchAll(/\shref="([^"]+)"/g)]
          .map(([, link]) => link.replaceAll("&amp;", "&"))
          .filter((link) => !/^[a-z]+:/.test(link)),
      },
    ];
  }),
);

const wrong = [];
let count = 0;
/** Pages by the pages that they link to. */
const next = new Map();
for (const [page, { at, links }] of pages)
  for (const link of links) {
    count += 1;
    const [path, anchor] = link.split("#");
    const within = path.startsWith(`${base}/`) ? path.slice(base.length) : path;
    const to = path === "" ? page : posix.join(within.startsWith("/") ? "/" : at, within);
    const target = to.replace(/\.html$/, "").replace(/(?<=.)\/$/, "");
    if (existsSync(join(folder, to)) && /\.\w{2,5}$/.test(to) && !to.endsWith(".html")) continue;
    const known = pages.get(target);
    if (!known) wrong.push(`${page}: ${link} leads nowhere`);
    else if (anchor && !known.ids.has(decodeURIComponent(anchor)))
      wrong.push(`${page}: ${link} has no such place`);
    if (known) next.set(page, [...(next.get(page) ?? []), target]);
  }

const reached = new Set(["/"]);
for (const page of reached) for (const target of next.get(page) ?? []) reached.add(target);
const lost = [...pages.keys()].filter((page) => !reached.has(page) && page !== "/404");
wrong.push(...lost.map((page) => `${page}: no page leads to it`));

console.log(`${pages.size} pages, ${count} links, ${wrong.length} wrong`);
if (wrong.length > 0) {
  console.error(wrong.join("\n"));
  process.exitCode = 1;
}

/**
 * `npm run sentences -- SUITE [FOLDER]`: how much of a set of sentences the reader understands: right, passed on, wrong. Exits with 1
 * where one of our own is wrong.
 */
import { parseArgs } from "node:util";
import { halfOf, type Item } from "./item.ts";
import { isOtherDevice, judge, type Verdict } from "./judge.ts";
import { isKnown, type Understanding, understand } from "./reader.ts";
import { homeLlmItems } from "./suites/home-llm.ts";
import { intentsItems } from "./suites/intents.ts";
import { ownItems } from "./suites/own.ts";
import { slurpItems } from "./suites/slurp.ts";

const USAGE = `usage: npm run sentences -- SUITE [FOLDER] [options]

  own                the sentences of this repository, to the demo home
  intents FOLDER     a copy of github.com/OHF-Voice/intents
  home-llm FOLDER    a copy of github.com/acon96/home-llm
  slurp FOLDER       a copy of github.com/pswietojanski/slurp

  --half A|B         one half of the sentences (both)
  --language LIST    these languages, as de,fr (all)
  --show N           print N sentences that are not right. Of a public set these are of half A only: half B is kept to measure
  --only VERDICT     with --show: "passed" or "wrong"
  --json             the figures as JSON
  --help             show this
`;
const SUITES: Record<string, (folder: string) => Item[]> = {
  own: ownItems,
  intents: intentsItems,
  "home-llm": homeLlmItems,
  slurp: slurpItems,
};
/** The exit code for wrong usage, as shells have it. */
const EXIT_USAGE = 2;

type Result = Item & { half: "A" | "B"; verdict: Verdict } & Understanding;
/** `other`: of the wrong ones, those that act on a device that was not meant. */
type Figures = Record<Verdict | "other", number>;

function usageOrExit() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        half: { type: "string" },
        language: { type: "string" },
        show: { type: "string", default: "0" },
        only: { type: "string" },
        json: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) {
      process.stdout.write(USAGE);
      process.exit(0);
    }
    const [suite = "", folder] = positionals;
    const items = SUITES[suite];
    if (items === undefined) throw new Error(`SUITE: expected ${Object.keys(SUITES).join(", ")}`);
    if (suite !== "own" && folder === undefined) throw new Error("FOLDER: expected the folder of your copy");
    if (values.half !== undefined && !["A", "B"].includes(values.half))
      throw new Error("--half: expected A or B");
    if (values.only !== undefined && !["passed", "wrong"].includes(values.only))
      throw new Error("--only: expected passed or wrong");
    const show = Number(values.show);
    if (!Number.isInteger(show) || show < 0) throw new Error("--show: expected a whole number");
    return { ...values, show, suite, items: items(folder ?? "") };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(EXIT_USAGE);
  }
}

const { suite, items, half, language, show, only, json } = usageOrExit();
if (items.length === 0) {
  process.stderr.write("FOLDER: no sentence of this suite is there\n");
  process.exit(EXIT_USAGE);
}
const languages = language?.split(",");
const results = items
  .filter((item) => isKnown(item.language))
  .map((item): Result => {
    const understood = understand(item);
    return {
      ...item,
      ...understood,
      half: halfOf(item),
      verdict: judge(item.means, understood.got, item.home),
    };
  })
  .filter((result) => half === undefined || result.half === half)
  .filter((result) => languages?.includes(result.language) ?? true);

const groups = groupsOf(results);
if (json) process.stdout.write(`${JSON.stringify({ suite, groups }, null, 2)}\n`);
else printTable();
printMisses();
if (suite === "own" && results.some(({ verdict }) => verdict === "wrong")) process.exitCode = 1;

/** Figures by language, half and intent, and of all intents of a language and half. */
function groupsOf(all: Result[]) {
  const groups = new Map<string, { language: string; half: string; intent: string } & Figures>();
  for (const { language, half, intent, verdict, means, got, home } of all)
    for (const name of [intent, "all"]) {
      const key = [language, half, name].join("\t");
      const group = groups.get(key) ?? {
        language,
        half,
        intent: name,
        right: 0,
        passed: 0,
        wrong: 0,
        other: 0,
      };
      group[verdict] += 1;
      if (verdict === "wrong" && isOtherDevice(means, got, home)) group.other += 1;
      groups.set(key, group);
    }
  const order = (intent: string) => (intent === "all" ? "" : intent);
  return [...groups.values()].sort(
    (one, other) =>
      one.language.localeCompare(other.language) ||
      order(one.intent).localeCompare(order(other.intent)) ||
      one.half.localeCompare(other.half),
  );
}

function printTable(): void {
  const row = (...cells: (string | number)[]) =>
    cells
      .map((cell, at) => (at < 2 ? String(cell).padEnd(at === 0 ? 9 : 28) : String(cell).padStart(9)))
      .join("");
  const lines = [
    row("language", "intent", "half", "of", "right", "right %", "passed on", "wrong", "other device"),
  ];
  for (const { language, intent, half, right, passed, wrong, other } of groups) {
    const of = right + passed + wrong;
    lines.push(row(language, intent, half, of, right, ((100 * right) / of).toFixed(1), passed, wrong, other));
  }
  process.stdout.write(`${lines.join("\n")}\n`);
}

/** Half B of a public set is never shown: a sentence that was read is learnt from. */
function printMisses(): void {
  const misses = results
    .filter((result) => suite === "own" || result.half === "A")
    .filter(({ verdict }) => verdict !== "right" && (only === undefined || verdict === only));
  const texts = misses
    .slice(0, show)
    .map(
      ({ language, intent, verdict, text, means, got, why }) =>
        `${verdict} ${language} ${intent}: ${text}\n    means ${JSON.stringify(means)}\n    read as ${JSON.stringify(got)} ${why}\n`,
    );
  process.stdout.write(texts.join(""));
}

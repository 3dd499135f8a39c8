import { VERSION } from "@edgecall/core/protocol/names.ts";
import { expect, test } from "vitest";
import { type Command, type Io, UsageError } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { runCommandLine } from "./run-command-line.ts";

/** Runs a command line with the test's own commands. @returns what was written and called */
async function run(words: string[], commands: readonly Command[] = TWO) {
  const said = { out: "", err: "" };
  const io: Io = {
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    terminal: false,
    watched: false,
    person: false,
  };
  return { code: await runCommandLine(commands, words, {}, io), ...said };
}

const SHOW: Command = {
  name: "show",
  about: "shows what it was given",
  takes: "WORD…",
  options: { json: { about: "for programs" }, "at-most": { value: "N", short: "n", about: "so many" } },
  load: async () => async (call) => {
    call.io.out(JSON.stringify([call.positionals, call.flag("json"), call.text("at-most") ?? null]));
    return call.positionals.includes("bad") ? 1 : 0;
  },
};
const SHOW_ALL: Command = {
  name: "show all",
  about: "shows everything",
  options: {},
  load: async () => async () => {
    throw new UsageError("not today");
  },
};
const TWO = [SHOW, SHOW_ALL];

test("a command gets its words, options and switches, and its exit code becomes the program's", async () => {
  expect(await run(["show", "one", "-n", "3", "--json", "two"])).toEqual({
    code: 0,
    out: '[["one","two"],true,"3"]',
    err: "",
  });
  expect(await run(["show", "bad"])).toMatchObject({ code: 1, out: '[["bad"],false,null]' });
});

test("the longer name wins, and wrong usage says what is wrong and where the help is", async () => {
  const { code, err } = await run(["show", "all"]);
  expect(code).toBe(2);
  expect(err).toBe("edgecall show all: not today\nedgecall show all --help tells more\n");
});

test.each([
  [["show", "--nope"], "Unknown option '--nope'"],
  [["show", "-n"], "argument missing"],
  [["show", "all", "extra"], 'takes nothing but options, and got "extra"'],
  [["shw"], 'there is no command "shw"; did you mean "show"?'],
  [["shwo", "all"], 'there is no command "shwo all"; did you mean "show all"?'],
  [["weather"], 'there is no command "weather"; edgecall --help lists them'],
])("%j is refused with a text", async (words, said) => {
  const { code, out, err } = await run(words);
  expect(code).toBe(2);
  expect(out).toBe("");
  expect(err).toContain(said);
});

test("a group of commands alone names them, and is not its own suggestion", async () => {
  const some: Command[] = ["tokens list", "tokens add"].map((name) => ({ ...SHOW, name }));
  const { code, err } = await run(["tokens"], some);
  expect(code).toBe(2);
  expect(err).toContain('there is no command "tokens"; there are tokens list, tokens add\n');
  expect((await run(["tokens", "lst"], some)).err).toContain('did you mean "tokens list"?');
  for (const { name } of COMMANDS) {
    const [first = ""] = name.split(" ");
    if (COMMANDS.some((one) => one.name === first)) continue;
    expect((await run([first], COMMANDS)).err).not.toContain(`did you mean "${first}"?`);
  }
});

test("requested help goes to stdout, and unrequested help to stderr", async () => {
  expect(await run(["--help"])).toMatchObject({ code: 0, err: "" });
  expect((await run([])).code).toBe(2);
  // The message about a wrong word is not hidden by long help.
  expect((await run(["shw"])).err).not.toContain("usage");
  const { out } = await run(["show", "--help"]);
  expect(out).toContain("-n, --at-most N");
  expect(out).toContain("usage: edgecall show WORD… [options]");
});

test("every command has help, and its code can be loaded", async () => {
  for (const command of COMMANDS) {
    const { code, out } = await run([...command.name.split(" "), "--help"], COMMANDS);
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining(command.about) });
    expect(await command.load()).toBeTypeOf("function");
  }
});

test.each([["version"], ["--version"]])("%s prints the version alone", async (word) => {
  expect(await run([word], COMMANDS)).toEqual({ code: 0, out: `edgecall ${VERSION}\n`, err: "" });
});

test.each([
  [["start", "--aks", "x"], "Unknown option '--aks'"],
  [["start", "x"], "takes nothing but options"],
  [["start", "--ask"], "argument missing"],
  [["deploy", "--api-key", "k"], "Unknown option '--api-key'"],
])("%j starts nothing", async (words, said) => {
  expect(await run(words, COMMANDS)).toMatchObject({ code: 2, out: "", err: expect.stringContaining(said) });
});

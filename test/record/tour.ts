/** Two minutes with the demo home at a terminal, without a hand: what is typed waits for what the screen says, and never for a time. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { PROGRAMS, ROOT } from "@edgecall/node/places.ts";
import { freePort } from "../../local/port.ts";
import { until } from "../wait.ts";
import { COLUMNS, type Frame, ROWS } from "./svg.ts";

/** The person's words at the prompt, and their answers as soon as the screen asks. */
const TYPED: ReadonlyArray<{ ask: string; answer?: { to: RegExp; with: string } }> = [
  { ask: "How cold is the freezer?" },
  { ask: "Turn on the reading lamp" },
  { ask: "Unlock the front door", answer: { to: /\[y\/n\] *$/, with: "y" } },
  { ask: "Tell me when the freezer is above -15" },
];

const KEY_MS = 60;
const KEYS_A_FRAME = 2;
const READ_MS = 2_600;
const THINK_MS = 700;
/** A home that is slow on a busy machine is shown no slower than so. */
const WAIT_MAX_MS = 900;

export type Demo = { url: string; token: string; stop(): Promise<void> };

/** Starts the demo home in a folder of its own. */
export async function startDemo(): Promise<Demo> {
  const dir = mkdtempSync(join(tmpdir(), "edgecall-record-"));
  const env = {
    ...process.env,
    EDGECALL_DIR: dir,
    PORT: String(await freePort()),
    LLM_BASE_URL: "",
    LLM_MODEL: "",
  };
  const child = spawn(process.execPath, [...PROGRAMS.edgecall, "start", "--demo", "--seed", "1"], {
    cwd: ROOT,
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const out = textOf(child);
  const stop = async () => {
    const gone = new Promise((resolve) => child.once("close", resolve));
    if (child.exitCode === null) {
      child.kill("SIGTERM");
      await gone;
    }
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const printed = () => /gateway\s+(http:\S+)\s+token\s+(\S+)[\s\S]*This is a demo/.exec(out());
    const [, url = "", token = ""] = await until(printed, { within: 90_000, what: "the demo home runs" });
    return { url, token, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Types the tour. @returns its frames, as they are shown */
export async function typeTour(demo: Demo): Promise<Frame[]> {
  const frames: Frame[] = [];
  let screen: string[] = [];
  const show = (ms: number, lines = screen) => frames.push({ ms, lines: lines.slice(-ROWS) });
  for (const { ask, answer } of TYPED) {
    const command = `$ edgecall ask "${ask}"`;
    for (let at = 2; at < command.length; at += KEYS_A_FRAME)
      show(KEY_MS * KEYS_A_FRAME, [...screen, `${command.slice(0, at)}▏`]);
    screen = [...screen, command];
    show(THINK_MS);
    const before = screen;
    const began = performance.now();
    const ending = await asked(demo, ask, answer, (text) => {
      screen = [...before, ...wrapped(text)];
      show(Math.min(WAIT_MAX_MS, Math.max(THINK_MS, performance.now() - began)));
    });
    screen = [...before, ...wrapped(ending), ""];
    show(READ_MS);
  }
  return frames;
}

/** Runs one question in a terminal. @param onQuestion gets the screen when the person is asked, and with their answer @returns all that it wrote */
async function asked(
  { url, token }: Demo,
  question: string,
  answer: (typeof TYPED)[number]["answer"],
  onQuestion: (text: string) => void,
): Promise<string> {
  const words = [process.execPath, ...PROGRAMS.edgecall, "ask", question].map((word) => `'${word}'`);
  // A terminal of its own: without one `ask` asks nobody.
  const child = spawn(
    "script",
    ["-qfec", `stty cols ${COLUMNS} -echo; exec ${words.join(" ")}`, "/dev/null"],
    {
      env: { ...process.env, EDGECALL_URL: url, EDGECALL_TOKEN: token, NO_COLOR: "1", TERM: "dumb" },
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  const out = textOf(child);
  const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
  if (answer) {
    await until(() => answer.to.test(out()), { within: 30_000, what: `the screen asks: ${out()}` });
    onQuestion(out());
    child.stdin.write(`${answer.with}\n`);
  }
  await gone;
  return out();
}

function textOf(child: ChildProcess): () => string {
  let text = "";
  child.stdout?.setEncoding("utf8");
  child.stdout?.on("data", (chunk: string) => {
    text += chunk;
  });
  return () =>
    stripVTControlCharacters(text)
      .replaceAll(/\r+\n/g, "\n")
      .replaceAll(/^.*\r(?!\n)/gm, "");
}

function wrapped(text: string): string[] {
  return text
    .replace(/\n+$/, "")
    .split("\n")
    .flatMap((line) => line.match(new RegExp(`.{1,${COLUMNS}}`, "gu")) ?? [""]);
}

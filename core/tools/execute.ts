/**
 * Runs the tool of a call, with its time-out and a cancel. When the tool is stopped, the end of its output is kept.
 */
import { CallTimer } from "./call-timer.ts";
import {
  type Content,
  faultResult,
  type InnerCall,
  type Question,
  type Target,
  type Tool,
  type ToolContext,
  type ToolResult,
  Unanswered,
} from "./contract.ts";
import { errorText } from "./errors.ts";
import { inline, type KeepArtifact } from "./inline.ts";
import { OutputTail } from "./output-tail.ts";
import { maskSecrets, SecretStream } from "./secrets.ts";

/** Time after an abort in which a tool can kill its processes and read the rest of their output. */
export const ABORT_GRACE_MS = 500;
/**
 * How long a tool that ignores its abort keeps its lock, since it still uses what the lock protects. The time is limited,
 * so that a hanging tool does not block the device for ever.
 */
const LOCK_KEPT_MS = 60_000;

export type AskGateway = (
  name: string,
  args: Record<string, unknown>,
  signal: AbortSignal,
) => Promise<ToolResult>;

export type Execution = {
  callId: string;
  tool: Tool;
  input: unknown;
  caller: ToolContext["caller"];
  timeoutMs: number;
  /** The most important argument, for the text of a time-out. */
  what: string | undefined;
  /** Aborted by a cancel. */
  signal: AbortSignal | undefined;
  update: ((text: string) => void) | undefined;
  ask: ((question: Question, signal: AbortSignal) => Promise<string>) | undefined;
  job: ToolContext["job"] | undefined;
  call: ToolContext["call"] | undefined;
  gateway: AskGateway | undefined;
  artifact: KeepArtifact | undefined;
  targets: readonly Target[] | undefined;
  secrets: readonly string[];
  graceMs: number;
  /** Called when the wait for a lock is over. */
  onStart(): void;
};

export type Executing = {
  /** The result, which arrives a short grace after the time-out at the latest. Rejects with the tool's error. */
  result: Promise<ToolResult>;
  /** Settles when the tool's lock can be released. Never rejects. */
  released: Promise<void>;
};

/** Starts the tool. */
export function execute(execution: Execution): Executing {
  const clock = new AbortController();
  // Not AbortSignal.timeout, whose timer stays alive after the call, for an hour with some tools.
  const timer = new CallTimer(execution.timeoutMs);
  timer.start(() => clock.abort(new DOMException("timed out", "TimeoutError")));
  const signal = execution.signal ? AbortSignal.any([execution.signal, clock.signal]) : clock.signal;
  const output = new Output(execution);
  const context = contextOf(execution, signal, timer, output);
  execution.onStart();
  // In an async function, so that a tool that throws synchronously also rejects.
  const work = (async () => await execution.tool.execute(execution.input, context))();
  const ended = work.then(
    () => {},
    () => {},
  );
  return {
    result: answer(execution, work, ended, signal, output).finally(() => {
      timer.end();
      output.close();
    }),
    released: released(ended, signal),
  };
}

function contextOf(
  { callId, caller, tool, ask, job, call, gateway, artifact, targets, secrets }: Execution,
  signal: AbortSignal,
  timer: CallTimer,
  output: Output,
): ToolContext {
  return {
    callId,
    caller,
    ...(targets && { targets }),
    signal,
    update: (text) => output.add(text),
    async ask(question) {
      if (!ask) throw new Unanswered(errorText.nobodyToAsk(tool.name));
      const resume = timer.pause();
      try {
        return await ask({ ...question, text: maskSecrets(question.text, secrets) }, signal);
      } finally {
        resume();
      }
    },
    job: job ?? (() => faultResult("unavailable", errorText.noJobs(tool.name))),
    ...(call && {
      async call(inner: InnerCall) {
        // The inner call has its own time-out, and may wait for a person.
        const resume = timer.pause();
        try {
          return await call(inner);
        } finally {
          resume();
        }
      },
    }),
    ...(gateway && {
      async gateway(name: string, args: Record<string, unknown>) {
        const resume = timer.pause();
        try {
          return await gateway(name, args, signal);
        } finally {
          resume();
        }
      },
    }),
    artifact: (bytes, mediaType) => (artifact ?? inline)(bytes, mediaType, signal),
  };
}

async function released(ended: Promise<void>, signal: AbortSignal): Promise<void> {
  await Promise.race([ended, aborted(signal, ended)]);
  if (signal.aborted) await atMost(LOCK_KEPT_MS, ended);
}

async function answer(
  execution: Execution,
  work: Promise<ToolResult>,
  ended: Promise<void>,
  signal: AbortSignal,
  output: Output,
): Promise<ToolResult> {
  await Promise.race([ended, aborted(signal, ended)]);
  if (!signal.aborted) return await work;
  const stopped = stoppedResult(execution);
  // A tool that ignores its signal must not delay the result.
  const own = await atMost(execution.graceMs, ended).then((inTime) =>
    inTime ? work.catch(() => undefined) : undefined,
  );
  return withOutput(stopped, own, output);
}

/** A cancel takes precedence over a time-out at the same moment, because a person asked for it. */
function stoppedResult({ tool, timeoutMs, what, signal }: Execution): ToolResult {
  return signal?.aborted
    ? faultResult("aborted", errorText.cancelled(tool.name, true))
    : faultResult("timeout", errorText.timeout(tool.name, timeoutMs, what));
}

/**
 * Combines the texts of a stopped call. The tool's own result is preferred to its earlier output, and its own fault with the
 * same cause to our text. The call counts as stopped in any case.
 */
function withOutput(stopped: ToolResult, own: ToolResult | undefined, output: Output): ToolResult {
  const ownContent = (own?.content ?? []).filter((part) => part.type !== "text" || part.text.trim() !== "");
  const details = own?.details && { details: own.details };
  if (own?.fault && own.fault.code === stopped.fault?.code && ownContent.length > 0)
    return { ...own, content: ownContent };
  const said: Content[] = ownContent.length > 0 ? ownContent : textContent(output.tail());
  if (said.length === 0) return { ...stopped, ...details };
  const [first, ...rest] = said;
  const words = `${stopped.fault?.message}\nOutput so far:\n`;
  const content: Content[] =
    first?.type === "text"
      ? [{ type: "text", text: words + first.text }, ...rest]
      : [{ type: "text", text: words.trimEnd() }, ...said];
  return { ...stopped, content, ...details };
}

function textContent(text: string): Content[] {
  return text === "" ? [] : [{ type: "text", text }];
}

/** Output before the tool's end. It goes to the watchers, and is kept in case the tool is stopped. */
class Output {
  readonly #kept = new OutputTail();
  readonly #filter: SecretStream;
  readonly #update: ((text: string) => void) | undefined;
  #closed = false;

  constructor({ secrets, update }: Execution) {
    this.#filter = new SecretStream(secrets);
    this.#update = update;
  }

  add(text: string): void {
    // Nobody reads the output of a tool that continues after its abort.
    if (!this.#closed) this.#pass(this.#filter.push(text));
  }

  tail(): string {
    this.#kept.add(this.#filter.end());
    return this.#kept.text();
  }

  close(): void {
    if (this.#closed) return;
    this.#pass(this.#filter.end());
    this.#closed = true;
  }

  #pass(text: string): void {
    if (text === "") return;
    this.#kept.add(text);
    this.#update?.(text);
  }
}

/** Resolves at the abort. When the work ends first, it never resolves and the listener is removed. */
function aborted(signal: AbortSignal, ended: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const done = () => resolve();
    if (signal.aborted) return done();
    signal.addEventListener("abort", done, { once: true });
    void ended.then(() => signal.removeEventListener("abort", done));
  });
}

/** Waits at most `ms` for the work to end. @returns whether it ended */
export function atMost(ms: number, ended: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    void ended.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

/** Record: shows the devices' own record of calls, with filters, and exports it as JSON lines. */
import type { Routes } from "@edgecall/client/routes.ts";
import { NO_TOOL_CALLED } from "@edgecall/core/loop/history.ts";
import { visible, visibleJson } from "@edgecall/core/tools/visible.ts";
import type { ComponentChildren } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { client } from "./api.ts";
import { approvalText } from "./approval-text.ts";
import { useAttempt } from "./attempt.ts";
import { callText } from "./change-text.ts";
import { Small } from "./controls.tsx";
import type { AuditLine } from "./figures.ts";
import { Problem, Screen, Skeleton, useLoaded } from "./load.tsx";
import { Me } from "./me.ts";
import { callerText } from "./person-text.ts";
import { duration } from "./times.ts";
import { useNames } from "./use-names.ts";
import { useRuleNames } from "./use-rule-names.ts";

type Query = NonNullable<Routes["GET /v1/audit"]["query"]>;
/** A field that filters nothing is undefined. */
type Filter = Pick<Query, "agent" | "tool" | "result" | "since" | "chain">;

const SHOWN = 100;
/** Devices to choose from. In a larger home the name is typed, and those are offered whose names fit it. */
const OFFERED = 40;
/** The most lines that the gateway returns at once. */
const EXPORTED = 1_000;

export function Audit() {
  const [filter, setFilter] = useState<Filter>({});
  const { value, problem, reload } = useLoaded("GET /v1/audit", { query: { ...filter, limit: SHOWN } });
  const { failed, attempt } = useAttempt();
  // On `change`, not `input`: a request reads many rows, and a half-typed name matches none.
  const set = (name: keyof Filter) => (event: { currentTarget: { value: string } }) => {
    const { value: chosen } = event.currentTarget;
    setFilter((before) => ({ ...before, [name]: chosen || undefined }));
  };

  const setChain = (chain?: string) => setFilter((before) => ({ ...before, chain }));
  const showAll = useRef<HTMLButtonElement>(null);
  const since = useRef<HTMLInputElement>(null);
  const hadChain = useRef(false);
  // The pressed button disappears, so the focus moves to its place in the filters.
  useEffect(() => {
    if (filter.chain !== undefined) showAll.current?.focus();
    else if (hadChain.current) since.current?.focus();
    hadChain.current = filter.chain !== undefined;
  }, [filter.chain]);

  const save = () =>
    attempt(async () => {
      const { entries } = await client.json("GET /v1/audit", { query: { ...filter, limit: EXPORTED } });
      download("edgecall-audit.jsonl", entries.map((entry) => `${visibleJson(entry)}\n`).join(""));
    });

  return (
    <Screen
      title="Record"
      tools={
        <>
          <Small onClick={reload}>Refresh</Small>
          <Small onClick={() => save()}>Export JSON lines</Small>
        </>
      }
    >
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <AgentChoice agent={filter.agent ?? ""} set={set("agent")} />
        <Typed label="Tool" set={set("tool")} />
        <label>
          Result
          <select value={filter.result ?? ""} onChange={set("result")}>
            <option value="">all</option>
            <option value="success">success</option>
            <option value="error">error</option>
          </select>
        </label>
        <label>
          Since
          <input ref={since} type="date" value={filter.since ?? ""} onChange={set("since")} />
        </label>
        {filter.chain !== undefined && (
          <button ref={showAll} type="button" class="small" onClick={() => setChain()}>
            Show all chains
          </button>
        )}
      </form>
      <Problem text={problem ?? failed} />
      <p class="quiet">
        Each device keeps its own record and sends it within five minutes, so the newest calls may still be
        missing.
      </p>
      {value ? (
        <Lines entries={value.entries} more={value.more} onChain={setChain} />
      ) : (
        !problem && <Skeleton lines={6} />
      )}
    </Screen>
  );
}

type OnChange = (event: { currentTarget: { value: string } }) => void;
type TypedProps = {
  label: string;
  set: OnChange;
  onTyped?: (text: string) => void;
  list?: string;
  maxLength?: number;
  children?: ComponentChildren;
};

/** A load leaves alone what a person types meanwhile. */
function Typed({ label, set, onTyped, children, ...more }: TypedProps) {
  const [text, setText] = useState("");
  const type = (typed: string) => {
    setText(typed);
    onTyped?.(typed.trim());
  };
  return (
    <label>
      {label}
      <input
        {...more}
        type="text"
        placeholder="all"
        autocomplete="off"
        value={text}
        onInput={(event) => type(event.currentTarget.value)}
        onChange={set}
      />
      {children}
    </label>
  );
}

type ChoiceProps = { agent: string; set: OnChange };

function AgentChoice({ agent, set }: ChoiceProps) {
  const [typed, setTyped] = useState("");
  const nameOf = useNames();
  const all = useLoaded("GET /v1/agents", { query: { limit: OFFERED } }).value;
  const offered = useLoaded("GET /v1/agents", { query: { limit: OFFERED, q: typed || undefined } }).value;
  if (!all || all.next === null)
    return (
      <label>
        Agent
        <select value={agent} onChange={set}>
          <option value="">all</option>
          {all?.agents.map(({ id }) => (
            <option value={id}>{nameOf(id)}</option>
          ))}
        </select>
      </label>
    );
  return (
    <Typed label="Agent" list="audit-agents" maxLength={64} onTyped={setTyped} set={set}>
      <datalist id="audit-agents">
        {offered?.agents.map(({ id }) => (
          <option value={id} />
        ))}
      </datalist>
    </Typed>
  );
}

type LinesProps = { entries: AuditLine[]; more: boolean; onChain: (id: string) => void };

function Lines({ entries, more, onChain }: LinesProps) {
  const nameOf = useNames();
  const ruleName = useRuleNames();
  const me = useContext(Me);
  if (entries.length === 0) return <p class="empty">No recorded calls match.</p>;
  return (
    <div class="lines-box">
      <table class="lines">
        <caption>
          {entries.length === 1 ? "One matching call" : `The newest ${entries.length} matching calls`}
          {more && "; older ones are in GET /v1/audit/export"}
        </caption>
        <thead>
          <tr>
            <th>Time</th>
            <th>Agent</th>
            <th>What</th>
            <th>Who</th>
            <th>Result</th>
            <th>Exactly</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={`${entry.agent_id} ${entry.call_id} ${entry.timestamp}`} class={entry.result}>
              <td>
                <time dateTime={entry.timestamp}>{localTime(entry.timestamp)}</time>
              </td>
              <td>
                {nameOf(entry.agent_id)}
                <ChainLink entry={entry} onChain={onChain} />
              </td>
              <td>
                {callText({
                  action: entry.tool,
                  parameters: entry.parameters,
                  done: entry.result === "success",
                })}
              </td>
              <td>
                {callerText(entry.caller.principal, me, ruleName)}{" "}
                {entry.caller.channel !== "rule" && <small>over {entry.caller.channel}</small>}
                {entry.approval && (
                  <div>
                    <small>{approvalText({ ...entry, approval: entry.approval }, me)}</small>
                  </div>
                )}
              </td>
              <td>
                <span class={`state ${entry.result}`}>
                  {entry.error_type?.replaceAll("_", " ") ?? entry.result}
                </span>{" "}
                <small>{duration(entry.elapsed_ms)}</small>
              </td>
              <td class="wide">
                <Exactly entry={entry} />
                {entry.asked === false && <div>{NO_TOOL_CALLED}</div>}
                {entry.error && <div class="problem">{visible(entry.error)}</div>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The tool's own name; opened, what it was given. */
function Exactly({ entry: { tool, parameters } }: { entry: AuditLine }) {
  const given = visibleJson(parameters);
  const name = <span class="mono">{visible(tool)}</span>;
  if (given === "{}") return name;
  return (
    <details>
      <summary>{name}</summary>
      <code>{given}</code>
    </details>
  );
}

/** A call that another agent asked for leads to all calls of its chain. */
function ChainLink({ entry, onChain }: { entry: AuditLine; onChain: (id: string) => void }) {
  // A device wrote it.
  const { chain } = entry.caller as { chain?: { id?: unknown; via?: unknown } | null };
  const { id, via } = chain ?? {};
  if (typeof id !== "string" || !Array.isArray(via)) return null;
  return (
    <Small title="Show the whole chain" onClick={() => onChain(id)}>
      from {visible(via.join(" → "))}
    </Small>
  );
}

function localTime(timestamp: string): string {
  const time = new Date(timestamp);
  return Number.isNaN(time.getTime())
    ? timestamp
    : time.toLocaleString(undefined, { dateStyle: "short", timeStyle: "medium" });
}

function download(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "application/x-ndjson" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser has started the download when the click returns.
  URL.revokeObjectURL(address);
}

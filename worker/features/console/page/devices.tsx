/** Adds devices with one command, and manages the keys of devices. For administrators. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import { isLoopback } from "@edgecall/core/protocol/addresses.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { Field, Panel, Small } from "./controls.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Problem } from "./load.tsx";
import { Pre } from "./markdown-view.tsx";
import { Pager, SearchBox } from "./pager.tsx";
import { Sure } from "./sure.tsx";
import { ago } from "./times.ts";
import { usePages } from "./use-pages.ts";

type Code = AnswerOf<"POST /v1/device-codes">;
type CodeState = AnswerOf<"GET /v1/device-codes/{code}">;

/** Keys on a page. */
const SHOWN = 25;
const WORDS_MAX = 200;
/** How often the state of a code is requested. */
const LOOK_EVERY_MS = 3_000;

export function Devices({ onJoined }: { onJoined: () => void }) {
  const [code, setCode] = useState<Code>();
  const { failed, attempt } = useAttempt();
  const [broker, setBroker] = useState("");

  /** @param agent the agent whose key is replaced; `@bridge`: the bridge, if there is one */
  const make = (agent?: string) =>
    attempt(async () => {
      // An older code could be mistaken for the new one.
      setCode(undefined);
      const body = { ...(agent && { agent }), ...(broker.trim() && { broker: { url: broker.trim() } }) };
      setCode(await client.json("POST /v1/device-codes", { body }));
    });

  return (
    <Panel id="devices" title="Devices and their keys">
      <div class="row">
        <Field label="Broker" value={broker} placeholder="mqtt://192.168.1.2:1883" onValue={setBroker} />
        <button type="button" onClick={() => void make()}>
          Add a device
        </button>
        <button type="button" onClick={() => void make("@bridge")}>
          Add the home's bridge
        </button>
      </div>
      <p class="quiet">
        The bridge is the home's first machine. It must always be on, and is a device as well.
      </p>
      <Problem text={failed} />
      {code && <Joining key={code.code} code={code} onJoined={onJoined} />}
      <Keys replace={make} />
    </Panel>
  );
}

function Joining({ code, onJoined }: { code: Code; onJoined: () => void }) {
  const [seen, setSeen] = useState<CodeState>({ state: "open" });
  const isOver = seen.state === "expired" || seen.online === true;
  const box = useRef<HTMLDivElement>(null);
  // Scrolls to the code, which may be out of sight below a long fleet.
  useEffect(() => box.current?.scrollIntoView({ block: "nearest" }), []);
  useEffect(() => {
    if (isOver) return;
    const timer = setInterval(() => {
      client.json("GET /v1/device-codes/{code}", { path: { code: code.code } }).then(
        (state) => {
          setSeen(state);
          if (state.online) onJoined();
        },
        // The next request may reach the gateway again.
        () => {},
      );
    }, LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, [code.code, isOver]);
  return (
    <div class="list" ref={box}>
      {seen.state === "open" && (
        <>
          <p>On the device, within 10 minutes:</p>
          <Pre label="Command for the device" text={code.command} />
          <CopyButton text={code.command} />
          {isLoopback(/https?:\S+/.exec(code.command)?.[0] ?? "") && (
            <p>
              <small>
                This address works only on the gateway's machine. For another machine, <code>npm start</code>{" "}
                prints the <code>ssh</code> command that makes the address available there.
              </small>
            </p>
          )}
          {code.command.includes("--with-bridge") && (
            <p class="quiet">It becomes the home's bridge and replaces an existing one.</p>
          )}
        </>
      )}
      <p role="status">{codeText(seen)}</p>
    </div>
  );
}

function codeText(seen: CodeState): string {
  if (seen.state !== "used")
    return seen.state === "open" ? "Waiting for the device…" : "The code has expired. Make a new one.";
  if (seen.online) return `${seen.agent} is online. Its key: ${seen.fingerprint}`;
  return `${seen.agent} has its keys; waiting until it is online…`;
}

function Keys({ replace }: { replace: (agent: string) => Promise<void> }) {
  const [words, setText] = useState("");
  const { value, problem, reload, paging } = usePages("GET /v1/keys", { q: words || undefined }, SHOWN);
  const [searches, setSearches] = useState(false);
  const isLarge = (value?.total ?? 0) > SHOWN;
  useEffect(() => {
    if (isLarge) setSearches(true);
  }, [isLarge]);
  const { failed, attempt } = useAttempt(reload);
  const revoke = (agent: string) =>
    attempt(() => client.json("DELETE /v1/agents/{agent}/key", { path: { agent } }));

  return (
    <>
      <Problem text={problem ?? failed} />
      {searches && (
        <search class="row">
          <SearchBox label="Search keys" maxLength={WORDS_MAX} onText={setText} />
        </search>
      )}
      <Pager paging={paging(value?.keys.length ?? 0)} what="keys" />
      {value?.keys
        .toSorted((a, b) => (a.revoked_at ?? 0) - (b.revoked_at ?? 0))
        .map(({ agent, fingerprint, enrolled_at, revoked_at }) => (
          <div key={agent} class="row">
            <span>
              <strong>{agent}</strong> <code>{fingerprint}</code>
              <small>
                {" "}
                {revoked_at === null
                  ? `paired ${ago(enrolled_at, Date.now())}`
                  : `revoked ${ago(revoked_at, Date.now())}`}
              </small>
            </span>
            <Small aria-label={`Replace the key of ${agent}`} onClick={() => replace(agent)}>
              Replace
            </Small>
            {revoked_at === null && (
              <Sure label="Revoke" about={`the key of ${agent}`} onSure={() => void revoke(agent)} />
            )}
          </div>
        ))}
    </>
  );
}

/** New devices and keys: one command that makes a machine a device, and whose word counts. For administrators. */
import { isLoopback } from "@edgecall/core/protocol/addresses.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { json, send, wordsOf } from "./api.ts";
import { CopyButton } from "./copy-button.tsx";
import { Problem, useLoaded } from "./load.tsx";
import { Pre } from "./markdown-view.tsx";
import { Sure } from "./sure.tsx";
import { ago } from "./times.ts";

type Code = { code: string; command: string; expires_at: number };
type CodeState = {
  state: "open" | "used" | "expired";
  agent?: string;
  online?: boolean;
  fingerprint?: string;
};
type Key = { agent: string; enrolled_at: number; revoked_at: number | null; fingerprint: string };

/** How often it is asked what became of a code. */
const LOOK_EVERY_MS = 3_000;

export function Devices({ onJoined }: { onJoined: () => void }) {
  const [code, setCode] = useState<Code>();
  const [failed, setFailed] = useState<string>();
  const [broker, setBroker] = useState("");

  /** @param agent its key is replaced; `@bridge`: the bridge's, if there is one */
  async function make(agent?: string) {
    try {
      const body = { ...(agent && { agent }), ...(broker.trim() && { broker: { url: broker.trim() } }) };
      setCode(await json<Code>("/v1/pairings", { method: "POST", body }));
      setFailed(undefined);
    } catch (error) {
      // An older one would pass for what was asked for now.
      setCode(undefined);
      setFailed(wordsOf(error));
    }
  }

  return (
    <section class="panel" aria-labelledby="devices">
      <h2 id="devices">Devices and their keys</h2>
      <div class="row">
        <label>
          Broker
          <input
            value={broker}
            placeholder="mqtt://192.168.1.2:1883"
            onInput={(event) => setBroker(event.currentTarget.value)}
          />
        </label>
        <button type="button" onClick={() => void make()}>
          Add a device
        </button>
        <button type="button" onClick={() => void make("@bridge")}>
          Add the home's bridge
        </button>
      </div>
      <p class="quiet">
        The bridge is the home's first machine: one that is always on, and a device as well.
      </p>
      <Problem text={failed} />
      {code && <Joining key={code.code} code={code} onJoined={onJoined} />}
      <Keys replace={make} />
    </section>
  );
}

function Joining({ code, onJoined }: { code: Code; onJoined: () => void }) {
  const [seen, setSeen] = useState<CodeState>({ state: "open" });
  const isOver = seen.state === "expired" || seen.online === true;
  const box = useRef<HTMLDivElement>(null);
  // Below a long fleet it would come where nobody looks.
  useEffect(() => box.current?.scrollIntoView({ block: "nearest" }), []);
  useEffect(() => {
    if (isOver) return;
    const timer = setInterval(() => {
      json<CodeState>(`/v1/pairings/${code.code}`).then(
        (state) => {
          setSeen(state);
          if (state.online) onJoined();
        },
        // The next look may find the gateway again.
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
                This address is the gateway's machine alone. For another machine, <code>npm start</code>{" "}
                prints the <code>ssh</code> command that lends it the address.
              </small>
            </p>
          )}
          {code.command.includes("--with-bridge") && (
            <p class="quiet">It becomes the home's bridge, in place of one that is there.</p>
          )}
        </>
      )}
      <p role="status">{wordsFor(seen)}</p>
    </div>
  );
}

function wordsFor({ state, agent, online, fingerprint }: CodeState): string {
  if (state === "open") return "Waiting for the device…";
  if (state === "expired") return "The code has expired. Make a new one.";
  if (online) return `${agent} is online. Its key: ${fingerprint}`;
  return `${agent} has its keys; waiting until it is online…`;
}

function Keys({ replace }: { replace: (agent: string) => Promise<void> }) {
  const { value, problem, reload } = useLoaded<{ keys: Key[] }>("/v1/keys");
  const [failed, setFailed] = useState<string>();

  async function revoke(agent: string) {
    try {
      await send(`/v1/agents/${agent}/key`, { method: "DELETE" });
      setFailed(undefined);
    } catch (error) {
      setFailed(wordsOf(error));
    }
    reload();
  }

  return (
    <>
      <Problem text={problem ?? failed} />
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
            <button
              type="button"
              class="small"
              aria-label={`Replace the key of ${agent}`}
              onClick={() => void replace(agent)}
            >
              Replace
            </button>
            {revoked_at === null && (
              <Sure label="Revoke" about={`the key of ${agent}`} onSure={() => void revoke(agent)} />
            )}
          </div>
        ))}
    </>
  );
}

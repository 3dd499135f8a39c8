/** Chat apps: lists the connected ones with their state at the platform, and connects new ones. */
import type { ConnectionState, ConnectionView } from "@edgecall/client/routes.ts";
import { useState } from "preact/hooks";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { ConnectForm } from "./connect-form.tsx";
import { Panel, Small } from "./controls.tsx";
import { Problem, useLoaded } from "./load.tsx";
import { Sure } from "./sure.tsx";
import { ago } from "./times.ts";

export function ChatApps({ home }: { home: string }) {
  const { value, problem, reload } = useLoaded("GET /v1/connections");
  const list = value?.connections ?? [];
  return (
    <Panel id="chat-apps" title="Chat apps">
      <Problem text={problem} />
      {value && list.length === 0 && (
        <p class="quiet">
          No chat app is connected yet. Connect one below; nobody can use it before you let them in.
        </p>
      )}
      {list.map((one) => (
        <Connected key={`${one.channel}/${one.connection}`} one={one} onGone={reload} />
      ))}
      {value && <ConnectForm home={home} origin={value.origin} onDone={reload} />}
    </Panel>
  );
}

const PLATFORMS: Record<string, string> = {
  telegram: "Telegram",
  slack: "Slack",
  discord: "Discord",
  whatsapp: "WhatsApp",
  generic: "Webhook",
};

function Connected({ one, onGone }: { one: ConnectionView; onGone: () => void }) {
  const [state, setState] = useState<ConnectionState>();
  const [said, setSaid] = useState<string>();
  const { failed, busy, attempt } = useAttempt();
  const path = { channel: one.channel, connection: one.connection };
  const name = `${PLATFORMS[one.channel] ?? one.channel} ${one.connection}`;

  const check = async () => {
    setSaid(undefined);
    setState(await client.json("GET /v1/connections/{channel}/{connection}", { path }));
  };
  const deliverHere = () =>
    attempt(async () => {
      setSaid(undefined);
      const { todo } = await client.json("POST /v1/connections/{channel}/{connection}/webhook", { path });
      await check();
      setSaid(todo.join(" ") || "It delivers here now.");
    });
  const disconnect = () =>
    attempt(async () => {
      await client.json("DELETE /v1/connections/{channel}/{connection}", { path });
      onGone();
    });

  return (
    <article class="connected" aria-label={name}>
      <header class="row">
        <strong>{PLATFORMS[one.channel] ?? one.channel}</strong>
        <span>{one.connection}</span>
        <small>
          {one.kept_in === "CHANNELS"
            ? "from the setting CHANNELS"
            : `connected${one.made_by ? ` by ${one.made_by}` : ""}${one.made_at ? `, ${ago(one.made_at, Date.now())}` : ""}`}
        </small>
        <div class="row">
          {one.checks && (
            <>
              <Small disabled={busy} aria-label={`Check ${name}`} onClick={() => attempt(check)}>
                Check
              </Small>
              <Small disabled={busy} aria-label={`Have ${name} deliver here`} onClick={deliverHere}>
                Deliver here
              </Small>
            </>
          )}
          {one.kept_in === "console" && (
            <Sure
              label="Disconnect"
              about={name}
              note="Its bot no longer answers; people who were let in stay listed."
              disabled={busy}
              onSure={() => void disconnect()}
            />
          )}
        </div>
      </header>
      <Address text={one.webhook} />
      {state && <State state={state} />}
      <Problem text={failed} />
      {said && <p role="status">{said}</p>}
    </article>
  );
}

/** Shows an address that a narrow screen can break at its slashes. */
function Address({ text }: { text: string }) {
  return (
    <code class="address">
      {text.split(/(?=\/)/).map((part) => (
        <>
          <wbr />
          {part}
        </>
      ))}
    </code>
  );
}

function State({ state }: { state: ConnectionState }) {
  const { account, link, deliveries } = state;
  const { webhook, here, waiting, last_error, last_error_at } = deliveries;
  const where =
    webhook === null
      ? here
        ? "here, fetched by the gateway"
        : "nowhere yet"
      : here
        ? "here"
        : `elsewhere: ${webhook}`;
  return (
    <dl class="facts wide-facts" aria-live="polite">
      <div>
        <dt>Bot</dt>
        <dd>
          {link ? (
            <a href={link} target="_blank" rel="noopener noreferrer">
              {account}
            </a>
          ) : (
            account
          )}
        </dd>
      </div>
      <div>
        <dt>Delivers</dt>
        <dd class={webhook === undefined || here ? undefined : "problem"}>
          {webhook === undefined ? "unknown at this platform; the token is valid" : where}
          {waiting !== undefined && waiting > 0 && `, ${waiting} waiting`}
        </dd>
      </div>
      {last_error !== undefined && (
        <div>
          <dt>Last error</dt>
          <dd class="problem">
            {last_error}
            {last_error_at !== undefined && ` (${ago(last_error_at, Date.now())})`}
          </dd>
        </div>
      )}
      {webhook !== undefined && here && last_error === undefined && (
        <div>
          <dt>Last error</dt>
          <dd>none</dd>
        </div>
      )}
    </dl>
  );
}

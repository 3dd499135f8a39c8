/** The form to connect a chat app: what to do at the platform, and what to paste here. */
import type { MadeConnection } from "@edgecall/client/routes.ts";
import { useState } from "preact/hooks";
import { client, errorText } from "./api.ts";
import { Field, Form, Select } from "./controls.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Problem } from "./load.tsx";
import { Pre } from "./markdown-view.tsx";
import { slackLink, slackManifest } from "./slack-manifest.ts";

const APPS = ["telegram", "slack", "discord"] as const;
type App = (typeof APPS)[number];
const NAMES: Record<App, string> = { telegram: "Telegram", slack: "Slack", discord: "Discord" };

type Props = { home: string; origin: string; onDone: () => void };

export function ConnectForm({ home, origin, onDone }: Props) {
  const [app, setApp] = useState<App>("telegram");
  const [name, setName] = useState("family");
  const [token, setToken] = useState("");
  const [secret, setSecret] = useState("");
  const [api, setApi] = useState("");
  const [made, setMade] = useState<MadeConnection>();
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const webhook = `${origin}/webhooks/${app}/${home}~${name}`;

  function choose(next: App) {
    setApp(next);
    setApi("");
    setMade(undefined);
    setProblem(undefined);
  }

  async function connect() {
    setBusy(true);
    setProblem(undefined);
    setMade(undefined);
    try {
      const body = {
        channel: app,
        connection: name,
        token,
        ...(app === "slack" && { secret }),
        ...(api.trim() !== "" && { base_url: api }),
      };
      setMade(await client.json("POST /v1/connections", { body }));
      setToken("");
      setSecret("");
      onDone();
    } catch (error) {
      setProblem(errorText(error));
    }
    setBusy(false);
  }

  return (
    <Form class="connect" aria-labelledby="connect" onSend={connect}>
      <h3 id="connect">Connect a chat app</h3>
      {!origin.startsWith("https:") && app !== "telegram" && (
        <p class="notice">
          {NAMES[app]} delivers to public https addresses only, and this gateway is at {origin}. Deploy it, or
          set PUBLIC_URL to the address of a tunnel.
        </p>
      )}
      {!origin.startsWith("https:") && app === "telegram" && (
        <p class="quiet">A gateway at home fetches Telegram's messages, so it needs no public address.</p>
      )}
      <div class="fields">
        <Select label="App" value={app} onChoose={choose}>
          {APPS.map((one) => (
            <option value={one}>{NAMES[one]}</option>
          ))}
        </Select>
        <Field
          label="Name here"
          required
          pattern="[a-z0-9][a-z0-9\-]{0,31}"
          title="a-z, 0-9 and -, at most 32"
          value={name}
          onValue={setName}
        />
      </div>
      <Steps app={app} webhook={webhook} />
      <div class="fields">
        <Field
          label="Bot token"
          type="password"
          required
          autocomplete="off"
          value={token}
          onValue={setToken}
        />
        {app === "slack" && (
          <Field
            label="Signing secret"
            type="password"
            required
            autocomplete="off"
            value={secret}
            onValue={setSecret}
          />
        )}
      </div>
      <details>
        <summary>Different API address</summary>
        <Field label="API address" type="url" placeholder="the platform's own" value={api} onValue={setApi} />
      </details>
      <Problem text={problem} />
      {made && <Done made={made} />}
      <div class="row">
        <button type="submit" class="main" disabled={busy}>
          {busy ? "Asking the platform…" : `Connect ${NAMES[app]}`}
        </button>
      </div>
    </Form>
  );
}

function Steps({ app, webhook }: { app: App; webhook: string }) {
  switch (app) {
    case "telegram":
      return (
        <ol class="steps">
          <li>
            Write <code>/newbot</code> to <Out to="https://t.me/BotFather">@BotFather</Out>, and choose a
            name.
          </li>
          <li>Paste the token that it answers with. The webhook and its secret are set from here.</li>
        </ol>
      );
    case "slack":
      return (
        <>
          <ol class="steps">
            <li>
              <Out to={slackLink(webhook)}>Create the app at Slack with our manifest</Out>, or paste the
              manifest there by hand.
            </li>
            <li>Under Install App, install it to your workspace.</li>
            <li>
              Paste the Bot User OAuth Token (<code>xoxb-…</code>, under OAuth &amp; Permissions) and the
              Signing Secret (under Basic Information).
            </li>
          </ol>
          <details>
            <summary>The manifest</summary>
            <Pre text={JSON.stringify(slackManifest(webhook), null, 2)} label="Slack manifest" />
            <CopyButton text={JSON.stringify(slackManifest(webhook), null, 2)} />
          </details>
        </>
      );
    case "discord":
      return (
        <ol class="steps">
          <li>
            At <Out to="https://discord.com/developers/applications">Discord's developer page</Out> make a New
            Application.
          </li>
          <li>
            Under Bot press Reset Token, and paste it here. The slash commands and the interactions' address
            are set from here: <code class="address">{webhook}</code>
          </li>
        </ol>
      );
  }
}

function Done({ made }: { made: MadeConnection }) {
  return (
    <div role="status" class="made">
      <p>
        Connected as <strong>{made.link ? <Out to={made.link}>{made.account}</Out> : made.account}</strong>.
      </p>
      {made.todo.map((one) => (
        <p>{one}</p>
      ))}
      <p class="quiet">
        Send it a message. You get a code and are listed above, under People waiting to be let in. Let
        yourself in as owner.
      </p>
    </div>
  );
}

function Out({ to, children }: { to: string; children: string }) {
  return (
    <a href={to} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

/** Where the person is told what rules say when no page is open: this browser (Web Push), and topics of ntfy. */
import { useState } from "preact/hooks";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { Field, Form, Panel, Small } from "./controls.tsx";
import { Problem, useLoaded } from "./load.tsx";
import { subscribe } from "./service-worker.ts";
import { language } from "./texts/say.ts";
import { ago } from "./times.ts";

export function Notifications() {
  const { value, problem, reload } = useLoaded("GET /v1/push");
  const { failed, busy, attempt } = useAttempt(reload);
  const [url, setUrl] = useState("");
  const [token, setToken] = useState("");
  const addTopic = async () => {
    await client.json("POST /v1/push/topics", {
      body: { url, language: language(), ...(token && { token }) },
    });
    setUrl("");
    setToken("");
  };
  return (
    <Panel id="notifications" title="Notifications">
      <p class="quiet">Your rules also speak here, and what waits for you is shown, when no page is open.</p>
      <Problem text={problem ?? failed} />
      {value?.outlets.map(({ id, name, made_at, words, problem: fault }) => (
        <div key={id} class="row">
          <span>
            <strong>{name}</strong>
            <small>
              {" "}
              since {ago(made_at, Date.now())}
              {fault !== null && `; not delivered: ${fault}`}
            </small>
          </span>
          <label>
            Words on the lock screen{" "}
            <select
              aria-label={`Words on the lock screen, ${name}`}
              value={words}
              disabled={busy}
              onChange={({ currentTarget }) =>
                attempt(() =>
                  client.json("PATCH /v1/push/{outlet}", {
                    path: { outlet: id },
                    body: { words: currentTarget.value === "kind" ? "kind" : "all" },
                  }),
                )
              }
            >
              <option value="all">all</option>
              <option value="kind">kind only</option>
            </select>
          </label>
          <Small
            kind="bad"
            aria-label={`Remove ${name}`}
            onClick={() => attempt(() => client.json("DELETE /v1/push/{outlet}", { path: { outlet: id } }))}
          >
            Remove
          </Small>
        </div>
      ))}
      {value && (
        <Small kind="good" disabled={busy} onClick={() => attempt(() => subscribe(value.public_key))}>
          Turn on in this browser
        </Small>
      )}
      <Form class="row" onSend={() => attempt(addTopic)}>
        <Field
          label="Topic of ntfy"
          type="url"
          required
          placeholder="https://ntfy.sh/my-topic"
          value={url}
          onValue={setUrl}
        />
        <Field
          label="Access token, if it wants one"
          type="password"
          autocomplete="off"
          value={token}
          onValue={setToken}
        />
        <button type="submit" class="small" disabled={busy}>
          Add
        </button>
      </Form>
    </Panel>
  );
}

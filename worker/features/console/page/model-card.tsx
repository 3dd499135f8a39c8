/** Setup's card "Model": what the home has, what runs on its machine, another one by address and key, and a trial. */
import type { AnswerOf, EventOf, RequestOf } from "@edgecall/client/client.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { Field, Form, Panel, Select, Small } from "./controls.tsx";
import { Problem, Skeleton, useLoaded } from "./load.tsx";
import { Sure } from "./sure.tsx";

type View = AnswerOf<"GET /v1/model">;
type Body = NonNullable<RequestOf<"PUT /v1/model">["body"]>;
type Trial = EventOf<"POST /v1/model/try">;
type Api = "" | "openai" | "anthropic";

export function ModelCard() {
  const { value, problem, reload } = useLoaded("GET /v1/model");
  if (!value) return problem ? <Problem text={problem} /> : <Skeleton lines={4} />;
  return (
    <Panel id="model" title="Model">
      <Problem text={problem ?? value.problem} />
      <p class="quiet">{nowText(value)}</p>
      {value.set_by === "variables" ? (
        <TryOnly />
      ) : (
        <>
          <Found view={value} onChange={reload} />
          <ModelForm key={`${value.set_by} ${value.at}`} view={value} onChange={reload} />
        </>
      )}
    </Panel>
  );
}

function nowText({ set_by, base_url, model, by }: View): string {
  const name = visible(model ?? "");
  if (set_by === "variables")
    return `${name === "" ? "The models" : name} of the gateway's settings (LLM_BASE_URL, LLM_MODEL or LLM_MODELS); they are changed there.`;
  if (set_by === "cloudflare") return `${name}, Cloudflare's own. Another one may be set here.`;
  if (set_by === "setup") return `${name} at ${visible(base_url ?? "")}, set by ${visible(by ?? "")}.`;
  return "None yet. Plain sentences are understood without one; anything else needs a model.";
}

/** Model servers on the gateway's machine: one press takes a model. */
function Found({ view, onChange }: { view: View; onChange: () => void }) {
  const { failed, busy, attempt } = useAttempt();
  const offers = view.found.flatMap(({ server, base_url, models }) =>
    models.slice(0, 5).map((model) => ({ server, base_url, model })),
  );
  const others = offers.filter(({ base_url, model }) => base_url !== view.base_url || model !== view.model);
  if (others.length === 0) return null;
  return (
    <div class="made">
      <p>Runs on this machine:</p>
      {others.map(({ server, base_url, model }) => (
        <div class="row">
          <span>
            {server}: {visible(model)}
          </span>
          <Small
            kind="good"
            disabled={busy}
            aria-label={`Use ${visible(model)} of ${server}`}
            onClick={() =>
              attempt(async () => {
                await client.json("PUT /v1/model", { body: { base_url, model } });
                onChange();
              })
            }
          >
            Use it
          </Small>
        </div>
      ))}
      <Problem text={failed} />
    </div>
  );
}

function ModelForm({ view, onChange }: { view: View; onChange: () => void }) {
  const isSet = view.set_by === "setup";
  const [address, setAddress] = useState(view.base_url ?? "");
  const [key, setKey] = useState("");
  const [name, setName] = useState((isSet && view.model) || "");
  const [api, setApi] = useState<Api>((view.api as Api | null) ?? "");
  const { failed, busy, attempt } = useAttempt();
  const body: Body = {
    base_url: address,
    model: name,
    ...(key !== "" && { api_key: key }),
    ...(api !== "" && { api }),
  };
  const keepsKey = isSet && view.has_key && address.trim() === view.base_url;
  const save = () =>
    attempt(async () => {
      await client.json("PUT /v1/model", { body });
      onChange();
    });
  return (
    <Form class="connect" aria-label="A model by its address" onSend={save}>
      <div class="fields">
        <Field
          label="Address"
          type="url"
          required
          maxLength={500}
          placeholder={view.reach === "home" ? "http://192.168.1.20:11434/v1" : "https://api.openai.com/v1"}
          value={address}
          onValue={setAddress}
        />
        <Field
          label={keepsKey ? "Key (empty: the stored one)" : "Key (if it wants one)"}
          type="password"
          autocomplete="off"
          maxLength={1000}
          value={key}
          onValue={setKey}
        />
        <Field label="Model" required maxLength={200} value={name} onValue={setName} />
        <Select<Api> label="Form" value={api} onChoose={setApi}>
          <option value="">by the address</option>
          <option value="openai">OpenAI</option>
          <option value="anthropic">Anthropic</option>
        </Select>
      </div>
      <p class="quiet">
        What is said in the home goes to this address. The key is stored encrypted and never shown again.
      </p>
      <div class="row">
        <button type="submit" class="small good" disabled={busy}>
          Save
        </button>
        {isSet && (
          <Sure
            label="Remove"
            about="the model"
            onSure={() =>
              attempt(async () => {
                await client.json("DELETE /v1/model");
                onChange();
              })
            }
          />
        )}
      </div>
      <Problem text={failed} />
      <Try body={address !== "" && name !== "" ? body : undefined} />
    </Form>
  );
}

/** The settings' own model. */
function TryOnly() {
  return <Try body={{}} />;
}

/** @param props.body undefined: nothing to try yet */
function Try({ body }: { body: Body | Record<string, never> | undefined }) {
  const [events, setEvents] = useState<Trial[]>([]);
  const [isRunning, setRunning] = useState(false);
  const running = useRef<AbortController>(undefined);
  const { failed, attempt } = useAttempt(() => setRunning(false));
  useEffect(() => () => running.current?.abort(), []);
  const start = () => {
    const control = new AbortController();
    running.current = control;
    setEvents([]);
    setRunning(true);
    void attempt(async () => {
      try {
        for await (const event of client.events("POST /v1/model/try", { body, signal: control.signal }))
          setEvents((before) => [...before, event]);
      } catch (error) {
        if (!control.signal.aborted) throw error;
      }
    });
  };
  const verdict = events.find(({ event }) => event === "verdict");
  return (
    <>
      <div class="row">
        <Small disabled={body === undefined || isRunning} onClick={start}>
          Try
        </Small>
        {isRunning && <Small onClick={() => running.current?.abort()}>Cancel</Small>}
        <span class="quiet">About seven small questions; nothing is asked of your devices.</span>
      </div>
      {events.length > 0 && (
        <dl class="facts wide-facts">
          {events.map((one) => (
            <Step step={one} />
          ))}
        </dl>
      )}
      <p role="status" class={verdict ? "made" : "quiet"}>
        {verdict?.event === "verdict"
          ? visible(verdict.data.text)
          : isRunning
            ? "Trying … a model at home may need a minute to load."
            : events.length > 0
              ? "Ended before its verdict."
              : ""}
      </p>
      <Problem text={failed} />
    </>
  );
}

function Step({ step }: { step: Trial }) {
  if (step.event === "verdict") return null;
  if (step.event === "window")
    return (
      <div>
        <dt>window</dt>
        <dd>{visible(step.data.text)}</dd>
      </div>
    );
  const { habit, seen, edgecall, bad } = step.data;
  return (
    <div>
      <dt>{habit}</dt>
      <dd>
        {bad ? "✗" : "✓"} {visible(seen)}; edgecall {edgecall}
      </dd>
    </div>
  );
}

/** Setup's card "Home Assistant": how the bridge is connected to it, and the sign-in there by this browser. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { useEffect, useState } from "preact/hooks";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { Field, Form, Panel } from "./controls.tsx";
import { leaveToSignIn, returnedSignIn } from "./home-assistant-sign-in.ts";
import { Problem, Skeleton, useLoaded } from "./load.tsx";
import { Sure } from "./sure.tsx";

type Connected = NonNullable<AnswerOf<"GET /v1/home-assistant">["connected"]>;

export function HomeAssistantCard() {
  const { value, problem, reload } = useLoaded("GET /v1/home-assistant");
  const { failed, busy, attempt } = useAttempt();
  useEffect(() => {
    const body = returnedSignIn();
    if (body)
      void attempt(async () => {
        await client.json("POST /v1/home-assistant/code", { body });
        await reload();
      });
  }, []);
  if (!value) return problem ? <Problem text={problem} /> : <Skeleton lines={3} />;
  const { connected } = value;
  return (
    <Panel id="home-assistant" title="Home Assistant">
      <Problem text={problem ?? failed} />
      {busy ? (
        <p role="status">The bridge signs in …</p>
      ) : connected ? (
        <Connection connected={connected} onChange={reload} />
      ) : (
        <Connect />
      )}
    </Panel>
  );
}

function Connection({ connected, onChange }: { connected: Connected; onChange: () => void }) {
  const { url, by, up, version, user, admin, shown, problem } = connected;
  const { failed, attempt } = useAttempt();
  return (
    <>
      <dl class="facts">
        <Fact name="At">{visible(url)}</Fact>
        <Fact name="Connected">{up ? `yes, ${visible(version ?? "")}` : "no"}</Fact>
        {user !== undefined && (
          <Fact name="As">{`${visible(user)}${admin ? ", an administrator; these rights are not needed" : ""}`}</Fact>
        )}
        <Fact name="Shown">{`${shown} devices, of what is exposed to Assist`}</Fact>
      </dl>
      <Problem text={problem === undefined ? undefined : visible(problem)} />
      {by === "settings" ? (
        <p class="quiet">It is set where the bridge runs (HA_URL), or the bridge is its app.</p>
      ) : (
        <Sure
          label="Disconnect"
          about="Home Assistant"
          note="Its devices are gone then."
          onSure={() =>
            attempt(async () => {
              await client.json("DELETE /v1/home-assistant");
              onChange();
            })
          }
        />
      )}
      <Problem text={failed} />
      {by === "sign_in" && !up && <Connect before={url} />}
    </>
  );
}

function Fact({ name, children }: { name: string; children: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** @param props.before the address of the one that was connected last */
function Connect({ before }: { before?: string }) {
  const [url, setUrl] = useState(before ?? "http://homeassistant.local:8123");
  const { failed, busy, attempt } = useAttempt();
  return (
    <Form
      class="connect"
      aria-label="Connect Home Assistant"
      onSend={() =>
        attempt(async () => {
          leaveToSignIn(await client.json("POST /v1/home-assistant", { body: { url } }));
        })
      }
    >
      <p>
        Its lamps, covers and other devices that are exposed to Assist. Sign in there as a user without
        administrator rights: these are not needed.
      </p>
      <Field label="Address" type="url" required maxLength={300} value={url} onValue={setUrl} />
      <p class="quiet">This browser and the bridge have to reach it there.</p>
      <button type="submit" class="small good" disabled={busy}>
        Sign in there
      </button>
      <Problem text={failed} />
    </Form>
  );
}

/** Signs in with a token, or through Cloudflare Access. */
import { ResponseError } from "@edgecall/client/client.ts";
import type { SessionView } from "@edgecall/client/routes.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { client, errorText } from "./api.ts";
import { Form } from "./controls.tsx";
import { Problem } from "./load.tsx";

/** The pause when the gateway asks for one without a time. */
const PAUSE_S = 10;

type Props = { access: boolean; onSession: (session: SessionView) => void };

export function SignIn({ access, onSession }: Props) {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<string>();
  /** Seconds until the next attempt. */
  const [pause, setPause] = useState(0);

  async function enter(body: { token?: string }) {
    try {
      onSession(await client.json("POST /v1/console/session", { body }));
    } catch (error) {
      const tooMany = error instanceof ResponseError && error.status === 429;
      setProblem(tooMany ? "Too many attempts from this address." : errorText(error));
      if (tooMany) setPause(error.retryAfter ?? PAUSE_S);
    }
  }
  useEffect(() => {
    if (access) void enter({});
  }, [access]);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    if (pause === 0) return;
    const timer = setTimeout(() => setPause(pause - 1), 1_000);
    return () => clearTimeout(timer);
  }, [pause]);

  return (
    <main class="sign-in">
      <Form
        onSend={() => {
          if (pause === 0) void enter({ token: token.trim() });
        }}
      >
        <img src="/icon.svg" alt="" width="44" height="44" />
        <h1>edgecall</h1>
        <p class="quiet">
          Ask your devices from anywhere. Sign in with an API token; <code>npm start</code> and{" "}
          <code>npm run tokens</code> print one.
        </p>
        <label for="token">Token</label>
        <input
          id="token"
          ref={field}
          type="password"
          required
          minLength={16}
          autocomplete="current-password"
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <Problem text={problem} />
        <button type="submit" class="main" disabled={pause > 0}>
          {pause > 0 ? `Try again in ${pause} s` : "Sign in"}
        </button>
      </Form>
    </main>
  );
}
